#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>

#include "cli/commands.h"
#include "cli/report_flags.h"
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
};

/// The reports that a subcommand makes of one or of several. None takes the place of one that is read.
Reports<SuiteResult> reports_of(const ReportCommandFlags& flags, const std::string& subject) {
  Reports<SuiteResult> reports(flags.report, subject, true);
  std::vector<NamedPath> read;
  for (const std::string& file : flags.files) read.push_back({"a report that is read", file});
  require_unread(reports.files(), read);
  return reports;
}

int render(const ReportCommandFlags& flags) {
  Reports<SuiteResult> reports = reports_of(flags, "report " + flags.report.command);
  const SuiteResult result = report::read_suite(flags.files.front());
  reports.open();
  if (report::wants_colour(stdout)) reports.decorate_text(report::coloured);
  reports.write(result);
  return 0;
}

void add_render(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<ReportCommandFlags>();
  flags->files.resize(1);
  command.add_option("REPORT", flags->files.front(), "What grurun conformance --json wrote")->required();
  add_report_flags(command, flags->report, either_of(report::format_names<SuiteResult>()));
  command.footer("Exit codes: 0 read and written, whatever the verdicts are, 2 usage, 70 internal error.");
  command.callback([&action, flags] { action = [flags] { return render(*flags); }; });
}

// What is streamed from files to a file is never in memory as a whole.
bool is_lines_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  return std::getline(in, line) && report::is_json_lines(line);
}

int merge_lines(const ReportCommandFlags& flags, Reports<SuiteResult>& reports) {
  reports.open();
  const auto write = [&](const std::string& line) { reports.stream("jsonl", line); };
  const report::MergedLines merged = report::merge_json_lines(flags.files, write);
  reports.stream("text", merged.summary);
  reports.write({});
  return merged.as_expected ? 0 : 1;
}

int merge(const ReportCommandFlags& flags) {
  Reports<SuiteResult> reports = reports_of(flags, "report merge");
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

Exit codes: 0 all as expected, 1 not, 2 usage, or a part is absent, is there twice or is of another suite, 70 internal
error.)");
  command.callback([&action, flags] { action = [flags] { return merge(*flags); }; });
}

constexpr Command report_commands[] = {
    {"merge", "Make one report of those of all shards of a suite", add_merge},
    {"show", "Print a report for people, or write it in other formats", add_render},
};

}  // namespace

void add_report(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  for (const Command& each : report_commands)
    each.add(*command.add_subcommand(each.name, each.description), action);
}

}  // namespace grurun::cli
