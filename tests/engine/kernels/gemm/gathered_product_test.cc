// Products whose factor lies anywhere, with and without a panel that is packed on the way.
#include <algorithm>
#include <random>
#include <vector>

#include "engine/kernels/gemm/gemm_tile.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class GatheredProducts : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(GatheredProducts);

template <class T>
std::vector<T> drawn_values(int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<T> draw(-1, 1);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) value = draw(generator);
  return values;
}

template <class T>
struct alignas(64) AlignedPanel {
  T values[32 * columns_of_panel<T>];
};

template <class T>
void check_packing(int64_t rows, int64_t columns, bool adds) {
  constexpr int64_t K = 29, unit = columns_of_vector<T>;
  const int64_t ldc = columns + 3, width = (columns + unit - 1) / unit * unit;
  const auto A = drawn_values<T>(rows * K, 1), B = drawn_values<T>(2000, 2), bias = drawn_values<T>(rows, 3);
  auto C = drawn_values<T>(rows * ldc, 4), expected = C;
  std::vector<int64_t> offset;
  for (int64_t k = 0; k < K; ++k) offset.push_back(k * 37 % 29 * 60 + k % 3);
  Epilogue<T> epilogue;
  epilogue.row_bias = bias.data();
  epilogue.from_c = adds;
  GatheredProduct<T> product{rows,          columns,         K,   A.data(), K, B.data(),
                             offset.data(), expected.data(), ldc, epilogue};
  multiply_gathered(product);
  product.C = C.data();
  AlignedPanel<T> packed;
  std::ranges::fill(packed.values, T(7));
  multiply_gathered(product, packed.values);
  ASSERT_EQ(C, expected) << rows << " rows, " << columns << " columns";
  for (int64_t i = 0; i < K * width && rows > 8; ++i) {
    if (i % width >= columns) continue;
    ASSERT_EQ(packed.values[i], B[static_cast<size_t>(offset[static_cast<size_t>(i / width)] + i % width)])
        << rows << " rows, " << columns << " columns, " << i;
  }
  for (int64_t i = K * width; i < 32 * columns_of_panel<T>; ++i) ASSERT_EQ(packed.values[i], T(7)) << i;
}

TEST_P(GatheredProducts, PackAPanelOnTheWay) {
  for (const int64_t rows : {1, 4, 7, 9, 13, 33}) {
    for (const int64_t columns : {1, 7, 16, 17, 23, 24}) {
      check_packing<double>(rows, columns, rows % 2 == 0);
      check_packing<float>(rows, 2 * columns - 1, rows % 2 == 0);
      check_packing<float>(rows, 2 * columns, rows % 2 != 0);
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
