#include "report/bench/bench_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "report/bounded.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::report {

using trial::BenchResult;

namespace {

using trial::StepTime;
using Json = nlohmann::ordered_json;

std::string profile_table(const BenchResult& result) {
  const trial::MachineLimits& limits = result.limits;
  double all = 0;
  std::size_t width = std::string_view("operator").size();
  for (const trial::OperatorTime& each : result.operators) all += each.self_us;
  for (const trial::OperatorTime& each : first_of(result.operators, most_in_text))
    width = std::max(width, printable(each.op).size());
  const auto n = static_cast<double>(std::max<std::int64_t>(result.profiled_runs, 1));
  std::string text = fmt::format("{:<{}}  {:>8}  {:>12}  {:>6}  {:>8}  {:>9}  {:>7}\n", "operator", width,
                                 "calls", "us", "%", "GFLOP/s", "% of peak", "GB/s");
  for (const trial::OperatorTime& each : first_of(result.operators, most_in_text)) {
    text += fmt::format("{:<{}}  {:>8g}  {:>12.2f}  {:>6.1f}", printable(each.op), width,
                        static_cast<double>(each.calls) / n, each.self_us / n,
                        all > 0 ? 100 * each.self_us / all : 0);
    const auto found = result.work.find(each.op);
    const double seconds = 1e-6 * each.self_us / n;
    if (found != result.work.end() && seconds > 0) {
      const auto& [flops, bytes] = found->second;
      text += flops > 0 ? fmt::format("  {:>8.1f}  {:>9.1f}", flops / seconds / 1e9,
                                      100 * flops / seconds / limits.flops)
                        : fmt::format("  {:>8}  {:>9}", "-", "-");
      text += fmt::format("  {:>7.1f}", bytes / seconds / 1e9);
    }
    text += '\n';
  }
  return text + left_out(result.operators.size(), most_in_text, "") +
         fmt::format(
             "\nmeasured here: peak {:.1f} GFLOP/s; reading {:.1f} GB/s from cache (512 kB), {:.1f} from "
             "memory (256 MB)\n",
             limits.flops / 1e9, limits.cache_bandwidth / 1e9, limits.memory_bandwidth / 1e9);
}

}  // namespace

std::string bench_text(const BenchResult& result) {
  std::string text = fmt::format(
      "median {:.2f} us, p10 {:.2f}, p90 {:.2f}, least {:.2f}; {} runs, {} thread{}, {}\n"
      "CPU {:.2f} us a run, load {:.2f} ms, plan {:.2f} ms\n"
      "peak memory of tensors {:.1f} MB: weights {:.1f} MB, laid out for values {:.1f} MB, other {:.1f} MB; "
      "of the "
      "process {:.1f} MB\n",
      result.quantile(0.5), result.quantile(0.1), result.quantile(0.9), result.samples_us.front(),
      result.runs, result.threads, result.threads == 1 ? "" : "s", result.isa, result.cpu_us,
      result.load_us / 1e3, result.plan_us / 1e3, static_cast<double>(result.peak_bytes) / 1e6,
      static_cast<double>(result.weights_bytes) / 1e6, static_cast<double>(result.planned_bytes) / 1e6,
      static_cast<double>(result.other_bytes()) / 1e6, static_cast<double>(result.peak_resident) / 1e6);
  if (result.has_profile) text += "\n" + profile_table(result);
  return text;
}

std::string bench_json(const BenchResult& result) {
  Json out{{"model", result.model},
           {"threads", result.threads},
           {"isa", result.isa},
           {"runs", result.runs},
           {"median_us", result.quantile(0.5)},
           {"p10_us", result.quantile(0.1)},
           {"p90_us", result.quantile(0.9)},
           {"min_us", result.samples_us.front()},
           {"mean_us", result.mean_us},
           {"cpu_us", result.cpu_us},
           {"load_us", result.load_us},
           {"plan_us", result.plan_us},
           {"peak_memory_bytes", result.peak_bytes},
           {"weights_memory_bytes", result.weights_bytes},
           {"planned_memory_bytes", result.planned_bytes},
           {"other_memory_bytes", result.other_bytes()},
           {"peak_resident_bytes", result.peak_resident}};
  if (result.has_profile) {
    Json operators = Json::array();
    const auto n = static_cast<double>(result.profiled_runs);
    for (const trial::OperatorTime& each : first_of(result.operators, most_in_json)) {
      Json row{
          {"op", each.op}, {"calls", static_cast<double>(each.calls) / n}, {"self_us", each.self_us / n}};
      if (const auto found = result.work.find(each.op); found != result.work.end()) {
        row["flops"] = found->second.flops;
        row["bytes"] = found->second.bytes;
      }
      operators.push_back(std::move(row));
    }
    out["operators"] = std::move(operators);
    out["machine"] = {{"flops", result.limits.flops},
                      {"cache_bandwidth", result.limits.cache_bandwidth},
                      {"memory_bandwidth", result.limits.memory_bandwidth}};
  }
  return json_text(out, -1);
}

std::string bench_trace(const BenchResult& result) {
  const std::vector<StepTime>& steps = result.last_run;
  const auto microseconds = [](StepTime::Moment from, StepTime::Moment to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
  };
  StepTime::Moment start = StepTime::Moment::max();
  for (const StepTime& step : steps) start = std::min(start, step.begin);
  Json events = Json::array();
  for (const StepTime& step : steps) {
    events.push_back({{"name", step.op},
                      {"ph", "X"},  // a complete event: with its duration
                      {"ts", microseconds(start, step.begin)},
                      {"dur", microseconds(step.begin, step.end)},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"node", step.label}}}});
  }
  return json_text(Json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}, -1);
}

}  // namespace grurun::report
