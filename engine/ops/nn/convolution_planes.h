// The input rows that a block of output rows of a convolution over one or two axes reads, laid out so that
// each tap of each channel of one output row is a run of contiguous elements, `pitch` elements from that of
// the row before: any places of the block are copied together as a panel of a product by few long copies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/ops/nn/convolution_rows.h"
#include "engine/ops/shared/window.h"
#include "tensor/tensor.h"

namespace grurun::engine {

struct PlaneLayout {
  WindowAxis row_axis, column_axis;  // one spatial axis: a single row
  RowLayout rows, columns;           // elements of rows: whole rows of the input
  std::int64_t pitch = 0;            // from one row of a plane to the next
  bool is_plain = false;             // planes are those of the input
  bool is_signal = false;            // planes are one row
};

/// None where there are more than two axes, or where planes would consist mostly of padding.
std::optional<PlaneLayout> plane_layout(const WindowAxes& axes);

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

/// Writes zeros from `from` to `to`, and up to 31 bytes more.
template <typename T>
void clear_run(T* from, T* to) {
  constexpr std::int64_t chunk = 32 / static_cast<std::int64_t>(sizeof(T));
  for (; from < to; from += chunk) std::memset(from, 0, chunk * sizeof(T));
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
  void load(const T* x, std::int64_t row, std::int64_t count) { load(x, row, count, channels_); }
  /// The same of the first `channels` alone.
  void load(const T* x, std::int64_t row, std::int64_t count, std::int64_t channels);

  /// packed [rows, end - begin rounded up to whole vectors]: rows [k, k + rows) of the factor [channels *
  /// kernel size, places] for places [begin, end), a panel at most. Writes up to a vector beyond it.
  void pack(std::int64_t begin, std::int64_t end, std::int64_t k, std::int64_t rows, T* packed) const;

  /// Where the factor lies: row k for a place begins at place(p) + offsets()[k], and goes on for adjacent(p)
  /// places.
  const T* place(std::int64_t p) const { return data_ + p / width() * layout_.pitch + p % width(); }
  std::int64_t adjacent(std::int64_t p) const {
    return is_dense() ? count_ * width() - p : width() - p % width();
  }
  /// Places of a row, and how far apart rows of the factor lie.
  std::int64_t width() const { return layout_.column_axis.output; }
  std::int64_t pitch() const { return layout_.pitch; }
  /// How many taps of a channel, one above the other, read rows that follow each other; at least 1.
  std::int64_t taps_down() const {
    const auto& taps = layout_.rows.taps;
    return taps.size() > 1 && layout_.rows.first.size() == 1 && taps[1].shift == 1
               ? static_cast<std::int64_t>(taps.size())
               : 1;
  }
  const std::int64_t* offsets() const { return offsets_.data(); }
  /// Whether whole vectors can be read from any place on.
  bool is_padded() const { return !layout_.is_plain; }
  /// Whether whole vectors of the factor lie side by side, too, from the first place to the last.
  bool is_adjacent() const { return is_dense() && is_padded(); }

 private:
  bool is_dense() const { return layout_.pitch == layout_.column_axis.output || count_ == 1; }
  std::int64_t plane_rows(std::int64_t count) const {
    return count + layout_.rows.width - layout_.row_axis.output;
  }
  void lay_out(std::int64_t count);
  void clear_padding();
  void clear_rows(T* to, std::int64_t count) const;
  void copy_rows(const T* source, std::int64_t count, T* to) const;
  bool is_transposed() const;
  void copy_columns(const T* source, std::int64_t count, std::size_t variant, std::int64_t begin,
                    T* to) const;

  const PlaneLayout& layout_;
  std::int64_t channels_;
  std::int64_t count_ = 0;     // rows of the last load
  std::int64_t laid_out_ = 0;  // for so many rows at most
  std::int64_t plane_ = 0;     // elements
  std::int64_t row_step_ = 0;  // from one row that is copied to the next
  ScratchVector<std::int64_t> offsets_;
  ScratchVector<std::pair<std::int64_t, std::int64_t>> inside_;  // of a row of each variant of columns
  const T* data_ = nullptr;
  Tensor planes_;  // [channel, variant of rows, variant of columns, plane_rows(laid_out_), pitch]
};

extern template class PlaneBlock<float>;
extern template class PlaneBlock<double>;

}  // namespace grurun::engine
