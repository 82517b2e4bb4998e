#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/input_flags.h"
#include "cli/report_flags.h"
#include "cli/warnings.h"
#include "engine/graph/executor.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/memory/memory.h"
#include "tensor/printable.h"
#include "trial/bench.h"
#include "trial/trial.h"

namespace grurun::cli {
namespace {

using Clock = std::chrono::steady_clock;

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

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// The most that the process had resident since it started, 0 where the system does not tell.
std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

using trial::BenchResult;
using trial::StepTime;

class Bench {
 public:
  Bench(const BenchFlags& flags, bool traces) : flags_(flags), traces_(traces) {
    const auto begin = Clock::now();
    model_ = onnx_io::load_model(flags.model);
    measured_.load_us = microseconds(Clock::now() - begin);
    inputs_ = gather_inputs(flags.data, model_.graph);
  }

  const onnx_io::Model& model() const { return model_; }

  const BenchResult& measure() {
    trial::TrialOptions options;
    options.fuse = !flags_.engine.no_fusion;
    options.seed = run_options_.seed = flags_.data.seed.value_or(0);
    Warnings warnings;
    options.warn = [&](const opset::Finding& finding) { warnings.tell_of(finding); };
    memory::begin_counting_heap();
    trial::Trial trial(model_, std::move(options));
    with_context([&] { return flags_.model; }, [&] { measure(trial); });
    measured_.model = flags_.model;
    measured_.threads = kernels::threads();
    measured_.isa = kernels::simd_target();
    measured_.peak_bytes = memory::peak();
    return measured_;
  }

 private:
  void measure(trial::Trial& trial) {
    trial.check(inputs_);
    const auto begin = Clock::now();
    runner_.emplace(trial.plan(inputs_));
    measured_.plan_us = microseconds(Clock::now() - begin);
    for (std::int64_t i = 0; i < flags_.warmup; ++i) runner_->run(inputs_, run_options_);
    time_runs();
    measured_.peak_resident = peak_resident_bytes();
    measured_.planned_bytes = runner_->planned_bytes();
    if (flags_.profile || traces_) profile();
  }

  // Each sample ends where the next begins, so the clock is read once a sample.
  void time_runs() {
    const auto begin = Clock::now();
    const std::clock_t cpu_begin = std::clock();
    auto last = begin;
    std::int64_t together = 1;
    do {
      for (std::int64_t i = 0; i < together; ++i) runner_->run(inputs_, run_options_);
      const auto now = Clock::now();
      const double run_us = microseconds(now - last) / static_cast<double>(together);
      measured_.runs += together;
      measured_.samples_us.push_back(run_us);
      last = now;
      together = runs_of_a_sample(run_us);
    } while (measured_.runs < flags_.runs ||
             std::chrono::duration<double>(last - begin).count() < flags_.min_time);
    const auto runs = static_cast<double>(measured_.runs);
    measured_.cpu_us = 1e6 / CLOCKS_PER_SEC * static_cast<double>(std::clock() - cpu_begin) / runs;
    measured_.mean_us = microseconds(last - begin) / runs;
    std::ranges::sort(measured_.samples_us);
  }

  // Reading the clock takes a fiftieth of a microsecond: short runs share it, where there are to be many.
  std::int64_t runs_of_a_sample(double run_us) const {
    constexpr double sample_us = 10, least_samples = 20;
    const double least_us = std::max(run_us, 1e-3);  // the clock may stand still for a moment
    const double runs = std::max(static_cast<double>(flags_.runs), 1e6 * flags_.min_time / least_us);
    return static_cast<std::int64_t>(std::max(1.0, std::min(sample_us / least_us, runs / least_samples)));
  }

  void profile() {
    std::vector<StepTime> all;
    engine::RunOptions options = run_options_;
    options.on_step = [&](const engine::Step& step, auto begin, auto end) {
      measured_.last_run.push_back({step.label, step.op, begin, end});
    };
    const auto begin = Clock::now();
    do {
      all.insert(all.end(), std::make_move_iterator(measured_.last_run.begin()),
                 std::make_move_iterator(measured_.last_run.end()));
      measured_.last_run.clear();
      runner_->run(inputs_, options);
      ++measured_.profiled_runs;
    } while (measured_.profiled_runs < flags_.runs &&
             std::chrono::duration<double>(Clock::now() - begin).count() < 1);
    all.insert(all.end(), measured_.last_run.begin(), measured_.last_run.end());
    measured_.operators = trial::by_operator(all);
    if (!flags_.profile) return;
    measured_.has_profile = true;
    measured_.work = trial::work_by_operator(model_, runner_->plan(), inputs_, run_options_);
    measured_.limits = trial::measure_limits();
  }

  const BenchFlags& flags_;
  const bool traces_;  // the steps of a run
  onnx_io::Model model_;
  std::vector<Value> inputs_;
  std::optional<engine::Runner> runner_;
  engine::RunOptions run_options_;
  BenchResult measured_;
};

int run(const BenchFlags& flags) {
  if (std::isnan(flags.min_time)) fail_usage("--min-time takes seconds, not nan");
  apply(flags.engine);
  Reports<BenchResult> reports(flags.report, "bench", false);
  std::vector<NamedPath> read;
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  require_unread(reports.files(), read);
  Bench bench(flags, reports.has("trace"));
  require_unread(reports.files(), files_of(bench.model()));
  reports.open();
  reports.write(bench.measure());
  return 0;
}

constexpr const char* footer = R"(
Time of a run inside the process: model loaded, planned and its weights arranged before; inputs the same each time.

  grurun bench model.onnx --inputs test_data_set_0 --threads 1
  grurun bench model.onnx --input-shapes X:[1,1,40] --json -
  grurun bench model.onnx --set batch=8 --profile --trace trace.json

Exit codes: 0; 2 usage; 3 invalid model or data; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Measure how long a run of a model takes");
  const auto flags = std::make_shared<BenchFlags>();
  command->add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL")->required();
  add_inputs_flag(*command, flags->data, "Data");
  add_random_flags(*command, flags->data);
  add_engine_flags(*command, flags->engine, "Engine");
  const char* measuring = "Measuring";
  command->add_option("--warmup", flags->warmup, "Runs before the first that counts (3)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}).description(""))
      ->type_name("N")
      ->group(measuring);
  command->add_option("--runs", flags->runs, "Runs at least (10)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}).description(""))
      ->type_name("N")
      ->group(measuring);
  command->add_option("--min-time", flags->min_time, "Seconds at least (1)")
      ->check(CLI::Range(0.0, 1e6).description(""))
      ->type_name("SECONDS")
      ->group(measuring);
  command->add_flag("--profile", flags->profile, "Then run again to say how long each operator takes")
      ->group("Output");
  add_report_flags(*command, flags->report, either_of(report::format_names<BenchResult>()), "Output");
  add_short_form(*command, flags->report, "trace",
                 "Write the steps of one run for chrome://tracing or Perfetto", "Output");
  add_short_form(*command, flags->report, "json",
                 "Write the result as JSON; - is stdout, which then holds nothing else", "Output");
  command->footer(footer);
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace grurun::cli
