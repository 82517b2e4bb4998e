#include "trial/diagnosis/budget.h"

#include <gtest/gtest.h>

#include <thread>

namespace grurun::trial::diagnosis {
namespace {

using namespace std::chrono_literals;

constexpr Budget::Clock::time_point never = Budget::Clock::time_point::max();

void compute_until_over(const Budget& budget) {
  while (!budget.is_over()) continue;
}

TEST(Budgets, AreNotSpentByWaitingForTheProcessor) {
  const Budget budget(1, 50ms, never);
  const Budget share = budget.share(0.5);
  std::this_thread::sleep_for(100ms);
  EXPECT_FALSE(budget.is_over());
  EXPECT_FALSE(share.is_over());
  compute_until_over(share);
  EXPECT_FALSE(budget.is_over());
  compute_until_over(budget);
  EXPECT_TRUE(share.is_over());
}

TEST(Budgets, EndWithTheRunsDeadline) {
  const Budget budget(1, 1h, Budget::Clock::now() + 20ms);
  std::this_thread::sleep_for(30ms);
  EXPECT_TRUE(budget.is_over());
  EXPECT_TRUE(budget.share(0.5).is_over());
}

TEST(Budgets, EndWithTheirOperations) {
  Budget budget(8, 1h, never);
  Budget share = budget.share(0.5);
  share.spend(3);
  EXPECT_FALSE(share.is_over());
  share.spend(1);
  EXPECT_TRUE(share.is_over());
  budget.spend(share);
  EXPECT_FALSE(budget.is_over());
  budget.spend(4);
  EXPECT_TRUE(budget.is_over());
}

}  // namespace
}  // namespace grurun::trial::diagnosis
