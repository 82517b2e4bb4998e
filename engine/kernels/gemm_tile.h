#pragma once

#include <cstdint>

/// The innermost products of gemm, one implementation for each instruction set, chosen at run time.
namespace grurun::kernels {

/// Columns of one panel of B: three vectors of the widest instruction set. Narrower ones walk a panel in
/// parts.
template <class T>
inline constexpr int64_t kPanelColumns = 192 / static_cast<int64_t>(sizeof(T));

/// Columns in one vector of the widest instruction set: a packed panel's width is a multiple of it.
template <class T>
inline constexpr int64_t kVectorColumns = 64 / static_cast<int64_t>(sizeof(T));

/// What becomes of C [rows, columns]:
///   acc = (from_c ? C : 0) + (bias ? bias[column] : 0) + (row_bias ? row_bias[row] : 0), then
///   acc += A[row, k] * B[k, column] with k ascending, then C = alpha * acc + beta * C, where C is not read
///   if beta is 0.
/// The order of operations for one element does not depend on the tile it falls into.
template <class T>
struct Epilogue {
  const T* bias = nullptr;      // padded like a packed panel
  const T* row_bias = nullptr;  // [rows]
  bool from_c = false;
  T alpha = 1;
  T beta = 0;
};

/// A [rows, K], row-major, times one panel.
/// B [K, columns]: rows `ldb` apart, readable up to `columns` rounded up to a multiple of kVectorColumns.
/// At most kPanelColumns columns; only `columns` of C are read or written.
template <class T>
struct PanelProduct {
  int64_t rows, columns, K;
  const T* A;
  int64_t lda;
  const T* B;
  int64_t ldb;
  T* C;
  int64_t ldc;
  Epilogue<T> epilogue;
};
void multiply_panel(const PanelProduct<float>& p);
void multiply_panel(const PanelProduct<double>& p);

/// The same for a B whose rows lie anywhere: row k begins at B + offset[k], and is as long as there.
template <class T>
struct GatheredProduct {
  int64_t rows, columns, K;
  const T* A;
  int64_t lda;
  const T* B;
  const int64_t* offset;
  T* C;
  int64_t ldc;
  Epilogue<T> epilogue;
};
void multiply_gathered(const GatheredProduct<float>& p);
void multiply_gathered(const GatheredProduct<double>& p);

/// packed [rows, columns rounded up to kVectorColumns] = the rows that begin at B + offset[k], with zeros
/// beyond `columns`, which are kPanelColumns at most: B for multiply_panel, where several rows of A make it
/// worth it. packed is aligned to 64 bytes.
void gather_panel(const float* B, const int64_t* offset, int64_t rows, int64_t columns, float* packed);
void gather_panel(const double* B, const int64_t* offset, int64_t rows, int64_t columns, double* packed);

/// A panel's columns where they are not adjacent in B: runs of kVectorColumns elements, from[i] of a row of B
/// on to to[i] of the packed row. `to` ascends; what a run copies too much the next one, or the next row,
/// writes over.
struct PanelRuns {
  static constexpr int64_t kMost = 52;  // one for each column, and those that fill the last vector
  int64_t count = 0;
  int64_t from[kMost], to[kMost];
};

/// packed [rows, width]: every row that begins at B + offset[k], by its runs. What is read of B reaches
/// kVectorColumns elements from the beginning of a run; what is written, as many beyond the end of packed.
void gather_runs(const float* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 float* packed);
void gather_runs(const double* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 double* packed);

/// One row a [K] times whole panels, several at a time to keep enough sums in flight.
/// B: panel i begins at B + i * panel_stride, its rows are `ldb` apart, and has kPanelColumns columns.
/// C [panels * kPanelColumns]; the epilogue's bias is as long.
template <class T>
struct RowProduct {
  int64_t panels, K;
  const T* a;
  const T* B;
  int64_t panel_stride, ldb;
  T* C;
  Epilogue<T> epilogue;
};
void multiply_row(const RowProduct<float>& p);
void multiply_row(const RowProduct<double>& p);

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
