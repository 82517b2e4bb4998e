// What an iteration of a benchmark does: bench/roofline.py draws it.
#pragma once

#include <benchmark/benchmark.h>

#include "engine/kernels/machine/machine_speed.h"

namespace grurun {

/// Floating-point operations a second that this machine was measured to allow, once a process.
inline double peak_flops() {
  static const double peak = kernels::measured_flops();
  return peak;
}

/// Adds counters "FLOP/s", "% of peak" and "B/s": floating-point operations of one iteration, and bytes that
/// it has to read and write at least.
inline void count(benchmark::State& state, double flops, double bytes) {
  using benchmark::Counter;
  if (flops > 0) {
    state.counters["FLOP/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
    state.counters["% of peak"] = Counter(100 * flops / peak_flops(), Counter::kIsIterationInvariantRate);
  }
  state.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
}

}  // namespace grurun
