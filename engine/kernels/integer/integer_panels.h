// Products of 8-bit numbers less their zero points: exact sums, modulo 2^32.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensor/memory/memory.h"
#include "tensor/memory/scratch.h"

namespace grurun::kernels {

/// B [K, N] of 8-bit numbers with a zero point for each column. Sixteen columns are a panel, whose terms lie
/// in groups that one instruction multiplies and adds up: of four int8 where multiplies_bytes() says so
/// (simd.h), else of two, which become int16 as they are read: so half as much is to be read.
class IntegerPanels {
 public:
  static constexpr int64_t column_count = 16;  // of a panel

  IntegerPanels() = default;

  /// T: int8_t or uint8_t. Column j of B is column columns[j] of b [K, ld], whose zero point is
  /// zero_points[columns[j] * step]; or nothing but zeros, where columns[j] is -1. Throws Error(limit) when
  /// memory is refused.
  template <class T>
  IntegerPanels(const T* b, int64_t K, int64_t ld, std::span<const int64_t> columns, const T* zero_points,
                int64_t step);

  int64_t K() const { return K_; }
  int64_t N() const { return N_; }
  int64_t panels() const { return (N_ + column_count - 1) / column_count; }
  bool holds_bytes() const { return holds_bytes_; }
  int64_t group() const { return holds_bytes_ ? 4 : 2; }
  int64_t groups() const { return (K_ + group() - 1) / group(); }
  int64_t panel_bytes() const { return groups() * group() * column_count; }

  /// [groups, column_count, group]: the numbers as int8, those of uint8 less 128.
  const int8_t* panel(int64_t i) const { return data_.data() + i * panel_bytes(); }
  /// By column, to the end of the last panel: the zero point of the number as it lies here, and the sum of
  /// the numbers less it.
  const int32_t* zero_points() const { return zero_points_.data(); }
  const int32_t* sums() const { return sums_.data(); }
  bool has_zero_points() const { return has_zero_points_; }

 private:
  int64_t K_ = 0, N_ = 0;
  bool holds_bytes_ = false, has_zero_points_ = false;
  ScratchVector<int8_t> data_;
  ScratchVector<int32_t> zero_points_, sums_;
};

/// A [rows, K] of 8-bit numbers with a zero point for each row, as products with panels b take it.
class IntegerRows {
 public:
  /// T: int8_t or uint8_t. a: rows of b.K() elements, one behind the other; the zero point of row i is
  /// zero_points[i * step]. Throws Error(limit) when memory is refused.
  template <class T>
  IntegerRows(const T* a, int64_t rows, const T* zero_points, int64_t step, const IntegerPanels& b);

  /// In memory of bytes_of(rows, b) that begins at a cache line: rows that quantize() is to write.
  IntegerRows(int64_t rows, const IntegerPanels& b, void* memory);
  static int64_t bytes_of(int64_t rows, const IntegerPanels& b);

  /// Row i is saturate(round(x[k] / scale) + zero_point), for k in [0, b.K()), as vec_quantize() makes uint8.
  void quantize(int64_t i, const float* x, float scale, uint8_t zero_point, const IntegerPanels& b);

  int64_t rows() const { return rows_; }
  int64_t row_bytes() const { return row_bytes_; }
  /// Groups of b.group() numbers, as uint8 or int16: those of int8 plus 128.
  const uint8_t* row(int64_t i) const { return data_ + i * row_bytes_; }
  /// By row: the zero point of the numbers as they lie here, and the sum of these; 0 where b has no zero
  /// points, since nothing needs it then.
  const int32_t* facts() const { return reinterpret_cast<const int32_t*>(row(rows_)); }
  /// Whether all rows are known to have the same.
  bool has_one_zero_point() const { return has_one_zero_point_; }

 private:
  void finish_row(int64_t i, int32_t zero_point, const IntegerPanels& b);

  int64_t rows_, row_bytes_;
  bool has_one_zero_point_;
  std::optional<memory::Block> own_;
  uint8_t* data_;  // the rows, then the facts
};

/// to [i, j] = the sum over k of (A[row + i, k] - its zero point) (B[k, j] - its zero point), modulo 2^32,
/// for `rows` rows from `row` on and the columns of panels [first, end), the first of them at j = 0; `to` has
/// rows of ld elements. `a` must have been made for `b`, and for the instruction set in use. Runs on the
/// calling thread.
void multiply_integers(const IntegerRows& a, int64_t row, int64_t rows, const IntegerPanels& b, int64_t first,
                       int64_t end, int32_t* to, int64_t ld);

/// What becomes of sums: y [i, j] = start [i, j] + factor * scale[j] * sum of row i and column j, each
/// product and the sum rounded to float. y must not overlap start: it may be written twice.
struct ScaledSums {
  float factor;
  const float* scale;  // of all columns of B
  const float* start;  // as y is; nullptr: 0
  int64_t start_ld;    // 0: one row for all
  float* y;            // the first column of the first panel is its first
  int64_t ld;
};

/// The first `rows` rows of A times the columns of panels [first, end), as multiply_integers() sums them.
void multiply_scaled(const IntegerRows& a, int64_t rows, const IntegerPanels& b, int64_t first, int64_t end,
                     const ScaledSums& to);

/// Rows of A that lie in parts, as the windows of a convolution do: part t of row i begins offsets[t] bytes
/// behind data + i * row_bytes. All parts are as long, whole groups, and K() numbers together.
struct IntegerWindows {
  const uint8_t* data;  // numbers as arrange_integers() writes them
  int64_t row_bytes;
  std::span<const int64_t> offsets;
  int32_t zero_point;   // of the numbers as they lie there
  const int32_t* sums;  // of these, by row; not read where B has no zero points
};

/// As above, for `rows` rows.
void multiply_integers(const IntegerWindows& a, int64_t rows, const IntegerPanels& b, int64_t first,
                       int64_t end, int32_t* to, int64_t ld);

/// to[i] = from[i] for i in [0, n) as products with b take numbers of A: uint8 where b holds bytes, else
/// int16, those of int8 plus 128. T: int8_t or uint8_t. `to` may be `from` where b holds bytes.
template <class T>
void arrange_integers(const T* from, int64_t n, const IntegerPanels& b, uint8_t* to);

}  // namespace grurun::kernels
