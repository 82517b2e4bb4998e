#include "engine/kernels/gemm/gemm.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/kernels/gemm/dot_products.h"
#include "engine/kernels/gemm/gemm_tile.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/vec/vec_transpose.h"
#include "tensor/error.h"

namespace grurun::kernels {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Columns of panel `i` of B [K, N], and what they take when packed.
template <class T>
int64_t panel_columns(int64_t N, int64_t i) {
  return std::min(columns_of_panel<T>, N - i * columns_of_panel<T>);
}
template <class T>
int64_t packed_width(int64_t columns) {
  return ceil_div(columns, columns_of_vector<T>) * columns_of_vector<T>;
}

/// Columns of a packed panel that lie side by side, for the instruction set in use.
template <class T>
int64_t columns_together() {
  return panel_tile().together * columns_of_vector<T>;
}

/// out: for each `together` columns a matrix [rows, together], one after the other, = B[k0 + i, j0 + j], with
/// zeros beyond `columns`; a last one may be narrower.
template <class T>
void pack_panel(Matrix<T> B, int64_t k0, int64_t rows, int64_t j0, int64_t columns, int64_t together,
                T* out) {
  constexpr int64_t vector = columns_of_vector<T>;
  if (!B.transposed && columns == columns_of_panel<T>) {  // copies of a known length need no call
    constexpr int64_t vectors = columns_of_panel<T> / vector;
    const int64_t aside = together == vector ? rows * vector : vector;
    const T* in = B.data + k0 * B.ld + j0;
    for (int64_t k = 0; k < rows; ++k, in += B.ld, out += together) {
      const T* ahead = k + tuning::rows_ahead < rows ? in + tuning::rows_ahead * B.ld : in;
      for (int64_t v = 0; v < vectors; ++v) {
        __builtin_prefetch(ahead + v * vector);
        std::memcpy(out + v * aside, in + v * vector, vector * sizeof(T));
      }
    }
    return;
  }
  const int64_t all = packed_width<T>(columns);
  for (int64_t first = 0; first < all; first += together, out += together * rows) {
    const int64_t width = std::min(together, all - first),
                  some = std::clamp<int64_t>(columns - first, 0, width);
    if (B.transposed) vec_transpose(B.data + (j0 + first) * B.ld + k0, B.ld, some, rows, out, width);
    for (int64_t k = 0; k < rows; ++k) {
      if (!B.transposed) std::copy_n(B.data + (k0 + k) * B.ld + j0 + first, some, out + k * width);
      std::fill(out + k * width + some, out + (k + 1) * width, T(0));
    }
  }
}

/// One product whose A is not transposed; B is either packed or where the caller has it.
template <class T>
struct Product {
  int64_t M, N, K;
  const T* A;
  int64_t lda;
  const PackedB<T>* packed;
  Matrix<T> B;
  T* C;
  int64_t ldc;
  Epilogue<T> first;  // for the first tuning::gemm_block_K rows of B; the others add to C

  Epilogue<T> epilogue(int64_t k0) const {
    if (k0 == 0) return first;
    if (first.alpha == 1 && first.beta == 0) return {.from_c = true};
    return {.alpha = first.alpha, .beta = 1};
  }

  bool direct(int64_t rows) const { return !packed && !B.transposed && rows <= tuning::gemm_direct_rows; }

  /// Rows [row, row + rows) times panel `i`.
  void panel(int64_t row, int64_t rows, int64_t i) const {
    alignas(64) T scratch[tuning::gemm_block_K * columns_of_panel<T>];
    const int64_t j0 = i * columns_of_panel<T>, columns = panel_columns<T>(N, i),
                  width = packed_width<T>(columns);
    for (int64_t k0 = 0; k0 < K || k0 == 0; k0 += tuning::gemm_block_K) {
      const int64_t depth = std::min(tuning::gemm_block_K, K - k0);
      PanelProduct<T> p{rows, columns,     depth, A + row * lda + k0, lda, scratch, width, C + row * ldc + j0,
                        ldc,  epilogue(k0)};
      if (p.epilogue.bias) p.epilogue.bias += j0;
      if (packed) {
        multiply_packed(p, i, k0);
        continue;
      }
      if (direct(rows) && columns == width) {
        p.B = B.data + k0 * B.ld + j0, p.ldb = B.ld;
      } else {
        // Read too few times for another arrangement to matter.
        pack_panel(B, k0, depth, j0, columns, columns_of_panel<T>, scratch);
      }
      multiply_panel(p);
    }
  }

