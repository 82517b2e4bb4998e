// What `grurun bench` prints.
#pragma once

#include <string>

#include "trial/bench.h"

namespace grurun::report {

/// Three lines of times and memory, and behind them, where there is a profile, a table with a line for each
/// operator: calls, us and share of a run, GFLOP/s and their share of the machine's, GB/s.
std::string bench_text(const trial::BenchResult& result);

/// On one line: {"model", "threads", "isa", "runs", "median_us", "p10_us", "p90_us", "min_us", "mean_us",
/// "cpu_us", "load_us", "plan_us", "peak_memory_bytes", "weights_memory_bytes", "planned_memory_bytes",
/// "other_memory_bytes", "peak_resident_bytes"}, with
/// a profile "operators": [{"op", "calls", "self_us", "flops", "bytes"}] and "machine": {"flops",
/// "cache_bandwidth", "memory_bandwidth"} too.
std::string bench_json(const trial::BenchResult& result);

/// The steps of the last profiled run in the Trace Event Format that chrome://tracing and Perfetto read,
/// times from the first step on.
std::string bench_trace(const trial::BenchResult& result);

}  // namespace grurun::report
