#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/report_flags.h"
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

constexpr Command report_commands[] = {
    {"show", "Print a report for people, or write it in other formats", add_render},
};

}  // namespace

void add_report(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  for (const Command& each : report_commands)
    each.add(*command.add_subcommand(each.name, each.description), action);
}

}  // namespace grurun::cli
