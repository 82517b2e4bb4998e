// Where the time of runs goes, by operator and as a timeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/step_work.h"

namespace grurun::cli {

/// One step of a run: an operator that ran.
struct StepTime {
  using Moment = std::chrono::steady_clock::time_point;
  std::string label;  // "node 'gru_1' (GRU-14)"
  std::string op;     // "GRU-14"
  Moment begin, end;
};

/// Steps of one kind, added up over runs.
struct OperatorTime {
  std::string op;
  std::int64_t calls = 0;
  double self_us = 0;  // without the steps inside of its bodies and functions
};

/// By operator, the most time first. `steps` of one thread in the order in which they ended: a step comes
/// after those inside of it.
std::vector<OperatorTime> by_operator(const std::vector<StepTime>& steps);

/// What the machine can do at best, as measured.
struct MachineLimits {
  double flops = 0;             // a second, on all threads
  double cache_bandwidth = 0;   // bytes a second, one thread, from a cache of 512 kB
  double memory_bandwidth = 0;  // from an array of 256 MB
};

MachineLimits measure_limits();

/// "operator, calls, us and share of a run, GFLOP/s, share of the machine's, GB/s": a table, a line for each
/// operator. Calls and times are those of one of `runs` runs on average; `work` is of one run.
std::string profile_table(const std::vector<OperatorTime>& operators, std::int64_t runs,
                          const std::map<std::string, Work>& work, const MachineLimits& limits);

/// The steps in the Trace Event Format that chrome://tracing and Perfetto read, times from the first step on.
std::string chrome_trace(const std::vector<StepTime>& steps);

}  // namespace grurun::cli
