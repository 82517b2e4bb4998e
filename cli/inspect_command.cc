#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/flag_values.h"
#include "cli/limit_flags.h"
#include "cli/many_models.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/time_limit.h"
#include "cli/warnings.h"
#include "conformance/wire_fields.h"
#include "opset/check/mended_findings.h"
#include "report/bounded.h"
#include "report/findings/check_format.h"
#include "report/model/inspect_format.h"
#include "report/model/inspect_list.h"
#include "tensor/error.h"
#include "tensor/printable.h"
#include "trial/random_values.h"

namespace grurun::cli {

namespace {

struct InspectFlags {
  std::vector<std::string> models;
  int jobs = 0;
  std::vector<std::string> dimensions;
  ReportFlags report;
  LimitFlags limits;
  std::string sandbox = "auto";
};

using Sizes = std::map<std::string, std::int64_t>;

report::Inspected inspected(const std::string& path, const onnx_io::Model& model, const Sizes& sizes) {
  return {model, with_context([&] { return path; }, [&] { return opset::summarise(model, sizes); })};
}

int inspect_one(const InspectFlags& flags, Reports<report::Inspected>& reports) {
  const std::string& path = flags.models.front();
  const Sizes sizes = parse_dimensions("--set", flags.dimensions);
  const auto limit = limit_time(flags.limits.max_time, printable(path) + ": inspect");
  const onnx_io::RunnableModel file = onnx_io::load_model_to_run(path);
  const onnx_io::Model& model = file.model;
  require_unread(reports.files(), files_of(model));
  Warnings warnings;
  for (const opset::Finding& finding : opset::mended_findings(file.mended)) warnings.tell_of(finding);
  reports.open();
  trial::require_dimensions(sizes, trial::input_slots(model.graph), "--set");
  reports.write(inspected(path, model, sizes));
  return 0;
}

/// The sizes of dimensions that the inputs have.
Sizes known_sizes(const onnx_io::Model& model, Sizes sizes) {
  const std::vector<trial::Slot> inputs = trial::input_slots(model.graph);
  std::erase_if(sizes, [&](const auto& size) {
    try {
      trial::require_dimensions({size}, inputs, "--set");
      return false;
    } catch (const Error&) {
      return true;
    }
  });
  return sizes;
}

/// Of many models a size is meant for those that have the dimension.
struct InspectAnswer {
  std::string text;
  std::string json;
  std::vector<std::string> warnings;
  std::vector<std::string> set;

  template <typename Io>
  void fields(Io&& io) {
    io(text), io(json), io(warnings), io(set);
  }
};

std::string inspect_answer(const std::string& path, const Sizes& all_sizes) {
  const onnx_io::RunnableModel file = onnx_io::load_model_to_run(path);
  InspectAnswer answer;
  for (const opset::Finding& finding : opset::mended_findings(file.mended))
    answer.warnings.push_back(report::finding_line(finding));
  const Sizes sizes = known_sizes(file.model, all_sizes);
  for (const auto& [name, size] : sizes) answer.set.push_back(name);
  const report::Inspected result = inspected(path, file.model, sizes);
  answer.text = report::inspect_text(result);
  answer.json = report::inspect_json(result);
  conformance::WireWriter writer;
  answer.fields(writer);
  return writer.take();
}

// A file that cannot be read does not keep the others from being told of.
int inspect_many(const InspectFlags& flags, Reports<std::vector<report::InspectedFile>>& reports) {
  const std::vector<std::string> paths = model_paths(flags.models);
  Sizes sizes = parse_dimensions("--set", flags.dimensions);
  std::vector<NamedPath> read;
  for (const std::string& path : paths) read.push_back({"the model", path});
  require_unread(reports.files(), read);
  reports.open();
  std::vector<report::InspectedFile> files;
  ExitCode code;
  Look look;
  look.all = [&](const std::string& path) { return inspect_answer(path, sizes); };
  const LookOptions options{flags.jobs, flags.limits, flags.sandbox, "inspect"};
  const std::vector<ModelAnswer> answers = look_at_each(paths, options, look, [](const auto&) {});
  for (const ModelAnswer& each : answers) {
    report::InspectedFile& file = files.emplace_back();
    file.path = paths[files.size() - 1];
    if (each.failed) {
      file.failure = each.failed->what();
      tell("grurun: {}\n", file.failure);
      code.note(each.failed->kind());
      continue;
    }
    InspectAnswer answer;
    answer.fields(conformance::WireReader(each.bytes));
    tell_text(report::lines_of(
        answer.warnings,
        [&](const std::string& warning) {
          return fmt::format("grurun: {}: {}\n", printable(file.path), warning);
        },
        "grurun: "));
    for (const std::string& name : answer.set) sizes.erase(name);
    file.text = std::move(answer.text);
    file.json = std::move(answer.json);
  }
  if (!sizes.empty() && code.value() == 0)
    fail_usage("--set {}: no model has an input with this dimension", sizes.begin()->first);
  reports.write(files);
  return code.value();
}

template <typename Subject>
Work work_of(const std::shared_ptr<const InspectFlags>& flags,
             int (*run)(const InspectFlags& flags, Reports<Subject>& reports)) {
  const auto reports = std::make_shared<Reports<Subject>>(flags->report, "inspect", true);
  parse_dimensions("--set", flags->dimensions);
  const LookPlace place =
      look_place(flags->models, flags->sandbox, flags->limits, paths_of(reports->files()));
  return {place.sandbox, [=] { return run(*flags, *reports); }};
}

Work prepare_inspect(const std::shared_ptr<const InspectFlags>& flags) {
  std::error_code ignored;
  const bool is_one = flags->models.size() == 1 && !std::filesystem::is_directory(flags->models[0], ignored);
  return is_one ? work_of(flags, inspect_one) : work_of(flags, inspect_many);
}

}  // namespace

void add_inspect(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<InspectFlags>();
  command.add_option("MODEL", flags->models, "Model files, and folders for all models below them")
      ->required();
  add_jobs_flag(command, flags->jobs);
  command.add_option("--set", flags->dimensions, "Size of a named dimension, batch=4; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DIM=N");
  add_report_flags(command, flags->report, either_of(report::format_names<report::Inspected>()));
  add_limit_flags(command, flags->limits, "all of it");
  add_model_limit_flags(command, flags->limits.model, false);
  add_sandbox_flag(command, flags->sandbox);
  command.footer(R"(
Inputs and outputs with type and shape, opsets, producer, every operator with its version and how often it occurs. GRU,
RNN and LSTM with their sizes and attributes, also where an exporter took them apart into a cell for each step or put one
into a Loop or Scan. Parameters are the elements of initializers. FLOPs are 2 for each term of the products of Conv,
ConvTranspose, Gemm, MatMul, GRU, RNN and LSTM, in functions and bodies too; of an If the branch with more of them counts.
What has a size that is not known, or runs nobody knows how often, is named and not counted.

  grurun inspect model.onnx
  grurun inspect models/ --output-format json
  grurun inspect model.onnx --set batch=1 --set time=100 --output-format json

Exit codes: 0, 2 usage or the file is missing, 3 no valid model file, 4 an ir_version that is newer than those known here,
5 a limit was hit. What an opset that is newer has is told as far as it is known, and is no failure.)");
  command.callback([flags, &action] { action = [flags] { return prepare_inspect(flags); }; });
}

}  // namespace grurun::cli
