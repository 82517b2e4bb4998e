// What an iteration of a benchmark does: bench/roofline.py draws it.
#pragma once

#include <benchmark/benchmark.h>

namespace grurun {

/// Adds counters "FLOP/s" and "B/s": floating-point operations of one iteration, and bytes that it has to
/// read and write at least.
inline void count(benchmark::State& state, double flops, double bytes) {
  using benchmark::Counter;
  if (flops > 0) state.counters["FLOP/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
  state.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
}

}  // namespace grurun
