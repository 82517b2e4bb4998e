// What a process holds every model to, beside memory and time: for programs that open models from strangers.
#pragma once

#include <cstdint>
#include <string>

namespace grurun {

struct Limits {
  static constexpr std::int64_t most_depth = 64, most_iterations = 100'000'000;

  std::uint64_t model_size = std::uint64_t{64} << 30;  // bytes of a model's file and of its external data
  std::int64_t depth = most_depth;                     // of bodies and functions within each other
  std::int64_t iterations = most_iterations;           // of a run: engine::RunOptions::max_iterations
  std::uint64_t output = std::uint64_t{16} << 30;      // bytes of the outputs of a run
  double seconds = 0;                                  // of a run, as errors tell them; 0: not told
};

const Limits& limits();

/// To be called while nothing is read or run; for all threads, and processes that are forked later.
void set_limits(const Limits& chosen);

/// "the run took longer than its time limit of 8 s (--max-time)".
std::string run_took_too_long();

/// Throws Error(limit) where a model's files are larger than the limit; `what` is the last that was counted.
void require_model_size(std::uint64_t bytes, const std::string& what);

}  // namespace grurun