  /// p with rows [k0, k0 + p.K) of packed panel `i` for its B.
  void multiply_packed(const PanelProduct<T>& p, int64_t i, int64_t k0) const {
    const int64_t together = packed->columns_together();
    for (int64_t first = 0; first < p.columns; first += together) {
      PanelProduct<T> part = p;
      part.columns = std::min(together, p.columns - first);
      part.ldb = std::min(together, p.ldb - first);
      part.B = packed->panel(i) + first * K + k0 * part.ldb;
      part.C += first;
      if (part.epilogue.bias) part.epilogue.bias += first;
      multiply_panel(part);
    }
  }

  /// The only row times panels [begin, end).
  void row(int64_t begin, int64_t end) const {
    const int64_t whole = packed || direct(1) ? std::clamp(N / columns_of_panel<T>, begin, end) : begin;
    const int64_t together = columns_together<T>();
    const int64_t j0 = begin * columns_of_panel<T>,
                  parts = (whole - begin) * (columns_of_panel<T> / together);
    for (int64_t k0 = 0; begin < whole && (k0 < K || k0 == 0); k0 += tuning::gemm_block_K) {
      const int64_t ldb = packed ? together : B.ld;
      const T* b = packed ? packed->panel(begin) + k0 * ldb : B.data + k0 * ldb + j0;
      Epilogue<T> e = epilogue(k0);
      if (e.bias) e.bias += j0;
      const int64_t stride = packed ? K * together : together;
      multiply_row({parts, std::min(tuning::gemm_block_K, K - k0), A + k0, b, stride, ldb, C + j0, e});
    }
    for (int64_t i = whole; i < end; ++i) panel(0, 1, i);
  }

  int64_t rows_a_block(int64_t panels) const {
    // For each part of a panel the rows pass by once more: they stay nearer.
    const bool in_parts = packed && packed->columns_together() < columns_of_panel<T>;
    const int64_t bytes = in_parts ? tuning::gemm_block_bytes / 2 : tuning::gemm_block_bytes;
    int64_t rows = std::clamp<int64_t>(bytes / (std::max<int64_t>(K, 1) * sizeof(T)), 128, 1024);
    // Every block packs the right factor anew: there are no more of them than keep all threads busy.
    const int64_t workers = threads_here();
    while (workers > 1 && rows > 32 && ceil_div(M, rows) * panels < 4 * workers) rows /= 2;
    return rows;
  }

  void run() const {
    const int64_t panels = ceil_div(N, columns_of_panel<T>);
    const int64_t most = M == 1 ? 1 : rows_a_block(panels), block = ceil_div(M, ceil_div(M, most)),
                  blocks = ceil_div(M, block);
    const int64_t operations =
        2 * std::min(M, block) * std::max<int64_t>(K, 1) * std::min(N, columns_of_panel<T>);
    const int64_t grain = ceil_div(tuning::gemm_operations_of_thread, operations);
    parallel_for(blocks * panels, grain, [&](int64_t begin, int64_t end) {
      if (M == 1) return row(begin, end);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first_row = task / panels * block;
        panel(first_row, std::min(block, M - first_row), task % panels);
      }
    });
  }
};

/// A as it is if it is row-major, else a copy that is, kept in `copy`.
template <class T>
Matrix<T> row_major(int64_t M, int64_t K, Matrix<T> A, std::optional<memory::Block>& copy) {
  if (!A.transposed) return A;
  if (M == 1 && A.ld == 1) return {A.data, K};
  copy.emplace(static_cast<size_t>(M * K) * sizeof(T));
  T* out = static_cast<T*>(copy->data());
  constexpr int64_t strip = tuning::strip_columns;
  parallel_for(ceil_div(M, strip),
               ceil_div(tuning::gemm_operations_of_thread, 4 * strip * std::max<int64_t>(K, 1)),
               [&](int64_t begin, int64_t end) {
                 const int64_t first = begin * strip, last = std::min(M, end * strip);
                 vec_transpose(A.data + first, A.ld, K, last - first, out + first * K, K);
               });
  return {out, K};
}

}  // namespace

