#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/gate_flags.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/tolerance_flags.h"
#include "conformance/rejudge.h"
#include "onnx_io/text_file.h"
#include "report/read_json.h"
#include "report/suite/headroom_format.h"
#include "report/suite/json_lines.h"
#include "report/suite/merge.h"
#include "report/suite/progress.h"
#include "report/suite/read_suite.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

using conformance::SuiteResult;

struct ReportCommandFlags {
  std::vector<std::string> files;  // JSON reports
  ReportFlags report;
  FailOnFlags fail_on;
  ToleranceFlags tolerance;
  std::string policy;
  std::string expectations;
  std::string sandbox = "auto";
};

/// What a subcommand does with the reports that it makes of one or of several. None takes the place of one
/// that is read.
template <typename Subject>
Work work_of(const std::shared_ptr<const ReportCommandFlags>& flags,
             int (*run)(const ReportCommandFlags& flags, Reports<Subject>& reports)) {
  const auto reports =
      std::make_shared<Reports<Subject>>(flags->report, "report " + flags->report.command, true);
  std::vector<NamedPath> read = {{"--policy", flags->policy}, {"--expectations", flags->expectations}};
  for (const std::string& file : flags->files) read.push_back({"a report that is read", file});
  require_unread(reports->files(), read);
  SandboxFiles files{{}, flags->files, paths_of(reports->files())};
  for (const std::string& path : {flags->policy, flags->expectations})
    if (!path.empty()) files.values.push_back(path);
  return {{flags->sandbox, files}, [=] { return run(*flags, *reports); }};
}

int render(const ReportCommandFlags& flags, Reports<SuiteResult>& reports) {
  const SuiteResult result = report::read_suite(flags.files.front());
  reports.open();
  if (report::wants_colour(stdout)) reports.decorate_text(report::coloured);
  reports.write(result);
  return 0;
}

int diff(const ReportCommandFlags& flags, Reports<report::SuiteDiff>& reports) {
  const std::vector<report::ChangeKind> failing = parse_fail_on(flags.fail_on);
  report::SuiteDiff found =
      report::diff_suites(report::read_suite(flags.files[0]), report::read_suite(flags.files[1]));
  found.before = flags.files[0];
  found.after = flags.files[1];
  reports.open();
  reports.write(found);
  return fails(failing, found) ? 1 : 0;
}

int headroom(const ReportCommandFlags& flags, Reports<report::HeadroomView>& reports) {
  const report::HeadroomView view{report::read_suite(flags.files.front())};
  reports.open();
  reports.write(view);
  return 0;
}

int rejudge(const ReportCommandFlags& flags, Reports<SuiteResult>& reports) {
  SuiteResult result = report::read_suite(flags.files.front());
  conformance::Rejudging rejudging{checked(flags.tolerance)};
  if (!flags.policy.empty()) rejudging.policy = conformance::Policy::load(flags.policy);
  conformance::rejudge(result, rejudging);
  if (!flags.expectations.empty()) {
    result.expectations = conformance::Expectations::load(flags.expectations);
    judge_by_expectations(result, result.cases);
  }
  reports.open();
  reports.write(result);
  return result.as_expected() ? 0 : 1;
}

/// Flags and action of a subcommand of one report, or of two.
template <typename Subject>
std::shared_ptr<ReportCommandFlags> add_subcommand(CLI::App& command, Action& action, std::size_t files,
                                                   int (*run)(const ReportCommandFlags&, Reports<Subject>&)) {
  const auto flags = std::make_shared<ReportCommandFlags>();
  flags->files.resize(files);
  const char* wrote = "What grurun conformance --json wrote";
  if (files == 1) command.add_option("REPORT", flags->files[0], wrote)->required();
  if (files == 2) {
    command.add_option("OLD", flags->files[0], wrote)->required();
    command.add_option("NEW", flags->files[1], "The same of a later run")->required();
  }
  add_report_flags(command, flags->report, either_of(report::format_names<Subject>()));
  add_sandbox_flag(command, flags->sandbox);
  command.callback([&action, flags, run] { action = [flags, run] { return work_of(flags, run); }; });
  return flags;
}

