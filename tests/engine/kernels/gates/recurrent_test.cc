// Every instruction set computes what recurrent_scalar.h says, whatever the sizes.
#include "engine/kernels/gates/recurrent.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/kernels/recurrent_step.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

// Of max(1, |y|), in units in the last place of the type; the sums here have up to 150 terms of about 1/10.
// It is the bound that docs/instruction-sets.md states.
constexpr double most_ulps = 16;

template <class T>
constexpr double ulp = std::numeric_limits<T>::epsilon();

class RecurrentStep : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(RecurrentStep);

template <class T, class Rounded = T>
void expect_defined_results() {
  double worst = 0;
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    // Padded rows of float and double differ, and what is drawn with them: the definition is of the same
    // type.
    Step<T, Rounded> step(variant, sizes, projected), definition(variant, sizes, projected);
    step.run();
    definition.define();
    EXPECT_FALSE(step.wrote_beyond_a_row());
    const std::vector<double> got = step.results(), want = definition.results();
    for (size_t i = 0; i < got.size(); ++i) {
      const double ulps = std::fabs(got[i] - want[i]) / (ulp<T> * std::max(1.0, std::fabs(want[i])));
      worst = std::max(worst, ulps);
      ASSERT_LE(ulps, most_ulps) << "element " << i << ": " << got[i] << ", by definition " << want[i];
    }
  });
  testing::Test::RecordProperty("worst_ulps", std::to_string(worst));
}

TEST_P(RecurrentStep, FloatsAreAsDefined) {
  expect_defined_results<float>();
}

TEST_P(RecurrentStep, DoublesAreAsDefined) {
  expect_defined_results<double>();
  expect_defined_results<double, float>();
}

TEST_P(RecurrentStep, TheOrderOfPanelsDoesNotMatter) {
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    Step<float> whole(variant, sizes, projected), parts(variant, sizes, projected);
    whole.run();
    const int64_t middle = parts.panels() / 2;
    parts.run({middle, parts.panels(), true});
    parts.run({0, middle, true});
    EXPECT_EQ(whole.results(), parts.results());
  });
}

TEST_P(RecurrentStep, WithoutAItIsZero) {
  for_each_case([&](const Variant& variant, const Sizes& sizes, bool projected) {
    Step<float> zeros(variant, sizes, projected), none(variant, sizes, projected);
    zeros.clear_A();
    zeros.run();
    none.leave_out_A();
    none.run();
    EXPECT_EQ(zeros.results(), none.results());
  });
}

TEST_P(RecurrentStep, NanReachesItsOwnRowOnly) {
  const Variant variant = variants()[1];
  Step<float> clean(variant, {4, 3, 20}, false);
  clean.run();
  std::vector<float> H(4 * 20, 0.25f);
  H[2 * 20 + 5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> weights(static_cast<size_t>(lstm_gates * 20 * 20), 0.125f);
  const auto R = pack_gates<float>(lstm_gates, 20, 20, weights.data(), nullptr);
  const std::vector<float> projected(static_cast<size_t>(4 * R.width()), 0.5f);
  std::vector<float> C(static_cast<size_t>(4 * R.padded_size()), 0.5f), out(4 * 20);
  const Cell<float> cell{.kind = CellKind::lstm, .W = &R, .R = &R, .functions = variant.functions};
  cell_step(cell,
            {.rows = 4,
             .A = {H.data(), 20},
             .projected = {projected.data(), R.width()},
             .X = {},
             .H = {H.data(), 20},
             .out = {out.data(), 20},
             .C = {C.data(), R.padded_size()},
             .z = {},
             .reset = {}},
            {0, R.panels()});
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out[i]), i / 20 == 2) << i;
}

TEST_P(RecurrentStep, ProjectionsAreAsDefined) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> draw(-1, 1);
  for (const Sizes& sizes : cell_sizes) {
    for (const int64_t gates : {1, 2, 3, 4}) {
      for (const bool biased : {false, true}) {
        SCOPED_TRACE(std::to_string(gates) + " gates, hidden_size " + std::to_string(sizes.hidden_size));
        const int64_t K = sizes.input_size;
        std::vector<float> weights(static_cast<size_t>(gates * sizes.hidden_size * K)),
            X(static_cast<size_t>(sizes.rows * K)), bias(static_cast<size_t>(gates * sizes.hidden_size));
        for (auto* all : {&weights, &X, &bias}) {
          for (float& number : *all) number = draw(generator);
        }
        const auto W =
            pack_gates<float>(gates, sizes.hidden_size, K, weights.data(), biased ? bias.data() : nullptr);
        std::vector<float> to(static_cast<size_t>(sizes.rows * W.width()), 7.0f);
        project({sizes.rows, {X.data(), K}, &W, {to.data(), W.width()}}, {0, W.panels()});
        for (int64_t row = 0; row < sizes.rows; ++row) {
          for (int64_t column = 0; column < gates * sizes.hidden_size; ++column) {
            double want = biased ? bias[static_cast<size_t>(column)] : 0, sum = 1;
            for (int64_t k = 0; k < K; ++k) {
              const double term = static_cast<double>(X[static_cast<size_t>(row * K + k)]) *
                                  static_cast<double>(weights[static_cast<size_t>(column * K + k)]);
              want += term;
              sum += std::fabs(term);
            }
            const int64_t at = panel_column(W, column / sizes.hidden_size, column % sizes.hidden_size);
            const double got = to[static_cast<size_t>(row * W.width() + at)];
            ASSERT_LE(std::fabs(got - want), 4 * ulp<float> * sum) << "row " << row << ", column " << column;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
