#include "trial/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/executor.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "onnx_io/models/model.h"
#include "opset/inference/infer_types.h"
#include "opset/summary/flops.h"
#include "tensor/memory/memory.h"

namespace grurun::trial {
namespace {

using Types = std::map<std::string, ValueType>;

// 0 for what is no tensor or has an unknown dimension.
double bytes_of(const std::string& name, const Types& types) {
  const auto found = types.find(name);
  if (found == types.end() || found->second.kind != ValueType::Kind::tensor || !found->second.shape) return 0;
  double elements = 1;
  for (const Dim& dim : *found->second.shape) elements *= static_cast<double>(dim.value.value_or(0));
  return elements * static_cast<double>(dtype_size(found->second.elem));
}

/// By operator ("GRU-14"), for the steps of the main graph; what is inside bodies and functions is not
/// counted. Runs the plan of `model`, and one without fused steps, to see the shapes.
std::map<std::string, Work> work_by_operator(const onnx_io::Model& model, const engine::Plan& plan,
                                             const std::vector<Value>& inputs, engine::RunOptions options) {
  Types types = opset::infer_types(model, {});
  for (const auto& initializer : model.graph.initializers) {
    types[initializer.name] = Value(initializer.tensor).type();
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) types[plan.input_names[i]] = inputs[i].type();
  }
  std::map<std::string, std::string> maker;  // of a value: the operator
  const auto see_values = [&](const engine::Plan& observed, const auto& see) {
    options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
      see(step, step.output_names[output], value);
    };
    engine::run_plan(observed, inputs, options);
  };
  see_values(plan, [&](const engine::Step& step, const std::string& name, const Value& value) {
    types[name] = value.type();
    maker[name] = step.op;
  });
  std::set<std::string> hidden;  // what no step makes, as it was fused with the one that reads it
  const engine::PlanOptions apart{.fed = engine::fed_names(model.graph, inputs), .fuse = false};
  see_values(*engine::make_plan(model, apart), [&](const auto&, const std::string& name, const Value& value) {
    types[name] = value.type();
    if (!maker.contains(name)) hidden.insert(name);
  });

  std::map<std::string, Work> all;
  for (auto at = model.graph.nodes.rbegin(); at != model.graph.nodes.rend(); ++at) {
    const onnx_io::Node& node = *at;
    std::set<std::string> names(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
    std::string op;
    for (const std::string& name : node.outputs) {
      if (const auto found = maker.find(name); found != maker.end()) op = found->second;
    }
    if (op.empty()) continue;  // computed when the plan was made
    Work& work = all[op];
    if (opset::has_flops(node)) work.flops += static_cast<double>(opset::node_flops(node, types).value_or(0));
    for (const std::string& name : names) {
      if (hidden.contains(name)) {
        maker[name] = op;  // the step that reads it makes it, too
      } else {
        work.bytes += bytes_of(name, types);
      }
    }
  }
  return all;
}

using Clock = std::chrono::steady_clock;

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

/// Of the tensors among the inputs, as far as memory::in_use() counts them.
std::size_t bytes_held(const std::vector<Value>& inputs) {
  std::size_t bytes = 0;
  for (const Value& input : inputs) {
    if (input.is_tensor()) bytes += input.tensor().byte_size();
  }
  return std::min(bytes, memory::in_use());
}

class Bench {
 public:
  Bench(const onnx_io::Model& model, const std::vector<Value>& inputs, const BenchOptions& options)
      : model_(model), inputs_(inputs), options_(options) {}

  BenchResult measure(TrialOptions trial_options) {
    run_options_.seed = trial_options.seed;
    Trial trial(model_, std::move(trial_options));
    trial.check(inputs_);
    const auto begin = Clock::now();
    runner_.emplace(trial.plan(inputs_));
    result_.plan_us = microseconds(Clock::now() - begin);
    result_.weights_bytes = memory::in_use() - bytes_held(inputs_);
    for (std::int64_t i = 0; i < options_.warmup; ++i) runner_->run(inputs_, run_options_);
    time_runs();
    result_.peak_resident = peak_resident_bytes();
    result_.planned_bytes = runner_->planned_bytes();
    if (options_.profile || options_.trace) profile();
    result_.threads = kernels::threads();
    result_.isa = kernels::simd_target();
    result_.peak_bytes = memory::peak();
    return std::move(result_);
  }

 private:
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
      result_.runs += together;
      result_.samples_us.push_back(run_us);
      last = now;
      together = runs_of_a_sample(run_us);
    } while (result_.runs < options_.runs ||
             std::chrono::duration<double>(last - begin).count() < options_.min_time);
    const auto runs = static_cast<double>(result_.runs);
    result_.cpu_us = 1e6 / CLOCKS_PER_SEC * static_cast<double>(std::clock() - cpu_begin) / runs;
    result_.mean_us = microseconds(last - begin) / runs;
    std::ranges::sort(result_.samples_us);
  }

  // Reading the clock takes a fiftieth of a microsecond: short runs share it, where there are to be many.
  std::int64_t runs_of_a_sample(double run_us) const {
    constexpr double sample_us = 10, least_samples = 20;
    const double least_us = std::max(run_us, 1e-3);  // the clock may stand still for a moment
    const double runs = std::max(static_cast<double>(options_.runs), 1e6 * options_.min_time / least_us);
    return static_cast<std::int64_t>(std::max(1.0, std::min(sample_us / least_us, runs / least_samples)));
  }

  void profile() {
    std::vector<StepTime> all;
    engine::RunOptions options = run_options_;
    options.on_step = [&](const engine::Step& step, auto begin, auto end) {
      result_.last_run.push_back({step.label, step.op, begin, end});
    };
    const auto begin = Clock::now();
    do {
      all.insert(all.end(), std::make_move_iterator(result_.last_run.begin()),
                 std::make_move_iterator(result_.last_run.end()));
      result_.last_run.clear();
      runner_->run(inputs_, options);
      ++result_.profiled_runs;
    } while (result_.profiled_runs < options_.runs &&
             std::chrono::duration<double>(Clock::now() - begin).count() < 1);
    all.insert(all.end(), result_.last_run.begin(), result_.last_run.end());
    result_.operators = by_operator(all);
    if (!options_.profile) return;
    result_.has_profile = true;
    result_.work = work_by_operator(model_, runner_->plan(), inputs_, run_options_);
    result_.limits = measure_limits();
  }

  const onnx_io::Model& model_;
  const std::vector<Value>& inputs_;
  const BenchOptions& options_;
  std::optional<engine::Runner> runner_;
  engine::RunOptions run_options_;
  BenchResult result_;
};

}  // namespace

BenchResult measure(const onnx_io::Model& model, const std::vector<Value>& inputs, TrialOptions trial_options,
                    const BenchOptions& options) {
  return Bench(model, inputs, options).measure(std::move(trial_options));
}

std::size_t BenchResult::other_bytes() const {
  return peak_bytes - std::min(peak_bytes, weights_bytes + planned_bytes);
}

double BenchResult::quantile(double q) const {
  const double at = q * static_cast<double>(samples_us.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, samples_us.size() - 1);
  return std::lerp(samples_us[below], samples_us[above], at - static_cast<double>(below));
}

}  // namespace grurun::trial
