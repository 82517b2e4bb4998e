#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/input_flags.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/warnings.h"
#include "opset/check/mended_findings.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/bench.h"

namespace grurun::cli {
namespace {

struct BenchFlags {
  std::string model;
  InputFlags data;
  EngineFlags engine;
  std::int64_t warmup = 3;
  std::int64_t runs = 10;
  double min_time = 1;
  bool profile = false;
  ReportFlags report;
};

using trial::BenchResult;

int run(const BenchFlags& flags, Reports<BenchResult>& reports) {
  const auto begin = std::chrono::steady_clock::now();
  const onnx_io::RunnableModel file = onnx_io::load_model_to_run(flags.model);
  const onnx_io::Model& model = file.model;
  const std::chrono::duration<double, std::micro> load_time = std::chrono::steady_clock::now() - begin;
  require_unread(reports.files(), files_of(model));
  const std::vector<Value> inputs = gather_inputs(flags.data, model.graph);
  reports.open();

  trial::TrialOptions options;
  options.fuse = !flags.engine.no_fusion;
  options.seed = flags.data.seed.value_or(0);
  Warnings warnings;
  options.warn = [&](const opset::Finding& finding) { warnings.tell_of(finding); };
  for (const opset::Finding& finding : opset::mended_findings(file.mended)) warnings.tell_of(finding);
  memory::begin_counting_heap();
  BenchResult result = with_context([&] { return flags.model; },
                                    [&] {
                                      return trial::measure(model, inputs, std::move(options),
                                                            {flags.warmup, flags.runs, flags.min_time,
                                                             flags.profile, reports.has("trace")});
                                    });
  result.model = flags.model;
  result.load_us = load_time.count();
  reports.write(result);
  return 0;
}

Work prepare(const std::shared_ptr<const BenchFlags>& chosen) {
  const BenchFlags& flags = *chosen;
  if (std::isnan(flags.min_time)) fail_usage("--min-time takes seconds, not nan");
  apply(flags.engine);
  const auto reports = std::make_shared<Reports<BenchResult>>(flags.report, "bench", false);
  std::vector<NamedPath> read;
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  require_unread(reports->files(), read);
  return {{flags.engine.sandbox, {{flags.model}, flags.data.inputs, paths_of(reports->files())}},
          [=] { return run(*chosen, *reports); }};
}

constexpr const char* footer = R"(
Time of a run inside the process: model loaded, planned and its weights arranged before; inputs the same each time.

  grurun bench model.onnx --inputs test_data_set_0 --threads 1
  grurun bench model.onnx --input-shapes X:[1,1,40] --json -
  grurun bench model.onnx --set batch=8 --profile --trace trace.json

Exit codes: 0; 2 usage; 3 invalid model or data; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_bench(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<BenchFlags>();
  command.add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL")->required();
  add_inputs_flag(command, flags->data, "Data");
  add_random_flags(command, flags->data);
  add_engine_flags(command, flags->engine, "Engine");
  add_fusion_flag(command, flags->engine.no_fusion, "Engine");
  const char* measuring = "Measuring";
  command.add_option("--warmup", flags->warmup, "Runs before the first that counts (3)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}).description(""))
      ->type_name("N")
      ->group(measuring);
  command.add_option("--runs", flags->runs, "Runs at least (10)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}).description(""))
      ->type_name("N")
      ->group(measuring);
  command.add_option("--min-time", flags->min_time, "Seconds at least (1)")
      ->check(CLI::Range(0.0, 1e6).description(""))
      ->type_name("SECONDS")
      ->group(measuring);
  command.add_flag("--profile", flags->profile, "Then run again to say how long each operator takes")
      ->group("Output");
  add_report_flags(command, flags->report, either_of(report::format_names<BenchResult>()), "Output");
  add_short_form(command, flags->report, "trace",
                 "Write the steps of one run for chrome://tracing or Perfetto", "Output");
  add_short_form(command, flags->report, "json",
                 "Write the result as JSON; - is stdout, which then holds nothing else", "Output");
  command.footer(footer);
  command.callback([flags, &action] { action = [flags] { return prepare(flags); }; });
}

}  // namespace grurun::cli
