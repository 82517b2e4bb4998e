// The input planes that a block of output rows of a convolution over one or two axes reads, laid out so that
// each tap of each channel is one run of contiguous elements for all of the block: output row r, place o is
// column r * pitch + o of the product, and the columns between the rows are computed for nothing. They are
// few, while products of whole panels take the place of one or more products a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/ops/nn/convolution_rows.h"
#include "engine/ops/window.h"
#include "tensor/tensor.h"

namespace grurun::engine {

struct PlaneLayout {
  WindowAxis row_axis, column_axis;  // one spatial axis: a single row
  RowLayout rows, columns;           // elements of rows: whole rows of the input
  std::int64_t pitch = 0;            // from one row of a plane to the next
  bool is_plain = false;             // planes are those of the input
};

/// None where there are more than two axes, or where planes would consist mostly of padding.
std::optional<PlaneLayout> plane_layout(const std::vector<WindowAxis>& axes);

/// Copies n elements. Rows are short: a call for each would take longer than the copy.
template <typename T>
void copy_run(const T* from, std::int64_t n, T* to) {
  constexpr std::int64_t chunk = 32 / static_cast<std::int64_t>(sizeof(T));
  if (n < chunk || n > 16 * chunk) {
    std::copy_n(from, n, to);
    return;
  }
  for (std::int64_t i = 0; i + chunk <= n; i += chunk) std::memcpy(to + i, from + i, chunk * sizeof(T));
  std::memcpy(to + n - chunk, from + n - chunk, chunk * sizeof(T));  // some of them once more
}

/// The planes of one image and group, X [channels, D1, D2]. `layout` must outlive it.
template <typename T>
class PlaneBlock {
 public:
  PlaneBlock(const PlaneLayout& layout, std::int64_t channels) : layout_(layout), channels_(channels) {}

  /// Output rows that can be loaded at once within about `elements`; at least 1.
  std::int64_t rows_within(std::int64_t elements) const;

  /// Copies what output rows [row, row + count) read of x. Where planes are those of the input nothing is
  /// copied, and x must stay.
  void load(const T* x, std::int64_t row, std::int64_t count);

  const T* data() const { return data_; }
  /// Where row k of the factor [channels * kernel size, columns] begins, relative to data(). Except for
  /// planes of the input itself, `columns` may be rounded up to whole vectors.
  const std::int64_t* offsets() const { return offsets_.data(); }

 private:
  std::int64_t plane_rows(std::int64_t count) const {
    return count + layout_.rows.width - layout_.row_axis.output;
  }
  void lay_out(std::int64_t count);
  void copy_row(const T* source, T* to, std::int64_t plane) const;

  const PlaneLayout& layout_;
  std::int64_t channels_;
  std::int64_t count_ = 0;  // rows of the last load
  std::vector<std::int64_t> offsets_;
  const T* data_ = nullptr;
  Tensor planes_;  // [channel, variant of rows, variant of columns, plane_rows(count), pitch]
};

extern template class PlaneBlock<float>;
extern template class PlaneBlock<double>;

}  // namespace grurun::engine
