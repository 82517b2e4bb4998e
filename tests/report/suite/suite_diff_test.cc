#include "report/suite/suite_diff.h"

#include <gtest/gtest.h>

#include "report/suite/tally.h"

namespace grurun::report {
namespace {

conformance::SuiteResult suite_of(const std::vector<double>& seconds) {
  conformance::SuiteResult result;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    conformance::Case test;
    test.kind = "node";
    test.name = "test_" + std::to_string(i);
    result.cases.push_back(test);
    conformance::CaseOutcome outcome;
    outcome.ran = true;
    outcome.result.seconds = seconds[i];
    result.outcomes.push_back(outcome);
  }
  return result;
}

std::vector<std::string> slower(const std::vector<double>& before, const std::vector<double>& after) {
  std::vector<std::string> names;
  for (const Change& change : diff_suites(suite_of(before), suite_of(after)).changes)
    if (change.kind == ChangeKind::slower) names.push_back(change.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(SuiteDiff, CallsACaseSlowerOnlyBeyondWhatTheMachineSlowedTheOthers) {
  const std::vector<double> before(12, 1.0);
  std::vector<double> busy(12, 2.0);
  EXPECT_EQ(slower(before, busy), Names()) << "all of them";
  busy[3] = 3.5;
  EXPECT_EQ(slower(before, busy), Names{"node/test_3"}) << "one more than the others";
  std::vector<double> idle(12, 0.9);
  idle[3] = 1.8;
  EXPECT_EQ(slower(before, idle), Names{"node/test_3"});
  EXPECT_EQ(slower({1.0}, {1.6}), Names{"node/test_0"}) << "no other case says how busy the machine was";
  EXPECT_EQ(slower({0.01}, {0.05}), Names()) << "less than a tenth of a second";
}

TEST(SuiteDiff, AFailedExpandedCaseCountsForItsOperator) {
  using conformance::Verdict;
  const std::vector<std::string> body = {"Add", "Mul", "Sqrt"};
  struct Row {
    const char* name;
    Verdict verdict;
    std::vector<std::string> counted;
  };
  const Row rows[] = {
      {"test_layer_normalization_2d_axis0_expanded", Verdict::differs, {"LayerNormalization"}},
      {"test_layer_normalization_2d_axis0_expanded", Verdict::passed, body},
      {"test_reduce_l2_keep_dims_random_expanded", Verdict::crashed, {"ReduceL2"}},
      {"test_elu_expanded_ver18", Verdict::differs, {"Elu"}},
      {"test_layer_normalization_2d_axis0", Verdict::differs, body},
      {"test_qqq_expanded", Verdict::differs, body},
  };
  for (const Row& row : rows)
    EXPECT_EQ(counted_operators(row.name, row.verdict, body), row.counted) << row.name;
}

}  // namespace
}  // namespace grurun::report