template <class T>
void gemm(int64_t M, int64_t N, int64_t K, T alpha, Matrix<T> A, Matrix<T> B, T beta, T* C, int64_t ldc) {
  if (M <= 0 || N <= 0) return;
  if (N == 1 && M > 1 && ldc == 1) {  // a matrix times a column is a row times its transpose
    return gemm<T>(1, M, K, alpha, {B.data, B.ld, !B.transposed}, {A.data, A.ld, !A.transposed}, beta, C, M);
  }
  if (K <= 0) A.ld = B.ld = 0;  // there may be no data to point into
  std::optional<memory::Block> copy;
  A = row_major(M, K, A, copy);
  const bool few = M <= tuning::dot_rows && K >= tuning::dot_K;
  if (B.transposed && (few || (M <= tuning::dot_block_rows && K >= tuning::dot_block_K))) {
    parallel_for(N, ceil_div(tuning::gemm_operations_of_thread, 2 * M * K), [&](int64_t begin, int64_t end) {
      const DotProducts<T> products{M,    end - begin, K,   A.data, A.ld, B.data + begin * B.ld,
                                    B.ld, C + begin,   ldc, alpha,  beta};
      few ? multiply_dots(products) : multiply_dot_block(products);
    });
    return;
  }
  Product<T>{M, N, K, A.data, A.ld, nullptr, B, C, ldc, {.alpha = alpha, .beta = beta}}.run();
}

template <class T>
const T* PackedB<T>::panel(int64_t i) const {
  return static_cast<const T*>(block_->data()) + i * columns_of_panel<T> * K_;
}

template <class T>
PackedB<T> pack_b(int64_t K, int64_t N, Matrix<T> B, const T* bias) {
  const int64_t panels = ceil_div(N, columns_of_panel<T>), together = columns_together<T>();
  const int64_t weights = K * packed_width<T>(N);
  const int64_t biases = bias ? panels * columns_of_panel<T> : 0;
  auto block = std::make_shared<memory::Block>(static_cast<size_t>(weights + biases) * sizeof(T));
  T* out = static_cast<T*>(block->data());
  // Without terms there is nothing to pack, however many columns there are.
  parallel_for(K == 0 ? 0 : panels,
               ceil_div(tuning::gemm_operations_of_thread, 4 * columns_of_panel<T> * std::max<int64_t>(K, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   pack_panel(B, 0, K, i * columns_of_panel<T>, panel_columns<T>(N, i), together,
                              out + i * columns_of_panel<T> * K);
                 }
               });
  PackedB<T> packed;
  packed.K_ = K;
  packed.N_ = N;
  packed.together_ = together;
  if (bias) {
    std::fill(std::copy_n(bias, N, out + weights), out + weights + biases, T(0));
    packed.bias_ = out + weights;
  }
  packed.block_ = std::move(block);
  return packed;
}

template <class T>
void gemm_packed(int64_t M, Matrix<T> A, const PackedB<T>& B, T* C, int64_t ldc, Start start) {
  if (M <= 0 || B.N() <= 0) return;
  if (B.columns_together() != columns_together<T>())
    fail_internal("a factor is arranged for another instruction set than the one in use");
  std::optional<memory::Block> copy;
  A = row_major(M, B.K(), A, copy);
  const Epilogue<T> first{.bias = B.bias(), .from_c = start == Start::c_plus_bias};
  Product<T>{M, B.N(), B.K(), A.data, A.ld, &B, {}, C, ldc, first}.run();
}

template class PackedB<float>;
template class PackedB<double>;
template PackedB<float> pack_b(int64_t, int64_t, Matrix<float>, const float*);
template PackedB<double> pack_b(int64_t, int64_t, Matrix<double>, const double*);
template void gemm(int64_t, int64_t, int64_t, float, Matrix<float>, Matrix<float>, float, float*, int64_t);
template void gemm(int64_t, int64_t, int64_t, double, Matrix<double>, Matrix<double>, double, double*,
                   int64_t);
template void gemm_packed(int64_t, Matrix<float>, const PackedB<float>&, float*, int64_t, Start);
template void gemm_packed(int64_t, Matrix<double>, const PackedB<double>&, double*, int64_t, Start);

}  // namespace grurun::kernels