void add_diff(CLI::App& command, Action& action) {
  const auto flags = add_subcommand(command, action, 2, diff);
  add_fail_on_flag(command, flags->fail_on);
  command.footer(
      "Exit codes: 0 nothing of --fail-on, 1 something of it, 2 usage, 5 a limit was hit, 70 internal "
      "error.");
}

void add_headroom(CLI::App& command, Action& action) {
  add_subcommand(command, action, 1, headroom);
  command.footer("Exit codes: 0 read and written, 2 usage, 5 a limit was hit, 70 internal error.");
}

void add_rejudge(CLI::App& command, Action& action) {
  const auto flags = add_subcommand(command, action, 1, rejudge);
  add_tolerance_flags(command, flags->tolerance);
  command.add_option("--policy", flags->policy, "Rules of how exact outputs must be, a TOML file")
      ->type_name("FILE");
  command.add_option("--expectations", flags->expectations, "Exceptions, in the place of those of the run")
      ->type_name("FILE");
  command.footer(
      "Exit codes: 0 all as expected, 1 a verdict is not, 2 usage, 5 a limit was hit, 70 internal error.");
}

void add_render(CLI::App& command, Action& action) {
  add_subcommand(command, action, 1, render);
  command.footer(
      "Exit codes: 0 read and written, whatever the verdicts are, 2 usage, 5 a limit was hit, 70 internal "
      "error.");
}

// What is streamed from files to a file is never in memory as a whole.
bool is_lines_file(const std::string& file) {
  std::string line;
  return onnx_io::TextLines(file, report::largest_report, "a report").next(line) &&
         report::is_json_lines(line);
}

int merge_lines(const ReportCommandFlags& flags, Reports<SuiteResult>& reports) {
  reports.open();
  const auto write = [&](const std::string& line) { reports.stream("jsonl", line); };
  const report::MergedLines merged = report::merge_json_lines(flags.files, write);
  reports.stream("text", merged.summary);
  const SuiteResult of_lines;  // the reports that were asked for are written already
  reports.write(of_lines);
  return merged.as_expected ? 0 : 1;
}

int merge(const ReportCommandFlags& flags, Reports<SuiteResult>& reports) {
  const bool lines_only = reports.has("jsonl") && reports.has_only({"jsonl", "text"});
  if (lines_only && std::ranges::all_of(flags.files, is_lines_file)) return merge_lines(flags, reports);
  std::vector<SuiteResult> parts;
  for (const std::string& file : flags.files) parts.push_back(report::read_suite(file));
  const SuiteResult result = report::merge_suites(flags.files, std::move(parts));
  reports.open();
  reports.write(result);
  return result.as_expected() ? 0 : 1;
}

void add_merge(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<ReportCommandFlags>();
  command.add_option("REPORT", flags->files, "What grurun conformance --shard K/N wrote, each part once")
      ->required();
  add_report_flags(command, flags->report, either_of(report::format_names<SuiteResult>()));
  command.footer(R"(
The report is that of one run, but for times. From JSON Lines to JSON Lines alone memory does not grow with the cases.

  grurun report merge part-*.json --report json=all.json --report junit=all.xml

Exit codes: 0 all as expected, 1 not, 2 usage, or a part is absent, is there twice or is of another suite, 5 a limit was hit, 70
internal error.)");
  add_sandbox_flag(command, flags->sandbox);
  command.callback([&action, flags] { action = [flags] { return work_of(flags, merge); }; });
}

constexpr Command report_commands[] = {
    {"merge", "Make one report of those of all shards of a suite", add_merge},
    {"show", "Print a report for people, or write it in other formats", add_render},
    {"render", "The same", add_render},
    {"diff", "What changed from one run to another", add_diff},
    {"headroom", "How much tolerance the outputs need, by element type and by output", add_headroom},
    {"rejudge", "Judge the outputs again by other tolerances", add_rejudge},
};

}  // namespace

void add_report(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  for (const Command& each : report_commands)
    each.add(*command.add_subcommand(each.name, each.description), action);
}

}  // namespace grurun::cli
