#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/report_flags.h"
#include "report/schema/ops_matrix.h"

namespace grurun::cli {
namespace {

struct OpsFlags {
  std::vector<std::string> operators;
  ReportFlags report;
  bool missing = false;
};

int run_ops(const OpsFlags& flags, Reports<report::OpsMatrix>& reports) {
  reports.open();
  report::OpsMatrix matrix = report::support_matrix();
  keep_named(matrix, flags.operators);
  if (flags.missing) std::erase_if(matrix, [](const report::OpSupport& row) { return !row.has_gap(); });
  reports.write(matrix);
  return 0;
}

Work prepare_ops(const std::shared_ptr<const OpsFlags>& flags) {
  const auto reports = std::make_shared<Reports<report::OpsMatrix>>(flags->report, "ops", true);
  return {{"auto", {{}, {}, paths_of(reports->files())}}, [=] { return run_ops(*flags, *reports); }};
}

}  // namespace

void add_ops(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<OpsFlags>();
  command.add_option("operator", flags->operators, "Only these, as in GRU or ai.onnx.ml.Scaler (all)");
  add_report_flags(command, flags->report, either_of(report::format_names<report::OpsMatrix>()));
  command.add_option("--format", flags->report.output_format)->group("");  // the same
  command.add_flag("--missing", flags->missing, "Only versions that lack support, or lack it for some type");
  command.footer(
      "\nA version runs by its kernel, or by the function body that the standard gives it; then a type "
      "counts as\n"
      "supported when every operator of the body for that type runs.");
  command.callback([&action, flags] { action = [flags] { return prepare_ops(flags); }; });
}

}  // namespace grurun::cli
