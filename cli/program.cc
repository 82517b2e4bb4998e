#include "cli/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <sstream>

#include "cli/commands.h"
#include "cli/report_file.h"
#include "cli/streams.h"
#include "cli/terminate_guard.h"
#include "cli/version.h"
#include "onnx_io/kept_outputs.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/near_match.h"

namespace grurun::cli {
namespace {

int report(const Error& error) {
  tell("grurun: {}\n", error.what());
  return exit_code(error.kind());
}

int report(ErrorKind kind, const std::string& message) {
  return report(Error(kind, message));
}

/// The border of the process: every exception becomes one line on stderr and an exit code, here and nowhere
/// else. Runs work and writes out stdout. Error: its line, exit code of its kind. std::bad_alloc: a
/// limit, 5. A file-system error: usage, 2. Anything else: internal, 70. Work that finished has its own
/// exit code although the reader of stdout went away (grurun ... | head); after any other failure to write
/// stdout it is usage, 2.
int run_guarded(const std::function<int()>& work) {
  try {
    const int code = work();
    finish_stdout();
    return code;
  } catch (const Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::limit, memory::out_of_memory_text());
  } catch (const std::filesystem::filesystem_error& error) {
    return report(ErrorKind::usage, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return report(ErrorKind::internal, error.what());
  } catch (...) {
    return report(ErrorKind::internal, "an exception of unknown type");
  }
}

constexpr const char* footer = R"(
Examples:
  grurun model.onnx                                   random inputs, outputs printed
  grurun model.onnx --set batch=4 --seed 7
  grurun model.onnx --inputs X=x.npy h=h.npy --save-outputs out.npz
  grurun case/model.onnx --inputs case/test_data_set_0 --expected case/test_data_set_0
  grurun bench model.onnx --threads 1                 how long a run takes
  grurun help CMD                                     flags of a subcommand
A model file named like a subcommand is run as ./check.

Exit codes: 0 as expected, 1 something differs, 2 usage, 3 invalid model or data, 4 unsupported, 5 a limit was hit,
70 internal error; conformance uses 0, 1, 2 and 70 only. Every failure is one line on stderr.)";

// "..." only behind flags that take several values at once; those that are repeated take one each time.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::size_t at =
        option->get_allow_extra_args() || option->get_positional() ? text.npos : text.find(" ...");
    return at == text.npos ? text : text.erase(at, 4);
  }
};

constexpr Command commands[] = {
    {"conformance", "Run test cases and compare them with their expected outputs", add_conformance},
    {"data", "Write ONNX's official test cases as files", add_data},
    {"report", "Show, compare and judge again what conformance reported", add_report},
    {"compare", "Compare values in files: tensors, .npz, data sets, folders", add_compare},
    {"bench", "Measure how long a run of a model takes", add_bench},
    {"bisect", "Find the first node that goes wrong", add_bisect},
    {"generate", "Make a case of a model, with random inputs", add_generate},
    {"node", "Make a case of one node", add_node},
    {"diff", "Tell in what two models differ, and whether they do the same", add_diff},
    {"reduce", "Make the smallest case that fails as a model does", add_reduce},
    {"check", "Check models against the rules of the opsets they import", add_check},
    {"schema", "Print an operator as one version of the standard defines it", add_schema},
    {"inspect", "Tell what a model consists of: inputs, operators, recurrent layers, parameters, FLOPs",
     add_inspect},
    {"ops", "Which operators, versions and types run", add_ops},
    {"completions", "Print the completions for a shell: bash, zsh or fish", add_completions, true},
    {"manual", "Print the man page", add_manual, true},
};

const Command* find_command(std::string_view name) {
  const auto* const found = std::ranges::find(commands, name, &Command::name);
  return found == std::end(commands) ? nullptr : found;
}

std::string near_commands(const std::string& name) {
  std::vector<std::string> names{"help"};
  for (const Command& command : commands) names.emplace_back(command.name);
  return did_you_mean(near_matches(name, names));
}

// `grurun help CMD` is `grurun CMD --help`. Throws Error(usage) for what is no command.
std::vector<std::string> without_help_command(std::span<char*> arguments) {
  std::vector<std::string> out(arguments.begin(), arguments.end());
  if (out.empty()) out.emplace_back("grurun");
  if (out.size() < 2 || out[1] != "help") return out;
  const auto is_flag = [](const std::string& argument) { return argument == "--help" || argument == "-h"; };
  out.erase(out.begin() + 1);
  std::erase_if(out, is_flag);
  if (out.size() > 2)
    fail_usage("help takes one command; got '{}'", fmt::join(out.begin() + 1, out.end(), " "));
  if (out.size() == 2 && find_command(out[1]) == nullptr)
    fail_usage("help: there is no command '{}'{}; see grurun --help", out[1], near_commands(out[1]));
  out.emplace_back("--help");
  return out;
}

