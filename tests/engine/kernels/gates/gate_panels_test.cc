// Weights that lie in fewer bits in memory give the same results; what is told of weights.
#include "engine/kernels/gates/gate_panels.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/recurrent_step.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class CompactWeights : public EveryTarget {
 protected:
  CompactWeights() { tuning::override_most_compact_rows(most_rows); }
  ~CompactWeights() override { tuning::override_most_compact_rows({}); }

  static constexpr int64_t most_rows = 8;
  static bool there_are_some() { return simd_target() == "avx512" || simd_target() == "amx"; }
};
GRURUN_FOR_EVERY_TARGET(CompactWeights);

TEST_P(CompactWeights, StepsAreTheSameInEveryBit) {
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    Step<float> plain(variant, sizes, projected), compact(variant, sizes, projected);
    plain.run();
    compact.arrange();
    compact.run();
    EXPECT_EQ(plain.results(), compact.results());
  });
}

TEST_P(CompactWeights, ProductsAreTheSameInEveryBit) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> draw(-0.1f, 0.1f);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // Panels of 1, 2, 3 and 4 vectors; K with rows after the last group and without.
  for (const int64_t hidden : {9, 80, 130, 60}) {
    for (const int64_t K : {8, 64, 77}) {
      std::vector<float> weights(static_cast<size_t>(2 * hidden * K)), X(static_cast<size_t>(9 * K));
      for (auto* all : {&weights, &X}) {
        for (float& number : *all) number = draw(generator);
      }
      // What is not compact, in some groups, so that others lie between them.
      if (K > 8) {
        weights[static_cast<size_t>(K + 20)] = 1e-20f;
        weights[static_cast<size_t>(3 * K + 40)] = infinity;
        weights[static_cast<size_t>((hidden + 1) * K)] = 3e30f;
      }
      weights[5] = -0.0f;
      const auto panels = [&] { return pack_gates<float>(2, hidden, K, weights.data(), nullptr); };
      const auto plain = panels();
      auto compact = panels();
      EXPECT_EQ(compact.wants_arranging(1), there_are_some());
      compact.arrange(1);
      EXPECT_EQ(compact.compact() != nullptr, there_are_some());
      EXPECT_FALSE(compact.wants_arranging(most_rows));
      for (const float x : {0.5f, 1e30f, -infinity, 1e-42f}) {
        X[static_cast<size_t>(K - 2)] = x;
        for (int64_t rows = 1; rows <= most_rows; ++rows) {
          SCOPED_TRACE(fmt::format("hidden_size {}, K {}, x {}, {} rows", hidden, K, x, rows));
          const auto product = [&](const GatePanels<float>& by) {
            std::vector<float> out(static_cast<size_t>(rows * by.width()), 7.0f);
            project({rows, {X.data(), K}, &by, {out.data(), by.width()}}, {0, by.panels()});
            return bits_of(out);
          };
          ASSERT_EQ(product(plain), product(compact));
        }
      }
      EXPECT_EQ(compact.wants_arranging(most_rows + 1), there_are_some());
      compact.arrange(most_rows + 1);
      EXPECT_EQ(compact.compact(), nullptr);
      EXPECT_FALSE(compact.wants_arranging(1));
      const auto bytes = static_cast<size_t>(K * plain.width()) * sizeof(float);
      EXPECT_EQ(std::memcmp(plain.panel(0), compact.panel(0), bytes), 0);
    }
  }
}

class NarrowWeights : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(NarrowWeights);

TEST_P(NarrowWeights, DoublesThatFloat32HoldsAreReadFromIt) {
  constexpr int64_t gates = gru_gates, hidden = 70, K = 90;
  std::mt19937 generator(11);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<double> weights(gates * hidden * K), X(9 * K);
  for (auto* all : {&weights, &X}) {
    for (double& number : *all) number = static_cast<double>(draw(generator));
  }
  const auto narrow = pack_gates<double>(gates, hidden, K, weights.data(), nullptr);
  const bool wide_vectors = simd_target() != "sse4" && simd_target() != "scalar" && simd_target() != "neon";
  EXPECT_EQ(narrow.narrow_panel(0) != nullptr, wide_vectors);
  // One weight that float32 does not hold, and all are read as float64: only its own unit may change.
  weights.back() += 0x1p-40;
  const auto wide = pack_gates<double>(gates, hidden, K, weights.data(), nullptr);
  EXPECT_EQ(wide.narrow_panel(0), nullptr);
  const int64_t other = panel_column(narrow, gates - 1, hidden - 1);
  for (int64_t rows = 1; rows <= 9; ++rows) {
    std::vector<double> from_narrow(static_cast<size_t>(rows * narrow.width()), 7.0), from_wide = from_narrow;
    project({rows, {X.data(), K}, &narrow, {from_narrow.data(), narrow.width()}}, {0, narrow.panels()});
    project({rows, {X.data(), K}, &wide, {from_wide.data(), wide.width()}}, {0, wide.panels()});
    for (int64_t i = 0; i < rows * narrow.width(); ++i) {
      if (i % narrow.width() == other) continue;
      ASSERT_EQ(from_narrow[static_cast<size_t>(i)], from_wide[static_cast<size_t>(i)])
          << rows << " rows, " << i;
    }
    EXPECT_NE(from_narrow[static_cast<size_t>(other)], from_wide[static_cast<size_t>(other)]);
  }
}

TEST(GatePanelsHalves, ManyUnitsHavePanelsOfThreeAndFourVectorsOnEachSideOfTheMiddle) {
  for (int64_t vectors = 1; vectors <= 70; ++vectors) {
    SCOPED_TRACE(testing::Message() << vectors << " vectors");
    const int64_t hidden = vectors * gate_lanes<float>;
    const std::vector<float> rows(static_cast<size_t>(hidden));
    const auto panels = pack_gates<float>(1, hidden, 1, rows.data(), nullptr);
    ASSERT_EQ(panels.padded_size(), hidden);
    bool divides = false;
    for (int64_t i = 0; i < panels.panels(); ++i) {
      const int64_t width = panels.units(i) / gate_lanes<float>;
      EXPECT_TRUE(width == 3 || width == 4 || vectors < 6) << width;
      divides |= panels.first_unit(i) == (vectors + 1) / 2 * gate_lanes<float>;
    }
    EXPECT_TRUE(divides || vectors < 12);
  }
}

TEST(GatePanelsFinite, TellsInfinityAndNaN) {
  std::vector<double> rows(2 * 20 * 3, 1e300);
  EXPECT_TRUE(pack_gates<double>(2, 20, 3, rows.data(), nullptr).finite());
  rows.back() = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(pack_gates<double>(2, 20, 3, rows.data(), nullptr).finite());
  std::vector<float> floats(2 * 20 * 3, 3e38f);  // too large for tiles
  EXPECT_TRUE(pack_gates<float>(2, 20, 3, floats.data(), nullptr).finite());
  floats.front() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(pack_gates<float>(2, 20, 3, floats.data(), nullptr).finite());
}

}  // namespace
}  // namespace grurun::kernels
