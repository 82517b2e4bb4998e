#include "trial/headroom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "trial/compare.h"

namespace grurun::trial {
namespace {

constexpr double beyond_all = std::numeric_limits<double>::infinity();

TEST(Headroom, OfNothingIsZero) {
  EXPECT_EQ(Headroom().least_atol(0), 0);
  EXPECT_EQ(Headroom().least_rtol(0), 0);
}

TEST(Headroom, NoToleranceHelpsWhatIsHopeless) {
  Headroom headroom;
  headroom.add(1, 0.5);
  headroom.add_hopeless();
  EXPECT_EQ(headroom.least_atol(1), beyond_all);
  EXPECT_EQ(headroom.least_rtol(1), beyond_all);
}

TEST(Headroom, OnlyAnAtolHelpsWhereZeroIsExpected) {
  Headroom headroom;
  headroom.add(0, 0.5);
  EXPECT_EQ(headroom.least_rtol(0.25), beyond_all);
  EXPECT_EQ(headroom.least_rtol(0.5), 0);
  EXPECT_EQ(headroom.least_atol(10), 0.5);
}

// Thousands of elements, of which a few decide, tell the same as all of them.
TEST(Headroom, IsThatOfAllElements) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> some(0, 3);
  for (const std::size_t count : {1u, 2u, 100u, 20000u}) {
    Headroom headroom;
    std::vector<ElementError> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back({some(random), some(random)});
      headroom.add(all.back().size, all.back().error);
    }
    for (const double given : {0.0, 1e-3, 0.5, 2.0, 100.0}) {
      double atol = 0, rtol = 0;
      for (const ElementError& each : all) {
        atol = std::max(atol, each.error - given * each.size);
        rtol = std::max(rtol, (each.error - given) / each.size);
      }
      EXPECT_NEAR(headroom.least_atol(given), atol, 1e-12 * atol) << count << " " << given;
      EXPECT_NEAR(headroom.least_rtol(given), rtol, 1e-12 * rtol) << count << " " << given;
    }
    EXPECT_LT(headroom.points().size(), 200u);
  }
}

// What is told passes, and nothing that is much less does.
TEST(Headroom, IsWhatTheComparisonNeeds) {
  std::mt19937 random(3);
  std::normal_distribution<float> some;
  std::vector<float> actual(500), expected(500);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    expected[i] = some(random);
    actual[i] = expected[i] + 1e-3f * some(random);
  }
  const Tensor a = Tensor::from(Shape{500}, actual), e = Tensor::from(Shape{500}, expected);
  const auto passes = [&](double rtol, double atol) { return compare_values(a, e, {{rtol, atol}, {}}).ok; };
  const Headroom headroom = compare_values(a, e, {}).headroom;
  for (const double rtol : {0.0, 1e-5, 1e-3}) {
    const double atol = headroom.least_atol(rtol);
    EXPECT_TRUE(passes(rtol, atol));
    EXPECT_FALSE(passes(rtol, atol * (1 - 1e-12)));
  }
  for (const double atol : {0.0, 1e-5, 1e-3}) {
    const double rtol = headroom.least_rtol(atol);
    EXPECT_TRUE(passes(rtol, atol));
    EXPECT_FALSE(passes(rtol * (1 - 1e-12), atol));
  }
}

TEST(UlpCounts, AreInPowersOfTwo) {
  UlpCounts counts;
  for (const std::uint64_t distance : {1, 1, 2, 3, 4, 7, 8}) count_ulp(counts, distance);
  EXPECT_EQ(counts, (UlpCounts{0, 2, 2, 2, 1}));
  const Comparison found = compare_values(
      Tensor::from(Shape{4}, std::vector<float>{1, 1, 1, 0}),
      Tensor::from(Shape{4}, std::vector<float>{1, std::nextafter(1.0f, 2.0f), 1.25f, -0.0f}), {});
  EXPECT_EQ(found.unequal, 2);
  ASSERT_EQ(found.ulps.size(), 23u);
  EXPECT_EQ(found.ulps[1], 1);
  EXPECT_EQ(found.ulps[22], 1);
}

// --- rules of a policy ---

AccuracyRule accuracy_rule(const char* what) {
  AccuracyRule rule;
  rule.place = "p.toml:1";
  rule.reason = what;
  return rule;
}

