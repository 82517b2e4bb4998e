// Columns of 8-bit weights less their zero points, for exact sums of products.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace grurun::engine {

class IntegerColumns {
 public:
  IntegerColumns() = default;

  /// columns [..., K] int16, elements in [-255, 255]: each column is contiguous. Kept in int8 where all of
  /// them fit, which halves what products have to read.
  IntegerColumns(const Tensor& columns, std::int64_t K);

  /// out[r, j] = sum over k of a[r, k] * column[first + j][k], for a [rows, K] with elements in [-255, 255]
  /// and out [rows, count].
  void dots(const std::int16_t* a, std::int64_t rows, std::int64_t first, std::int64_t count,
            std::int64_t* out) const;

 private:
  std::int64_t K_ = 0;
  Tensor values_;  // int16 or int8
};

}  // namespace grurun::engine
