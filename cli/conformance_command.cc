#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/gate_flags.h"
#include "cli/limit_flags.h"
#include "cli/node_cases_flag.h"
#include "cli/part_flags.h"
#include "cli/reference_choice.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/tolerance_flags.h"
#include "conformance/discover.h"
#include "conformance/official/official_cases.h"
#include "conformance/privileges.h"
#include "conformance/process_limits.h"
#include "conformance/select.h"
#include "conformance/suite.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "onnx_io/bytes.h"
#include "opset/findings/form_watch.h"
#include "report/suite/json_lines.h"
#include "report/suite/progress.h"
#include "report/suite/read_suite.h"
#include "report/suite/suite_format.h"
#include "tensor/error.h"
#include "tensor/memory/container_limits.h"
#include "tensor/printable.h"

namespace grurun::cli {

namespace {

using namespace grurun::conformance;

struct Flags {
  std::vector<std::string> paths;
  int jobs = 0;
  std::string max_time = "60";
  PartFlags part;
  bool fail_fast = false;
  ToleranceFlags tolerance;
  ReportFlags report;
  std::string expectations;
  std::size_t min_cases = 1;
  bool list = false;
  std::uint64_t seed = 0;
  bool no_diagnosis = false;
  bool precise = false;
  bool no_fusion = false;
  bool strict = false;
  bool cast = false;
  std::string isa;
  std::string max_memory;
  ModelLimitFlags model;
  std::string actual;
  std::string actual_name;
  std::string runtime;
  std::string reference;
  GateFlags gate;
  std::string node_cases;
  std::string max_run_time = "0";
  std::string sandbox = "auto";
};

using SuiteReports = Reports<SuiteResult>;

/// No report may take the place of a model.
void require_unread_models(const SuiteReports& reports, const std::vector<Case>& cases) {
  namespace fs = std::filesystem;
  for (const NamedPath& report : reports.files()) {
    std::error_code ignored;
    if (!fs::exists(report.path, ignored)) continue;
    const fs::path name = fs::path(report.path).filename();
    for (const Case& test : cases) {
      // Of thousands of cases few have the report's name.
      if (fs::path(test.model).filename() == name) require_unread({report}, {{"a case", test.model}});
    }
  }
}

/// Flags that say how the engine runs have nothing to act on where another runtime is judged.
void check_sides(const Flags& flags) {
  const bool is_other = !flags.actual.empty() || !flags.runtime.empty();
  if (!flags.actual.empty() && !flags.runtime.empty())
    fail_usage("--actual and --runtime both say whose outputs are judged; give one of them");
  if (!is_other && !flags.actual_name.empty())
    fail_usage(
        "--actual-name names who left the outputs that --actual or --runtime have judged; there are none");
  if (!is_other && !flags.reference.empty())
    fail_usage("--reference says with what --actual or --runtime are compared; there are none");
  if (!flags.reference.empty() && flags.reference != "engine" && flags.reference != "data")
    fail_usage("--reference takes engine or data, not {}", flags.reference);
  std::error_code ignored;
  if (!flags.actual.empty() && !std::filesystem::is_directory(flags.actual, ignored))
    fail_usage("--actual {}: there is no such folder", flags.actual);
}

std::optional<OtherRuntime> other_runtime(const Flags& flags) {
  if (flags.actual.empty() && flags.runtime.empty()) return std::nullopt;
  OtherRuntime other;
  other.folder = flags.actual;
  if (!flags.runtime.empty()) other.command = parse_command("--runtime", flags.runtime);
  if (!flags.max_memory.empty()) other.max_memory = parse_bytes("--max-memory", flags.max_memory);
  other.engine_expects = flags.reference == "engine";
  return other;
}

Sides sides_of(const Flags& flags) {
  Sides sides;
  const std::string& from = flags.actual.empty() ? flags.runtime : flags.actual;
  if (!from.empty())
    sides.actual = flags.actual_name.empty() ? from : fmt::format("{} ({})", flags.actual_name, from);
  if (flags.reference == "engine") sides.expected = "grurun";
  return sides;
}

/// Outputs of one folder cannot belong to two cases.
void require_own_outputs(const std::string& folder, const std::vector<Case>& cases) {
  if (folder.empty()) return;
  std::map<std::string, const Case*> owners;
  for (const Case& test : cases) {
    const std::string found = folder_of_outputs(folder, test);
    if (found.empty()) continue;
    const auto [owner, is_first] = owners.emplace(found, &test);
    if (!is_first)
      fail_usage("--actual: {} holds the outputs of {} or of {}; name fewer cases, or have a folder for each",
                 found, owner->second->path, test.path);
  }
}

void check(const Flags& flags, const SuiteReports& reports) {
  check_sides(flags);
  if (flags.jobs < 0) fail_usage("-j takes a number of processes, or 0 for one on each CPU");
  parse_time_limit("--max-time", flags.max_time);
  parse_time_limit("--max-run-time", flags.max_run_time);
  sandbox_mode(flags.sandbox);
  if (!flags.max_memory.empty()) parse_bytes("--max-memory", flags.max_memory);
  checked(flags.tolerance);
  check(flags.gate, flags.expectations, flags.fail_fast);
  const std::vector<NamedPath> files = reports.files();
  if (flags.list) require_stdout("--list");
  if (flags.list && (!files.empty() || !reports.prints("text")))
    fail_usage("--list runs no case, so that there is nothing to report");
  require_unread(files, {{"--expectations", flags.expectations},
                         {"--times", flags.part.times},
                         {"--resume", flags.part.resume},
                         {"--update-expectations", flags.gate.update_expectations},
                         {"--policy", flags.gate.policy},
                         {"--compare-to", flags.gate.compare_to}});
  if (reports.has("jsonl") && !flags.gate.update_expectations.empty())
    fail_usage("--update-expectations judges when a run is over, and jsonl is written before; give json");
  if (flags.min_cases == 0)
    fail_usage("--min-cases takes a number from 1: a run without a case tells nothing");
}

/// Cases run side by side: together they are to leave the machine alive. A share below the least would refuse
/// the larger of the official cases.
std::size_t memory_of_each(const Flags& flags, std::size_t workers) {
  constexpr std::size_t least = std::size_t{4} << 30;
  if (!flags.max_memory.empty()) return parse_bytes("--max-memory", flags.max_memory);
  return std::min(usable_memory(), std::max(usable_memory() / workers, least));
}

SuiteOptions suite_options(const Flags& flags, std::size_t cases) {
  SuiteOptions options;
  options.each.tolerance = checked(flags.tolerance);
  apply(flags.gate, options);
  options.each.seed = flags.seed;
  options.each.diagnose = !flags.no_diagnosis;
  options.each.precise = flags.precise;
  options.each.fuse = !flags.no_fusion;
  options.each.cast = flags.cast;
  if (const auto limit = parse_time_limit("--max-time", flags.max_time))
    options.each.max_time = std::chrono::ceil<std::chrono::nanoseconds>(*limit);
  const auto workers = static_cast<std::size_t>(flags.jobs > 0 ? flags.jobs : kernels::usable_cpus());
  options.workers = static_cast<int>(std::min(workers, cases));
  options.max_memory = memory_of_each(flags, static_cast<std::size_t>(options.workers));
  if (const auto limit = parse_time_limit("--max-run-time", flags.max_run_time))
    options.max_run_time = std::chrono::ceil<std::chrono::nanoseconds>(*limit);
  options.sandbox = sandbox_mode(flags.sandbox);
  options.folders = flags.paths;
  for (std::string& path : options.folders)
    if (std::filesystem::is_regular_file(path)) path = onnx_io::folder_of(path);
  options.threads = kernels::usable_cpus();
  options.fail_fast = flags.fail_fast;
  options.each.other = other_runtime(flags);
  return options;
}

[[noreturn]] void fail_without_case(const Discovery& found) {
  std::string line =
      "no case found: a case is a folder with model.onnx or model.xml and test_data_set_* folders";
  const auto more = [](std::size_t paths) {
    return paths > 1 ? fmt::format(" and {} more", paths - 1) : std::string();
  };
  for (const auto& [reason, paths] : found.no_cases)
    line += fmt::format("; {}: {}", reason, paths.front()) + more(paths.size());
  if (!found.unseen.empty())
    line +=
        fmt::format("; {}: {}", found.unseen[0].path, found.unseen[0].problem) + more(found.unseen.size());
  fail_usage("{}", line);
}

/// Every case below the paths, and what could not be seen.
struct Known {
  std::size_t count = 0;
  std::vector<Case> cases;  // only where something asks for them after the run
};

Known known_cases(const Flags& flags, Discovery& found, SuiteResult& result) {
  const std::size_t seen = found.cases.size();
  found.cases.insert(found.cases.end(), found.unseen.begin(), found.unseen.end());
  result.stale = result.expectations.without_case(found.cases);
  Known known{found.cases.size(), {}};
  if (!flags.gate.policy.empty() || !flags.gate.update_expectations.empty()) known.cases = found.cases;
  found.cases.resize(seen);
  return known;
}

/// Whatever looks into models does it in workers in the sandbox.
void select_cases(const Flags& flags, const SuiteOptions& options, const std::vector<std::string>& links,
                  std::vector<Case>& cases) {
  SandboxPaths paths{options.folders};
  paths.links = links;
  const Sandbox sandbox(options.sandbox, SandboxRole::worker, paths);
  PoolOptions pool{options.workers, options.each.max_time};
  pool.on_start = [&](int answers) {
    limit_memory(options.max_memory);
    if (options.sandbox == SandboxMode::off) return;
    limit_files();
    sandbox.enter();
    keep_only(answers);
  };
  select(cases, flags.part.selection, pool);
}

/// Cases under the paths that the filter lets through, and what could not be seen, which may hide others that
/// it would let through; stale expectations are judged by all.
SuiteResult prepare(const Flags& flags, const SuiteReports& reports, Known& known) {
  SuiteResult result;
  const std::string& updated = flags.gate.update_expectations;
  std::error_code ignored;
  if (!updated.empty() && std::filesystem::exists(updated, ignored))
    result.expectations = Expectations::load(updated);
  else if (!flags.expectations.empty())
    result.expectations = Expectations::load(flags.expectations);
  const auto began = std::chrono::steady_clock::now();
  const auto most = parse_time_limit("--max-run-time", flags.max_run_time);
  Discovery found =
      discover(flags.paths, most ? std::optional(began + std::chrono::ceil<std::chrono::nanoseconds>(*most))
                                 : std::nullopt);
  const auto looked = std::chrono::steady_clock::now() - began;
  const std::size_t all = found.cases.size();
  if (all == 0) fail_without_case(found);
  if (!found.without_case.empty())
    fail_usage("{}: no case is below it; give folders of cases, or cases", found.without_case.front());
  require_unread_models(reports, found.cases);
  result.no_cases = std::move(found.no_cases);
  if (!flags.node_cases.empty()) result.no_cases.erase(node_cases_as_code);
  known = known_cases(flags, found, result);
  result.cases = std::move(found.cases);
  const SuiteOptions options = suite_options(flags, all);
  select_cases(flags, options, found.links, result.cases);
  if (result.cases.empty())
    fail_usage("no case found: {} leaves none of {}", flags.part.selection.flags(), all);
  if (result.cases.size() < flags.min_cases)
    fail_usage("{} cases found, but --min-cases wants {}", result.cases.size(), flags.min_cases);
  std::ranges::move(found.unseen, std::back_inserter(result.cases));
  require_own_outputs(flags.actual, result.cases);
  result.sides = sides_of(flags);
  const Policy* policy = options.each.policy.get();
  take_part(flags.part, policy == nullptr ? "" : policy->text(), result);
  result.options = suite_options(flags, std::max<std::size_t>(result.cases.size(), 1));
  result.options.links = std::move(found.links);
  if (result.options.max_run_time)
    *result.options.max_run_time = std::max(*result.options.max_run_time - looked, looked.zero());
  return result;
}

int run(const Flags& flags, SuiteReports& reports) {
  Known known;
  SuiteResult result = prepare(flags, reports, known);
  if (flags.list) {
    for (const Case& test : result.cases)
      print("{}\t{}\n", printable(test.full_name()), printable(test.path));
    return 0;
  }
  std::optional<report::SuiteDiff> diff;
  if (!flags.gate.compare_to.empty()) {
    result.former = std::make_shared<const SuiteResult>(report::read_suite(flags.gate.compare_to));
    result.former_file = flags.gate.compare_to;
  }
  reports.open();
  if (report::wants_colour(stdout)) reports.decorate_text(report::coloured);
  result.options.keep_outputs = !reports.has_only({"text", "jsonl"});
  report::ProgressBar bar(stderr);
  const bool streams = reports.has("jsonl");
  if (streams) reports.stream("jsonl", report::json_lines_head(result));
  for (std::size_t i = 0; streams && i < result.outcomes.size(); ++i)
    if (result.outcomes[i].ran) reports.stream("jsonl", report::json_lines_case(result, i));
  run_suite(result, [&](const SuiteResult& so_far, std::size_t done, std::size_t ended) {
    if (streams) reports.stream("jsonl", report::json_lines_case(so_far, ended));
    bar.draw(so_far, done, ended);
  });
  bar.clear();
  const std::size_t selected = result.part ? result.part->found : result.cases.size();
  note_unused_rules(result, known.cases, selected != known.count);
  update_list(flags.gate, result, known.cases);
  if (streams) reports.stream("jsonl", report::json_lines_end(result));
  if (result.former) {
    diff = report::diff_suites(*result.former, result);
    diff->before = result.former_file;
    diff->after = "this run";
  }
  // A program that reads standard output finds one report there; people are told beside it.
  reports.write(result, [&] {
    if (!reports.prints("text")) tell_text(report::console_report(result));
    if (!diff) return;
    const std::string text = "\n" + report::suite_diff_text(*diff);
    reports.prints("text") ? print_text(text) : tell_text(text);
  });
  const bool has_changed = diff && fails(parse_fail_on(flags.gate.fail_on), *diff);
  return result.as_expected() && !has_changed ? 0 : 1;
}

/// Verdicts are of cases: what ends the command is usage, or a fault of ours.
template <typename Body>
auto guarded(const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage || error.kind() == ErrorKind::internal) throw;
    throw Error(ErrorKind::internal, error.what());
  }
}

