#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/flag_values.h"
#include "cli/report_flags.h"
#include "cli/warnings.h"
#include "opset/check/mended_findings.h"
#include "report/model/inspect_format.h"
#include "tensor/error.h"
#include "trial/random_values.h"

namespace grurun::cli {

namespace {

struct InspectFlags {
  std::string model;
  std::vector<std::string> dimensions;
  ReportFlags report;
};

int run_inspect(const InspectFlags& flags) {
  Reports<report::Inspected> reports(flags.report, "inspect", true);
  const std::map<std::string, std::int64_t> sizes = parse_dimensions("--set", flags.dimensions);
  const onnx_io::RunnableModel file = onnx_io::load_model_to_run(flags.model);
  const onnx_io::Model& model = file.model;
  require_unread(reports.files(), files_of(model));
  Warnings warnings;
  for (const opset::Finding& finding : opset::mended_findings(file.mended)) warnings.tell_of(finding);
  reports.open();
  trial::require_dimensions(sizes, trial::input_slots(model.graph), "--set");
  reports.write(
      {model, with_context([&] { return flags.model; }, [&] { return opset::summarise(model, sizes); })});
  return 0;
}

}  // namespace

void add_inspect(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<InspectFlags>();
  command.add_option("MODEL", flags->model, "Model file")->required();
  command.add_option("--set", flags->dimensions, "Size of a named dimension, batch=4; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DIM=N");
  add_report_flags(command, flags->report, either_of(report::format_names<report::Inspected>()));
  command.footer(R"(
Inputs and outputs with type and shape, opsets, producer, every operator with its version and how often it occurs. GRU,
RNN and LSTM with their sizes and attributes, also where an exporter took them apart into a cell for each step or put one
into a Loop or Scan. Parameters are the elements of initializers. FLOPs are 2 for each term of the products of Conv,
ConvTranspose, Gemm, MatMul, GRU, RNN and LSTM, in functions and bodies too; of an If the branch with more of them counts.
What has a size that is not known, or runs nobody knows how often, is named and not counted.

  grurun inspect model.onnx
  grurun inspect model.onnx --set batch=1 --set time=100 --output-format json

Exit codes: 0, 2 usage or the file is missing, 3 no valid model file, 4 an ir_version that is newer than those known here,
5 a limit was hit. What an opset that is newer has is told as far as it is known, and is no failure.)");
  command.callback([flags, &action] { action = [flags] { return run_inspect(*flags); }; });
}

}  // namespace grurun::cli