Comparison judged(const AccuracyRule& rule, const Tensor& actual, const Tensor& expected) {
  Tolerances tolerances;
  tolerances.rule = [&](DType) { return &rule; };
  return compare_values(actual, expected, tolerances);
}

Tensor float_tensor(std::vector<float> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return Tensor::from(shape, std::move(values));
}

TEST(AccuracyRule, MaxUlpTakesThePlaceOfTheTolerance) {
  AccuracyRule rule = accuracy_rule("ulp");
  rule.max_ulp = 2;
  const float next = std::nextafter(1.0f, 2.0f), third = std::nextafter(std::nextafter(next, 2.0f), 2.0f);
  EXPECT_TRUE(judged(rule, float_tensor({next}), float_tensor({1})).ok);
  const Comparison far = judged(rule, float_tensor({third, 1}), float_tensor({1, 1}));
  EXPECT_FALSE(far.ok);
  EXPECT_EQ(far.errors.differing, 1);
  EXPECT_NE(describe(far).find("differ beyond 2 ulp by p.toml:1"), std::string::npos) << describe(far);
  rule.tolerance.rtol = 1e-9;
  EXPECT_FALSE(judged(rule, float_tensor({next}), float_tensor({1})).ok) << "both must hold";
}

TEST(AccuracyRule, BelowTheFloorStepsAreThoseOfTheFloor) {
  AccuracyRule rule = accuracy_rule("floor");
  rule.max_ulp = 4;
  EXPECT_FALSE(judged(rule, float_tensor({1e-9f}), float_tensor({-1e-9f})).ok);
  rule.ulp_floor = 1.0 / 64;  // a step is 2^-29 there, about 1.9e-9
  EXPECT_TRUE(judged(rule, float_tensor({1e-9f}), float_tensor({-1e-9f})).ok);
  EXPECT_FALSE(judged(rule, float_tensor({1e-8f}), float_tensor({-1e-8f})).ok);
  const auto halves = [](float value) {
    return Tensor::from(Shape{1}, std::vector<Float16>{Float16(value)});
  };
  rule.ulp_floor = 1;  // 2^-10
  EXPECT_TRUE(judged(rule, halves(0.0038f), halves(0)).ok);
  EXPECT_FALSE(judged(rule, halves(0.0041f), halves(0)).ok);
}

TEST(AccuracyRule, IntegersCountByOne) {
  AccuracyRule rule = accuracy_rule("quantized");
  rule.max_ulp = 1;
  const auto bytes = [](std::vector<std::uint8_t> values) {
    return Tensor::from(Shape{2}, std::move(values));
  };
  EXPECT_TRUE(judged(rule, bytes({3, 5}), bytes({4, 5})).ok);
  EXPECT_FALSE(judged(rule, bytes({2, 5}), bytes({4, 5})).ok);
}

TEST(AccuracyRule, AShareMayDiffer) {
  AccuracyRule rule = accuracy_rule("share");
  rule.differing = 0.25;
  EXPECT_TRUE(judged(rule, float_tensor({2, 1, 1, 1}), float_tensor({1, 1, 1, 1})).ok);
  EXPECT_FALSE(judged(rule, float_tensor({2, 2, 1, 1}), float_tensor({1, 1, 1, 1})).ok);
  EXPECT_FALSE(judged(rule, float_tensor({NAN, 1, 1, 1}), float_tensor({1, 1, 1, 1})).ok) << "NaN never may";
}

TEST(AccuracyRule, CosineAndSignalToNoise) {
  AccuracyRule rule = accuracy_rule("whole");
  rule.cosine = 0.99;
  EXPECT_TRUE(judged(rule, float_tensor({2, 2}), float_tensor({1, 1})).ok) << "of one direction";
  const Comparison turned = judged(rule, float_tensor({1, 0}), float_tensor({1, 1}));
  EXPECT_FALSE(turned.ok);
  EXPECT_NE(describe(turned).find("cosine 0.707107, below 0.99 of p.toml:1"), std::string::npos)
      << describe(turned);
  rule.cosine.reset();
  rule.snr = 20;
  EXPECT_TRUE(judged(rule, float_tensor({1.05f, 1}), float_tensor({1, 1})).ok);
  EXPECT_FALSE(judged(rule, float_tensor({1.5f, 1}), float_tensor({1, 1})).ok);
  EXPECT_FALSE(judged(rule, float_tensor({NAN, 1}), float_tensor({1, 1})).ok);
}

}  // namespace
}  // namespace grurun::trial
