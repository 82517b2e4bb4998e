#include "engine/kernels/integer/gemm_integer.h"

#include <cstddef>
#include <random>
#include <vector>

#include "engine/kernels/gemm/gemm_generic.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class GemmInteger : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(GemmInteger);

/// Sizes on both sides of every tile, strip and block, with all storage orders, rows 3 elements too long
/// each.
template <class T>
void check_every_size() {
  std::mt19937_64 draw(11);
  const int64_t sizes[][3] = {{1, 1, 1},   {1, 65, 7},    {2, 3, 300}, {3, 32, 256}, {4, 64, 257}, {5, 70, 0},
                              {7, 33, 31}, {65, 130, 20}, {66, 9, 5},  {64, 128, 9}, {0, 4, 3},    {3, 0, 4}};
  for (const auto& [M, N, K] : sizes) {
    for (const int storage : {0, 1, 2, 3}) {
      const bool transA = storage & 1, transB = storage & 2;
      SCOPED_TRACE(testing::Message() << "M=" << M << " N=" << N << " K=" << K << (transA ? " transA" : "")
                                      << (transB ? " transB" : ""));
      const int64_t lda = (transA ? M : K) + 3, ldb = (transB ? K : N) + 3, ldc = N + 3;
      std::vector<T> a(static_cast<size_t>(lda * (transA ? K : M))),
          b(static_cast<size_t>(ldb * (transB ? N : K))), c(static_cast<size_t>(ldc * M), T{77}),
          expected = c;
      for (T& v : a) v = static_cast<T>(draw());
      for (T& v : b) v = static_cast<T>(draw());
      const Matrix<T> A{a.data(), lda, transA}, B{b.data(), ldb, transB};
      gemm_generic<T>(M, N, K, A, B, expected.data(), ldc);
      gemm_integer<T>(M, N, K, A, B, c.data(), ldc);
      EXPECT_EQ(c, expected);
    }
  }
}

TEST_P(GemmInteger, EveryTypeEqualsTheDefinition) {
  for (const int threads : {1, 2}) {
    set_threads(threads);
    check_every_size<int32_t>();
    check_every_size<uint32_t>();
    check_every_size<int64_t>();
    check_every_size<uint64_t>();
  }
}

}  // namespace
}  // namespace grurun::kernels
