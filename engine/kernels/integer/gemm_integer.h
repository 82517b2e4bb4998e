// Products of matrices of 32- and 64-bit integers, modulo 2^32 and 2^64: the same on every instruction set.
#pragma once

#include <cstdint>

#include "engine/kernels/gemm/gemm.h"

namespace grurun::kernels {

/// C = A * B for A [M, K], B [K, N], C [M, N], row-major with rows `ldc` apart, as gemm_generic<T>() defines
/// it (gemm_generic.h). T is int32_t, uint32_t, int64_t or uint64_t. C must not overlap A or B. Large
/// products use the threads of parallel_for.
template <class T>
void gemm_integer(int64_t M, int64_t N, int64_t K, Matrix<T> A, Matrix<T> B, T* C, int64_t ldc);

}  // namespace grurun::kernels