SandboxFiles sandbox_files(const Flags& flags, const SuiteReports& reports) {
  SandboxFiles files{{}, flags.paths, paths_of(reports.files())};
  for (const std::string& path : {flags.actual, flags.expectations, flags.part.times, flags.part.resume,
                                  flags.gate.policy, flags.gate.compare_to, flags.gate.update_expectations})
    if (!path.empty()) files.values.push_back(path);
  if (!flags.gate.update_expectations.empty()) files.written.push_back(flags.gate.update_expectations);
  return files;
}

Work prepare(const Flags& given) {
  const auto chosen = std::make_shared<Flags>(given);  // paths are added to
  Flags& flags = *chosen;
  const auto reports = std::make_shared<SuiteReports>(flags.report, "conformance", false);
  check(flags, *reports);
  cli::apply(flags.model, flags.max_time);
  opset::refuse_forms(flags.strict);
  if (!flags.isa.empty()) kernels::use_simd_target(flags.isa);
  add_node_cases(flags.node_cases, flags.paths);
  SandboxChoice sandbox{flags.sandbox, sandbox_files(flags, *reports), true};
  if (!flags.runtime.empty()) leave_sandbox(sandbox, "--runtime");
  return {sandbox, [=] { return guarded([&] { return run(*chosen, *reports); }); }};
}

}  // namespace

