#include "engine/ops/rnn/step_trial.h"

#include <gtest/gtest.h>

#include <chrono>

namespace grurun::engine::rnn {
namespace {

/// Time passes only where a step says so.
struct FakeClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FakeClock>;
  static constexpr bool is_steady = true;
  static inline time_point current{};
  static time_point now() { return current; }
};

/// How many of `steps` steps are shared, which take these times in nanoseconds, shared and alone.
int shared_of(StepTrial<FakeClock>& trial, int steps, int shared_time, int alone_time) {
  int count = 0;
  for (int i = 0; i < steps; ++i) {
    trial.step([&](bool shared) {
      count += shared ? 1 : 0;
      FakeClock::current += std::chrono::nanoseconds(shared ? shared_time : alone_time);
    });
  }
  return count;
}

TEST(StepTrial, SharesStepsThatAreFasterSo) {
  StepTrial<FakeClock> trial;
  EXPECT_EQ(shared_of(trial, 10, 2000, 3000), 5);
  EXPECT_EQ(shared_of(trial, 1000, 2000, 3000), 1000);
}

TEST(StepTrial, LeavesStepsAloneThatAreFasterSo) {
  StepTrial<FakeClock> trial;
  EXPECT_EQ(shared_of(trial, 10, 4000, 3000), 5);
  EXPECT_EQ(shared_of(trial, 1000, 4000, 3000), 0);
}

TEST(StepTrial, TriesAgainAfterAWhile) {
  StepTrial<FakeClock> trial;
  shared_of(trial, 100, 4000, 3000);
  shared_of(trial, 3000, 2000, 3000);
  EXPECT_EQ(shared_of(trial, 100, 2000, 3000), 100);
}

// The first step either way may be slow for other reasons, and so may single ones.
TEST(StepTrial, ComparesTheBestTimesButTheFirst) {
  StepTrial<FakeClock> trial;
  shared_of(trial, 1, 1, 1);      // shared: the first is not counted
  shared_of(trial, 1, 90000, 1);  // shared, disturbed
  shared_of(trial, 3, 2000, 1);   // shared
  shared_of(trial, 1, 1, 1);      // alone: the first is not counted
  shared_of(trial, 4, 1, 1900);   // alone
  EXPECT_EQ(shared_of(trial, 100, 1, 1), 0);
}

}  // namespace
}  // namespace grurun::engine::rnn
