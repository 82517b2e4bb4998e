#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"

namespace grurun::kernels {

/// C = A * B for A [M, K], B [K, N], C [M, N] of any arithmetic types, each element summed in Acc, k
/// ascending, and then converted to Out. Integer sums wrap around modulo 2^bits as unsigned arithmetic does.
/// The definition that gemm and gemm_integer are tested against, and the product for integers of 8 and 16
/// bits.
template <class Acc, class TA, class TB, class Out>
void gemm_generic(int64_t M, int64_t N, int64_t K, Matrix<TA> A, Matrix<TB> B, Out* C, int64_t ldc) {
  using Sum = typename std::conditional_t<std::is_integral_v<Acc>, std::make_unsigned<Acc>,
                                          std::type_identity<Acc>>::type;
  constexpr int64_t column_count = 128;
  const int64_t a_row = A.transposed ? 1 : A.ld, a_column = A.transposed ? A.ld : 1;
  const int64_t b_row = B.transposed ? 1 : B.ld, b_column = B.transposed ? B.ld : 1;
  const int64_t grain =
      tuning::plain_operations_of_thread / std::max<int64_t>(1, N * std::max<int64_t>(K, 1)) + 1;
  parallel_for(M, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      for (int64_t j0 = 0; j0 < N; j0 += column_count) {
        const int64_t columns = std::min(column_count, N - j0);
        Sum sum[column_count] = {};
        for (int64_t k = 0; k < K; ++k) {
          const auto a = static_cast<Sum>(A.data[i * a_row + k * a_column]);
          const TB* b = B.data + k * b_row + j0 * b_column;
          for (int64_t j = 0; j < columns; ++j) sum[j] += a * static_cast<Sum>(b[j * b_column]);
        }
        for (int64_t j = 0; j < columns; ++j)
          C[i * ldc + j0 + j] = static_cast<Out>(static_cast<Acc>(sum[j]));
      }
    }
  });
}

}  // namespace grurun::kernels
