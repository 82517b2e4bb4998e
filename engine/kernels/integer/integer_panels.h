// Products of 8-bit numbers less their zero points: exact sums, modulo 2^32.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/memory/memory.h"
#include "tensor/memory/scratch.h"

namespace grurun::kernels {

/// B [K, N] of 8-bit numbers with a zero point for each column. Sixteen columns are a panel, whose terms lie
/// in groups that one instruction multiplies and adds up: of four int8 where multiplies_bytes() says so
/// (simd.h), else of two int16.
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

  /// [groups, column_count, group], 64 bytes a group: the numbers as int8, those of uint8 less 128.
  const uint8_t* panel(int64_t i) const { return data_.data() + i * groups() * 64; }
  /// By column, to the end of the last panel: the zero point of the number as it lies here, and the sum of
  /// the numbers less it.
  const int32_t* zero_points() const { return zero_points_.data(); }
  const int32_t* sums() const { return sums_.data(); }
  bool has_zero_points() const { return has_zero_points_; }

 private:
  int64_t K_ = 0, N_ = 0;
  bool holds_bytes_ = false, has_zero_points_ = false;
  ScratchVector<uint8_t> data_;
  ScratchVector<int32_t> zero_points_, sums_;
};

/// A [rows, K] of 8-bit numbers with a zero point for each row, as products with certain panels take it.
class IntegerRows {
 public:
  /// T: int8_t or uint8_t. a: rows of b.K() elements, one behind the other; the zero point of row i is
  /// zero_points[i * step]. Throws Error(limit) when memory is refused.
  template <class T>
  IntegerRows(const T* a, int64_t rows, const T* zero_points, int64_t step, const IntegerPanels& b);

  int64_t rows() const { return rows_; }
  int64_t row_bytes() const { return row_bytes_; }
  /// Groups of b.group() numbers, as uint8 or int16: those of int8 plus 128.
  const uint8_t* row(int64_t i) const { return static_cast<const uint8_t*>(data_.data()) + i * row_bytes_; }
  /// The zero point of the numbers as they lie here, and the sum of these.
  int32_t zero_point(int64_t i) const { return facts()[2 * i]; }
  int32_t sum(int64_t i) const { return facts()[2 * i + 1]; }
  /// Both, by row.
  const int32_t* facts() const { return reinterpret_cast<const int32_t*>(row(rows_)); }

 private:
  int64_t rows_, row_bytes_;
  memory::Block data_;  // the rows, then the facts
};

/// to [i, j] = the sum over k of (A[row + i, k] - its zero point) (B[k, j] - its zero point), modulo 2^32,
/// for `rows` rows from `row` on and the columns of panels [first, end), the first of them at j = 0; `to` has
/// rows of ld elements. `a` must have been made for `b`, and for the instruction set in use. Runs on the
/// calling thread.
void multiply_integers(const IntegerRows& a, int64_t row, int64_t rows, const IntegerPanels& b, int64_t first,
                       int64_t end, int32_t* to, int64_t ld);

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

/// y[i] += factor * scale[i] * x[i], for i in [0, n).
void add_scaled(const int32_t* x, float factor, const float* scale, int64_t n, float* y);

}  // namespace grurun::kernels