void add_conformance(CLI::App& command, Action& action) {
  auto flags = std::make_shared<Flags>();
  command.add_option("PATH", flags->paths, "Folders that hold cases at any depth, or single cases")
      ->required();
  add_node_cases_flag(command, flags->node_cases);
  command.add_option("-j,--jobs", flags->jobs, "Worker processes; 0: one on each CPU")->capture_default_str();
  command.add_option("--max-time", flags->max_time, "Seconds a case may take, less than 1e9; 0: no limit")
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--max-memory", flags->max_memory,
                  "Bytes that a case's tensors may take, 512M, 4G (its worker's share of the machine's "
                  "memory, 4G at least)")
      ->type_name("SIZE");
  add_part_flags(command, flags->part);
  command
      .add_option("--max-run-time", flags->max_run_time, "Seconds all cases together may take; 0: no limit")
      ->type_name("SECONDS")
      ->capture_default_str();
  add_model_limit_flags(command, flags->model, true);
  add_sandbox_flag(command, flags->sandbox);
  command.add_flag("--fail-fast", flags->fail_fast, "Stop at the first unexpected verdict");
  add_tolerance_flags(command, flags->tolerance);
  add_cast_flag(command, flags->cast);
  add_report_flags(command, flags->report, either_of(report::format_names<SuiteResult>()));
  add_short_form(command, flags->report, "json",
                 "Write a report for programs to this file; -: to standard output");
  add_short_form(command, flags->report, "suggest-policy",
                 "Write the tightest policy that this run passes, with a factor of two to spare");
  add_short_form(command, flags->report, "junit",
                 "Write a report for CI systems to this file; -: to standard output");
  command.add_option(
      "--expectations", flags->expectations,
      "Exceptions, a line each: PATTERN VERDICT REASON; every other case must pass; PATTERN is for a "
      "case's name, kind/name or, with two slashes or more, path");
  const auto whole = [&command](const char* name, auto& number, const char* text) {
    command
        .add_option_function<std::string>(
            name, [name, &number](const std::string& value) { number = parse_whole(name, value); }, text)
        ->type_name("N")
        ->default_str(fmt::format("{}", number));
  };
  whole("--min-cases", flags->min_cases, "Fail (exit 2) when fewer cases are found");
  command.add_flag("--list", flags->list, "Print the cases found and run none");
  add_gate_flags(command, flags->gate);
  const char* others = "Judging another runtime";
  command
      .add_option("--actual", flags->actual,
                  "Judge the outputs that another runtime left below this folder, as "
                  "KIND/CASE/test_data_set_K/output_N.pb (.npy; .npz by name), not those of the engine")
      ->type_name("DIR")
      ->group(others);
  command
      .add_option("--runtime", flags->runtime,
                  "Judge the outputs that a command leaves, run for each data set: \"CMD {model} {inputs} "
                  "{outputs}\"")
      ->type_name("COMMAND")
      ->group(others);
  command.add_option("--actual-name", flags->actual_name, "What reports call that runtime")
      ->type_name("NAME")
      ->group(others);
  command
      .add_option("--reference", flags->reference,
                  "What is expected: data, the files of the cases, or engine, what grurun computes (data)")
      ->type_name("WHAT")
      ->group(others);
  command.add_flag("--precise", flags->precise,
                   "Compute what differs once more in double, and say which side is nearer to the truth");
  command.add_flag("--no-diagnosis", flags->no_diagnosis,
                   "Do not look for the reasons why recurrent nodes differ");
  command.add_option("--isa", flags->isa,
                     "Instruction set of the kernels, one of those that grurun -v lists");
  add_fusion_flag(command, flags->no_fusion, "Options");
  add_strict_flag(command, flags->strict, "Options");
  whole("--seed", flags->seed, "Seed of random operators");
  command.footer(
      "Exit codes: 0 all as expected, 1 a verdict is not as expected or an expectation is stale,\n"
      "2 usage, no case, or a report that could not be written, 70 internal error.");
  command.callback(
      [flags, &action] { action = [flags] { return guarded([&] { return prepare(*flags); }); }; });
}

}  // namespace grurun::cli
