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
#include "cli/version.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"

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
/// else. Runs action and writes out stdout. Error: its line, exit code of its kind. std::bad_alloc: a
/// limit, 5. A file-system error: usage, 2. Anything else: internal, 70. An action that finished has its own
/// exit code although the reader of stdout went away (grurun ... | head); after any other failure to write
/// stdout it is usage, 2.
int run_guarded(const Action& action) {
  try {
    const int code = action();
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
  grurun CMD --help                                   flags of a subcommand
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
    {"report", "Show, compare and judge again what conformance reported", add_report},
    {"bench", "Measure how long a run of a model takes", add_bench},
    {"check", "Check models against the rules of the opsets they import", add_check},
    {"schema", "Print an operator as one version of the standard defines it", add_schema},
    {"inspect", "Tell what a model consists of: inputs, operators, recurrent layers, parameters, FLOPs",
     add_inspect},
    {"ops", "Which operators, versions and types run", add_ops},
};

// The command that the first argument names, else the one without a name, and no other: its arguments, files
// perhaps, may be called like commands. Help tells of all of them.
void add_commands(CLI::App& app, Action& action, std::span<char*> arguments) {
  const bool help = asks_for_help(arguments);
  const auto is_named = [&](const Command& command) {
    return arguments.size() > 1 && std::string_view(arguments[1]) == command.name;
  };
  if (help || std::ranges::none_of(commands, is_named)) add_run(app, action);
  for (const Command& command : commands)
    if (help || is_named(command))
      command.add(*app.add_subcommand(command.name, command.description), action);
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
void refuse_missing_values(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--") && argument.ends_with('=') && argument.find('=') == argument.size() - 1)
      fail_usage("{}: the value is empty", argument);
  }
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
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  remove_old_reports(arguments);
  CLI::App app("Runs ONNX models on a CPU engine whose answers can be trusted, and tests them.", "grurun");
  Action action;
  app.set_help_flag("-h,--help", "This help");
  const bool details =
      std::ranges::any_of(arguments, [](std::string_view argument) { return argument == "-v"; });
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
  refuse_missing_values(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      require_stdout(error.get_name() == "CallForVersion" ? "--version" : "--help");
      std::ostringstream text;
      const int code = app.exit(error, text, text);
      print_text(text.str());
      return code;
    }
    const auto chosen = app.get_subcommands();
    // CLI11 lists what it did not expect from the last one to the first.
    const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    fail_usage(
        "{}; see grurun {}--help",
        unexpected ? fmt::format("not expected here: {}", fmt::join(app.remaining(true), " ")) : error.what(),
        chosen.empty() ? "" : chosen.front()->get_name() + " ");
  }
  return action();
}

}  // namespace

int run_program(int argc, char** argv) {
  prepare_streams();
  return run_guarded([&] { return run_main(argc, argv); });
}

}  // namespace grurun::cli
