// Where the time of runs goes, by operator.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace grurun::trial {

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

}  // namespace grurun::trial
