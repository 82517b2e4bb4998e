// How long runs of a model take, and where the time goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trial/profile.h"
#include "trial/trial.h"

namespace grurun::trial {

/// Of one run: of the steps of one operator together.
struct Work {
  double flops = 0;  // as opset::node_flops counts; 0 where it does not
  double bytes = 0;  // of the tensors that the steps read and write, each once for every step
};

/// Times in microseconds.
struct BenchResult {
  std::string model;   // as it was named, and
  double load_us = 0;  // the time to read it: by the caller
  int threads = 0;
  std::string isa;
  double plan_us = 0;
  std::int64_t runs = 0;
  std::vector<double> samples_us;  // of a run each, ascending
  double mean_us = 0;
  double cpu_us = 0;  // of all threads, of a run on average
  std::uint64_t peak_resident = 0;
  std::size_t peak_bytes = 0;     // of tensors, of which are
  std::size_t weights_bytes = 0;  // constants and what the plan made of them, files that are mapped left out
  std::size_t planned_bytes = 0;  // laid out for the values of a run
  /// The rest: inputs, work space of operators and values that are not laid out.
  std::size_t other_bytes() const;
  bool has_profile = false;  // the next ones but last_run are filled in
  std::vector<OperatorTime> operators;
  std::int64_t profiled_runs = 0;
  std::map<std::string, Work> work;
  MachineLimits limits;
  std::vector<StepTime> last_run;  // of the profiled ones

  /// The time that the share q of the samples does not exceed.
  double quantile(double q) const;
};

struct BenchOptions {
  std::int64_t warmup = 3;
  std::int64_t runs = 10;  // at least
  double min_time = 1;     // seconds at least
  bool profile = false;
  bool trace = false;  // last_run is wanted
};

/// Checks and plans the model, runs it in this process and takes the time. inputs[i] belongs to
/// graph.inputs[i]. Throws what a Trial throws.
BenchResult measure(const onnx_io::Model& model, const std::vector<Value>& inputs, TrialOptions trial_options,
                    const BenchOptions& options);

}  // namespace grurun::trial
