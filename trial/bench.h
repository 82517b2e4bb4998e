// What a measurement of a model's runs finds out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trial/profile.h"
#include "trial/step_work.h"

namespace grurun::trial {

/// Times in microseconds.
struct BenchResult {
  std::string model;  // as it was named
  int threads = 0;
  std::string isa;
  double load_us = 0;
  double plan_us = 0;
  std::int64_t runs = 0;
  std::vector<double> samples_us;  // of a run each, ascending
  double mean_us = 0;
  double cpu_us = 0;  // of all threads, of a run on average
  std::uint64_t peak_resident = 0;
  std::size_t peak_bytes = 0;  // of tensors
  std::size_t planned_bytes = 0;
  bool has_profile = false;  // the next ones but last_run are filled in
  std::vector<OperatorTime> operators;
  std::int64_t profiled_runs = 0;
  std::map<std::string, Work> work;
  MachineLimits limits;
  std::vector<StepTime> last_run;  // of the profiled ones

  /// The time that the share q of the samples does not exceed.
  double quantile(double q) const;
};

}  // namespace grurun::trial
