// Panels multiplied on tile registers, where the instruction set in use has any.
#include "engine/kernels/gemm/split_product.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/machine/simd.h"
#include "tensor/memory/memory.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class SplitProduct : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(SplitProduct);

constexpr int64_t panel_width = columns_of_panel<float>;

/// A [rows, K], B [K, panel_width], C [rows, panel_width + 1], and a bias for each row.
struct Panel {
  Panel(int64_t rows, int64_t columns, int64_t K) : rows(rows), columns(columns), K(K) {
    std::mt19937 generator(static_cast<unsigned>(rows + 100 * K));
    std::uniform_real_distribution<float> draw(-1, 1);
    for (auto* values : {&A, &B, &C, &bias}) {
      const int64_t sizes[] = {rows * K, K * panel_width, rows * (panel_width + 1), rows};
      const auto which = static_cast<size_t>(values == &A ? 0 : values == &B ? 1 : values == &C ? 2 : 3);
      for (int64_t i = 0; i < sizes[which]; ++i) values->push_back(draw(generator));
    }
  }

  PanelProduct<float> product(std::vector<float>& to, bool from_c) const {
    to = C;
    PanelProduct<float> p{rows,     columns,     K,         A.data(),        K,
                          B.data(), panel_width, to.data(), panel_width + 1, {}};
    p.epilogue.row_bias = from_c ? nullptr : bias.data();
    p.epilogue.from_c = from_c;
    return p;
  }

  std::vector<float> split(bool from_c) const {
    const memory::Block pieces(static_cast<size_t>(split_bytes(rows, K)));
    split_rows(A.data(), K, rows, K, const_cast<void*>(pieces.data()));
    std::vector<float> to;
    multiply_split(product(to, from_c), pieces.data());
    return to;
  }

  std::vector<float> unsplit(bool from_c) const {
    std::vector<float> to;
    multiply_panel(product(to, from_c));
    return to;
  }

  float& a(int64_t row, int64_t k) { return A[static_cast<size_t>(row * K + k)]; }
  float& b(int64_t k, int64_t column) { return B[static_cast<size_t>(k * panel_width + column)]; }

  int64_t rows, columns, K;
  std::vector<float> A, B, C, bias;
};

/// As (K + 3) / 2 ULP of the sum of magnitudes, what every product of float32 promises.
void expect_close(Panel& p, bool from_c) {
  const std::vector<float> got = p.split(from_c);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t j = 0; j <= panel_width; ++j) {
      const auto at = static_cast<size_t>(r * (panel_width + 1) + j);
      if (j >= p.columns) {
        ASSERT_EQ(got[at], p.C[at]) << "wrote beyond C";
        continue;
      }
      double sum = from_c ? p.C[at] : p.bias[static_cast<size_t>(r)], magnitude = std::fabs(sum);
      for (int64_t k = 0; k < p.K; ++k) {
        const double product = static_cast<double>(p.a(r, k)) * static_cast<double>(p.b(k, j));
        sum += product, magnitude += std::fabs(product);
      }
      const double bound =
          static_cast<double>(p.K + 3) / 2 * magnitude * std::numeric_limits<float>::epsilon();
      ASSERT_NEAR(got[at], sum, bound) << p.rows << " rows, K " << p.K << ", at " << r << ", " << j;
    }
  }
}

TEST_P(SplitProduct, KeepsTheBoundOfFloat) {
  if (!tile_registers()) GTEST_SKIP() << "no tile registers";
  for (const int64_t rows : {1, 7, 16, 24, 32, 33, 100}) {
    for (const int64_t K : {split_terms, int64_t{33}, int64_t{70}, int64_t{100}, int64_t{513}}) {
      for (const int64_t columns : {1, 16, 17, 32, 47, 48}) {
        Panel p(rows, columns, K);
        expect_close(p, false);
        expect_close(p, true);
      }
    }
  }
}

TEST_P(SplitProduct, TakesWhatTilesDoNotMultiplyWellWithoutThem) {
  if (!tile_registers()) GTEST_SKIP() << "no tile registers";
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {infinity, -infinity, std::nanf(""), 1e-20f, 0x1p126f, 1e-42f}) {
    Panel p(50, 37, 70);
    const std::vector<float> before = p.split(false);
    p.a(40, 3) = odd, p.b(69, 20) = odd, p.b(5, 36) = odd;
    const std::vector<float> got = p.split(false), exact = p.unsplit(false);
    for (int64_t r = 0; r < p.rows; ++r) {
      for (int64_t j = 0; j < p.columns; ++j) {
        const auto at = static_cast<size_t>(r * (panel_width + 1) + j);
        const float expected = r == 40 || j == 20 || j == 36 ? exact[at] : before[at];
        ASSERT_EQ(std::bit_cast<uint32_t>(got[at]), std::bit_cast<uint32_t>(expected))
            << odd << " at " << r << ", " << j;
      }
    }
  }
}

TEST_P(SplitProduct, PartsOfTheDepthMakeTheSameSums) {
  if (!tile_registers()) GTEST_SKIP() << "no tile registers";
  Panel p(40, 48, 3 * split_terms + 5);
  const std::vector<float> whole = p.split(true);
  Panel first(40, 48, split_terms), rest(40, 48, 2 * split_terms + 5);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t k = 0; k < p.K; ++k) (k < first.K ? first.a(r, k) : rest.a(r, k - first.K)) = p.a(r, k);
  }
  first.B.assign(p.B.begin(), p.B.begin() + first.K * panel_width);
  rest.B.assign(p.B.begin() + first.K * panel_width, p.B.end());
  first.C = p.C;
  rest.C = first.split(true);
  EXPECT_EQ(rest.split(true), whole);
}

}  // namespace
}  // namespace grurun::kernels
