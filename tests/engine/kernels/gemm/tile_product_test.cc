// Products on tile registers keep what products of float32 promise. Where a processor has none, what is
// tested here is its best instruction set.
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/gates/recurrent_scalar.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

using Floats = std::vector<float>;

// What goes through the tiles, where there are any: enough rows, columns and terms.
constexpr int64_t depth = 150, hidden = 100, gate_count = 3;

Floats numbers(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> draw;
  Floats all(static_cast<size_t>(count));
  for (float& number : all) number = draw(generator);
  return all;
}

/// X [rows, K] times weights [columns, K], by column as the weights have them.
class Projected {
 public:
  Projected(const Floats& X, const Floats& weights, int64_t K = depth)
      : W_(pack_gates<float>(gate_count, hidden, K, weights.data(), nullptr)),
        to_(X.size() / static_cast<size_t>(K) * static_cast<size_t>(W_.width())) {
    project({static_cast<int64_t>(X.size()) / K, {X.data(), K}, &W_, {to_.data(), W_.width()}},
            {0, W_.panels()});
  }

  const GatePanels<float>& weights() const { return W_; }
  float at(int64_t row, int64_t column) const {
    return to_[static_cast<size_t>(row * W_.width() + panel_column(W_, column / hidden, column % hidden))];
  }
  Floats row(int64_t row) const {
    Floats all;
    for (int64_t column = 0; column < gate_count * hidden; ++column) all.push_back(at(row, column));
    return all;
  }

 private:
  GatePanels<float> W_;
  Floats to_;
};

class TileProduct : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(TileProduct);

// (K + 3) / 2 units in the last place of the sum of the terms' magnitudes, as docs/instruction-sets.md has
// it.
TEST_P(TileProduct, ErrorsStayWithinTheBoundOfMatrixProducts) {
  for (const int64_t rows : {15, 16, 17, 31, 32, 33, 70}) {
    for (const int64_t K : {128, 129, 150, 159, 160, 161, 300}) {
      const Floats X = numbers(rows * K, 1), weights = numbers(gate_count * hidden * K, 2);
      const Projected projected(X, weights, K);
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < gate_count * hidden; ++column) {
          double want = 0, magnitudes = 0;
          for (int64_t k = 0; k < K; ++k) {
            const double term = static_cast<double>(X[static_cast<size_t>(row * K + k)]) *
                                static_cast<double>(weights[static_cast<size_t>(column * K + k)]);
            want += term;
            magnitudes += std::fabs(term);
          }
          const double bound = static_cast<double>(K + 3) / 2 * std::ldexp(magnitudes, -23);
          ASSERT_LE(std::fabs(projected.at(row, column) - want), bound)
              << rows << " rows, K " << K << ", row " << row << ", column " << column;
        }
      }
    }
  }
}

// Six products of parts: less than one of them would be off by 2^-16.
TEST_P(TileProduct, OneTermIsAsGoodAsAFloat32) {
  Floats X(static_cast<size_t>(32 * depth)), weights = numbers(gate_count * hidden * depth, 3);
  const Floats factors = numbers(32, 4);
  for (int64_t row = 0; row < 32; ++row)
    X[static_cast<size_t>(row * depth + 77)] = factors[static_cast<size_t>(row)];
  const Projected projected(X, weights);
  for (int64_t row = 0; row < 32; ++row) {
    for (int64_t column = 0; column < gate_count * hidden; ++column) {
      const double want = static_cast<double>(factors[static_cast<size_t>(row)]) *
                          static_cast<double>(weights[static_cast<size_t>(column * depth + 77)]);
      ASSERT_LE(std::fabs(projected.at(row, column) - want), 2 * std::ldexp(std::fabs(want), -23))
          << "row " << row << ", column " << column;
    }
  }
}

// Parts of these would be flushed to zero or overflow.
TEST_P(TileProduct, NumbersThatCannotBeSplitAreMultipliedNevertheless) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Floats weights = numbers(gate_count * hidden * depth, 5), X = numbers(32 * depth, 6);
  const Projected usual(X, weights);
  for (const float odd : {1e-20f, -3e38f, std::numeric_limits<float>::denorm_min(), infinity,
                          std::numeric_limits<float>::quiet_NaN()}) {
    SCOPED_TRACE(odd);
    Floats changed = X;
    for (int64_t k = 0; k < depth; ++k) changed[static_cast<size_t>(17 * depth + k)] = 0;
    changed[static_cast<size_t>(17 * depth + 149)] = odd;
    const Projected projected(changed, weights);
    for (int64_t row = 0; row < 32; ++row) {
      if (row == 17) {
        for (int64_t column = 0; column < gate_count * hidden; ++column) {
          const float want = odd * weights[static_cast<size_t>(column * depth + 149)],
                      got = projected.at(row, column);
          ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << got << " for " << want;
        }
      } else {
        ASSERT_EQ(projected.row(row), usual.row(row)) << "row " << row;
      }
    }
  }
}

TEST_P(TileProduct, WeightsThatCannotBeSplitKeepTheirMatrixFromTheTiles) {
  Floats X(static_cast<size_t>(32 * depth)), weights = numbers(gate_count * hidden * depth, 7);
  EXPECT_TRUE(Projected(X, weights).weights().suits_tiles());
  for (const float odd : {1e-20f, 2e38f, std::numeric_limits<float>::infinity()}) {
    weights[static_cast<size_t>(123 * depth + 40)] = odd;
    for (int64_t row = 0; row < 32; ++row) X[static_cast<size_t>(row * depth + 40)] = 0.5f;
    const Projected projected(X, weights);
    EXPECT_FALSE(projected.weights().suits_tiles());
    EXPECT_EQ(projected.at(31, 123), 0.5f * odd);
  }
}

// A row's result does not depend on the rows beside it, nor on how many threads share the panels.
TEST_P(TileProduct, PlaceDoesNotChangeABit) {
  const Floats weights = numbers(gate_count * hidden * depth, 8), X = numbers(64 * depth, 9);
  const Projected whole(X, weights);
  for (const int64_t rows : {15, 20, 32, 33}) {
    const Projected part(Floats(X.begin() + 20 * depth, X.begin() + (20 + rows) * depth), weights);
    for (int64_t row = 0; row < rows; ++row) ASSERT_EQ(part.row(row), whole.row(20 + row)) << row;
  }
}

}  // namespace
}  // namespace grurun::kernels
