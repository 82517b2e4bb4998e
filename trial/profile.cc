#include "trial/profile.h"

#include <algorithm>
#include <map>

#include "engine/kernels/machine/machine_speed.h"

namespace grurun::trial {
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

}  // namespace grurun::trial
