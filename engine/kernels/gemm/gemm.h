#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/memory/memory.h"

/// Matrix products for float and double (instantiated for those two; gemm_generic.h serves other types).
/// The order of operations for one element of C depends on M, K and the storage of B, not on the number of
/// threads. NaN and infinities of A and B reach every element that they touch, zeros in the other factor
/// included.
namespace grurun::kernels {

/// A matrix in memory: row-major with rows `ld` elements apart, or, if `transposed`, the transpose of one.
/// The logical element (i, j) is data[i * ld + j], or data[j * ld + i].
template <class T>
struct Matrix {
  const T* data;
  int64_t ld;
  bool transposed = false;
};

/// C = alpha * A * B + beta * C for A [M, K], B [K, N], C [M, N], row-major with rows `ldc` apart.
/// If beta is 0, C is written without being read. Sizes may be 0: K = 0 gives beta * C. C must not overlap A
/// or B. Large products use the threads of parallel_for.
template <class T>
void gemm(int64_t M, int64_t N, int64_t K, T alpha, Matrix<T> A, Matrix<T> B, T beta, T* C, int64_t ldc);

/// A constant right factor [K, N], rearranged once for many products, and optionally the bias row that starts
/// its sums. Copies share the arrangement; it does not refer to the original.
template <class T>
class PackedB {
 public:
  PackedB() = default;

  int64_t K() const { return K_; }
  int64_t N() const { return N_; }

  /// Panel i, columns i * columns_of_panel<T> (gemm_tile.h) and on, zeros where the last has fewer: matrices
  /// [K, columns_together()] one after the other.
  const T* panel(int64_t i) const;
  int64_t columns_together() const { return together_; }

  /// The bias, followed by zeros up to a whole number of panels; nullptr if there is none.
  const T* bias() const { return bias_; }

 private:
  template <class U>
  friend PackedB<U> pack_b(int64_t K, int64_t N, Matrix<U> B, const U* bias);

  int64_t K_ = 0, N_ = 0, together_ = 0;
  std::shared_ptr<const memory::Block> block_;
  const T* bias_ = nullptr;
};

/// Packs B [K, N] with an optional bias [N], for the instruction set in use. Throws Error(limit) where the
/// allocator refuses.
template <class T>
PackedB<T> pack_b(int64_t K, int64_t N, Matrix<T> B, const T* bias = nullptr);

/// Where the sums of gemm_packed start.
enum class Start {
  bias,         // from the bias row, or 0: C is not read
  c_plus_bias,  // from what C holds, plus the bias row if there is one
};

/// C = start + A * B for A [M, B.K()], C [M, B.N()], row-major with rows `ldc` apart.
template <class T>
void gemm_packed(int64_t M, Matrix<T> A, const PackedB<T>& B, T* C, int64_t ldc, Start start = Start::bias);

}  // namespace grurun::kernels
