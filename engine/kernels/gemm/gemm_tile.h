#pragma once

#include <cstdint>

/// The innermost products of gemm, one implementation for each instruction set, chosen at run time.
namespace grurun::kernels {

/// Columns of one panel of B: three vectors of the widest instruction set. Narrower ones walk a panel in
/// parts.
template <class T>
inline constexpr int64_t columns_of_panel = 192 / static_cast<int64_t>(sizeof(T));

/// Columns in one vector of the widest instruction set: a packed panel's width is a multiple of it.
template <class T>
inline constexpr int64_t columns_of_vector = 64 / static_cast<int64_t>(sizeof(T));

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

/// What multiply_panel computes at a time: so many rows times columns_of_vector, and about how many cycles a
/// product of each takes. It does best where as many vectors of a row of B lie side by side as `together`
/// says, and the next row right behind them: B is packed so.
struct PanelTile {
  int64_t rows, cycles, together;
};
PanelTile panel_tile();

/// A [rows, K], row-major, times one panel.
/// B [K, columns]: rows `ldb` apart, readable up to `columns` rounded up to a multiple of columns_of_vector.
/// At most columns_of_panel columns; only `columns` of C are read or written.
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

/// The same for many rows: the first ones pack the panel on their way, for the others. packed: room for [K,
/// columns rounded up to columns_of_vector], aligned to 64 bytes.
void multiply_gathered(const GatheredProduct<float>& p, float* packed);
void multiply_gathered(const GatheredProduct<double>& p, double* packed);

/// One row a [K] times whole panels, several at a time to keep enough sums in flight.
/// B: panel i begins at B + i * panel_stride, its rows are `ldb` apart, and has panel_tile().together *
/// columns_of_vector columns. C [panels * these]; the epilogue's bias is as long.
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

}  // namespace grurun::kernels
