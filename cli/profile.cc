#include "cli/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

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

std::string profile_table(const std::vector<OperatorTime>& operators, std::int64_t runs) {
  double all = 0;
  std::size_t width = std::string_view("operator").size();
  for (const OperatorTime& each : operators) {
    all += each.self_us;
    width = std::max(width, each.op.size());
  }
  const auto n = static_cast<double>(std::max<std::int64_t>(runs, 1));
  std::string text = fmt::format("{:<{}}  {:>8}  {:>12}  {:>6}\n", "operator", width, "calls", "us", "%");
  for (const OperatorTime& each : operators) {
    text += fmt::format("{:<{}}  {:>8g}  {:>12.2f}  {:>6.1f}\n", each.op, width,
                        static_cast<double>(each.calls) / n, each.self_us / n,
                        all > 0 ? 100 * each.self_us / all : 0);
  }
  return text;
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
  // A label may hold any bytes that a model names a node with.
  return Json{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace grurun::cli
