#include "cli/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/kernels/machine/machine_speed.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::cli {
namespace {

double microseconds(StepTime::Moment from, StepTime::Moment to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

}  // namespace

std::vector<OperatorTime> by_operator(const std::vector<StepTime>& steps) {
  std::map<std::string, OperatorTime> found;
  // Steps that no later one has claimed as its own inside, with their whole time.
  std::vector<const StepTime*> open;
  for (const StepTime& step : steps) {
    double self = microseconds(step.begin, step.end);
    while (!open.empty() && open.back()->begin >= step.begin) {
      self -= microseconds(open.back()->begin, open.back()->end);
      open.pop_back();
    }
    open.push_back(&step);
    OperatorTime& total = found[step.op];
    total.op = step.op;
    ++total.calls;
    total.self_us += self;
  }
  std::vector<OperatorTime> operators;
  for (auto& [op, total] : found) operators.push_back(std::move(total));
  std::ranges::stable_sort(operators, std::ranges::greater(), &OperatorTime::self_us);
  return operators;
}

MachineLimits measure_limits() {
  return {.flops = kernels::measured_flops(),
          .cache_bandwidth = kernels::measured_read_bandwidth(512 << 10),
          .memory_bandwidth = kernels::measured_read_bandwidth(256 << 20)};
}

std::string profile_table(const std::vector<OperatorTime>& operators, std::int64_t runs,
                          const std::map<std::string, Work>& work, const MachineLimits& limits) {
  double all = 0;
  std::size_t width = std::string_view("operator").size();
  for (const OperatorTime& each : operators) {
    all += each.self_us;
    width = std::max(width, printable(each.op).size());
  }
  const auto n = static_cast<double>(std::max<std::int64_t>(runs, 1));
  std::string text = fmt::format("{:<{}}  {:>8}  {:>12}  {:>6}  {:>8}  {:>9}  {:>7}\n", "operator", width,
                                 "calls", "us", "%", "GFLOP/s", "% of peak", "GB/s");
  for (const OperatorTime& each : operators) {
    text += fmt::format("{:<{}}  {:>8g}  {:>12.2f}  {:>6.1f}", printable(each.op), width,
                        static_cast<double>(each.calls) / n, each.self_us / n,
                        all > 0 ? 100 * each.self_us / all : 0);
    const auto found = work.find(each.op);
    const double seconds = 1e-6 * each.self_us / n;
    if (found != work.end() && seconds > 0) {
      const auto& [flops, bytes] = found->second;
      text += flops > 0 ? fmt::format("  {:>8.1f}  {:>9.1f}", flops / seconds / 1e9,
                                      100 * flops / seconds / limits.flops)
                        : fmt::format("  {:>8}  {:>9}", "-", "-");
      text += fmt::format("  {:>7.1f}", bytes / seconds / 1e9);
    }
    text += '\n';
  }
  return text +
         fmt::format(
             "\nmeasured here: peak {:.1f} GFLOP/s; reading {:.1f} GB/s from cache (512 kB), {:.1f} from "
             "memory (256 MB)\n",
             limits.flops / 1e9, limits.cache_bandwidth / 1e9, limits.memory_bandwidth / 1e9);
}

std::string chrome_trace(const std::vector<StepTime>& steps) {
  using Json = nlohmann::ordered_json;
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
  return report::json_text(Json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}, -1);
}

}  // namespace grurun::cli