// A name that is no file, but nearly a command's, before what follows it is taken for flags of a run.
void refuse_misspelt_command(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[1].starts_with('-') || find_command(arguments[1]) != nullptr) return;
  std::error_code ignored;
  const std::string near = near_commands(arguments[1]);
  if (!near.empty() && !std::filesystem::exists(arguments[1], ignored))
    fail_usage("there is no command and no file '{}'{}", arguments[1], near);
}

// What the parser did not expect, and flags that one of them nearly is.
std::string unexpected_text(CLI::App& app) {
  CLI::App* command = &app;
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) command = chosen.front();
  std::vector<std::string> flags;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  const std::vector<std::string> rest = app.remaining(true);
  std::string hint;
  for (const std::string& argument : rest)
    if (hint.empty() && argument.starts_with("--"))
      hint = did_you_mean(near_matches(argument.substr(0, argument.find('=')), flags));
  return fmt::format("not expected here: {}{}", fmt::join(rest, " "), hint);
}

// The command that the first argument names, else the one without a name, and no other: its arguments, files
// perhaps, may be called like commands. Help and the like tell of all of them.
void add_commands(CLI::App& app, Action& action, const std::vector<std::string>& arguments) {
  const Command* named = arguments.size() > 1 ? find_command(arguments[1]) : nullptr;
  const bool all = asks_for_help(arguments) || (named != nullptr && named->tells_of_all);
  if (all || named == nullptr) add_run(app, action);
  for (const Command& command : commands)
    if (all || &command == named) command.add(*app.add_subcommand(command.name, command.description), action);
}

// An empty value is a variable of the shell that is not set: nothing that anybody wishes. Only the domain of
// ONNX's own operators has no name.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty(
      [](const std::string& value) { return std::string(value.empty() ? "the value is empty" : ""); }, "");
  for (CLI::Option* option : app.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    if (takes_value && !option->check_lname("domain")) option->check(not_empty);
  }
  for (CLI::App* subcommand : app.get_subcommands([](CLI::App*) { return true; }))
    refuse_empty_values(*subcommand);
}

// Of --json= with nothing behind it the parser would take the next argument for the value.
void refuse_missing_values(const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (argument.starts_with("--") && argument.ends_with('=') && argument.find('=') == argument.size() - 1)
      fail_usage("{}: the value is empty", argument);
  }
}

// From the last one to the first, without the program's name. The parser would take "[2,3]" for a list of
// values: behind a colon it is the shape of the only input.
std::vector<std::string> for_parser(const std::vector<std::string>& arguments) {
  std::vector<std::string> out(arguments.rbegin(), arguments.rend() - 1);
  for (std::string& argument : out) {
    const bool is_shape = argument.starts_with('[') && argument.ends_with(']') &&
                          argument.find_first_not_of("0123456789,[]") == argument.npos;
    constexpr std::string_view flag = "--input-shapes=";
    if (is_shape) argument.insert(0, ":");
    if (argument.starts_with(std::string(flag) + "[")) argument.insert(flag.size(), ":");
  }
  return out;
}

// Tensors come and go with every node: memory that goes back to the system each time comes again page by
// page, zeroed.
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

int run_main(int argc, char** argv) {
  keep_freed_memory();
  const std::vector<std::string> arguments =
      without_help_command(std::span(argv, static_cast<std::size_t>(argc)));
  remove_old_reports(arguments);
  if (!asks_for_help(arguments)) refuse_misspelt_command(arguments);
  CLI::App app("Runs ONNX models on a CPU engine whose answers can be trusted, and tests them.", "grurun");
  Action action;
  app.set_help_flag("-h,--help", "This help");
  const bool details =
      std::ranges::any_of(arguments, [](const std::string& argument) { return argument == "-v"; });
  app.add_flag_callback(
      "--version", [=] { throw CLI::CallForVersion(details ? version_details() : version_line(), 0); },
      "The version; with -v what -v prints");
  app.add_flag_callback(
      "-v", [] { throw CLI::CallForVersion(version_details(), 0); },
      "Version with details: ONNX, opsets, instruction sets, threads");
  app.formatter(std::make_shared<HelpFormat>());
  app.get_formatter()->column_width(32);
  app.footer(footer);
  add_commands(app, action, arguments);
  refuse_empty_values(app);
  refuse_missing_values(arguments);
  try {
    app.parse(for_parser(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      require_stdout(error.get_name() == "CallForVersion" ? "--version" : "--help");
      std::ostringstream text;
      const int code = app.exit(error, text, text);
      print_text(text.str());
      return code;
    }
    const auto chosen = app.get_subcommands();
    const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    fail_usage("{}; see grurun {}--help", unexpected ? unexpected_text(app) : error.what(),
               chosen.empty() ? "" : chosen.front()->get_name() + " ");
  }
  const Work work = action();
  enter_sandbox(work.sandbox);
  return work.run();
}

}  // namespace

int run_program(int argc, char** argv) {
  prepare_streams();
  const TerminateGuard guard;
  const int code = run_guarded([&] { return run_main(argc, argv); });
  onnx_io::end_kept_outputs();
  return code;
}

}  // namespace grurun::cli
