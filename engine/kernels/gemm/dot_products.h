// Products with a transposed right factor, where it lies.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// C[i, j] = alpha * dot(A[i], B[j]) + beta * C[i, j] for rows A[i] [K] and B[j] [K]: the product with a
/// transposed B, without packing it. The sums run over vector lanes, so rounding differs from the other
/// products.
template <class T>
struct DotProducts {
  int64_t rows, columns, K;
  const T* A;
  int64_t lda;
  const T* B;
  int64_t ldb;
  T* C;
  int64_t ldc;
  T alpha, beta;
};
void multiply_dots(const DotProducts<float>& p);
void multiply_dots(const DotProducts<double>& p);

/// The same for several rows of A, which share what is read of B; a sum runs over the lanes of one vector,
/// and rounds differently again. A should fit into the second level of the cache.
void multiply_dot_block(const DotProducts<float>& p);
void multiply_dot_block(const DotProducts<double>& p);

}  // namespace grurun::kernels
