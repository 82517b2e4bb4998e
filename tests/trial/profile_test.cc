#include "trial/profile.h"

#include <gtest/gtest.h>

#include <map>

namespace grurun::trial {
namespace {

TEST(Profile, TimeInsideBelongsToWhatRanInside) {
  const StepTime::Moment start{};
  const auto step = [&](const char* op, int begin, int end) {
    return StepTime{op, op, start + std::chrono::microseconds(begin), start + std::chrono::microseconds(end)};
  };
  // If(10..100) holds Loop(20..90), which holds Add(30..40) and Add(50..80); then Relu.
  const std::vector<StepTime> steps = {step("Add", 30, 40), step("Add", 50, 80), step("Loop", 20, 90),
                                       step("If", 10, 100), step("Relu", 100, 105)};
  std::map<std::string, double> self;
  for (const OperatorTime& each : by_operator(steps)) self[each.op] = each.self_us;
  EXPECT_EQ(self, (std::map<std::string, double>{{"Add", 40}, {"Loop", 30}, {"If", 20}, {"Relu", 5}}));
}

}  // namespace
}  // namespace grurun::trial
