// The input rows that a block of output rows of a convolution reads, laid out so that every tap of every
// channel is a run of contiguous elements, one for each output place of the row: what multiply_gathered
// takes, without a patch being copied for each tap.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/ops/shared/window.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// How one input row is kept along the innermost axis: as variants, of which element i is input place first +
/// i * stride, or 0 outside the input. Taps share a variant where they are a whole number of strides apart.
struct RowLayout {
  struct Tap {
    std::int64_t variant, shift;  // output place o reads element o + shift of the variant
  };
  ScratchVector<std::int64_t> first;  // of each variant
  ScratchVector<Tap> taps;            // [kernel of the axis]
  std::int64_t width = 0;             // of a variant: whole vectors from any output place on can be read
};

/// The elements of a variant [width] that lie inside the input: [first, second).
std::pair<std::int64_t, std::int64_t> inside_input(const WindowAxis& axis, std::int64_t first,
                                                   std::int64_t width);

/// As few variants as there can be. `columns`: what reads are rounded up to.
RowLayout shared_layout(const WindowAxis& inner, std::int64_t columns);

/// The same, or a variant for each tap if that is shorter.
RowLayout row_layout(const WindowAxis& inner, std::int64_t columns);

/// The rows of one image and group, X [channels, D1...Dn]. `axes` and `layout` must outlive it.
template <typename T>
class BlockRows {
 public:
  BlockRows(const WindowAxes& axes, const RowLayout& layout, std::int64_t channels);

  /// Output rows that can be loaded at once within about `elements`.
  std::int64_t rows_within(std::int64_t elements) const;

  /// Copies what output rows [row, row + count) read of x.
  void load(const T* x, std::int64_t row, std::int64_t count);

  const T* data() const { return rows_.template data<T>(); }
  /// Where row k of the factor [channels * kernel size, output places] begins, relative to data(), for output
  /// row `row + index` of the last load. Valid until the next call.
  const std::int64_t* offsets(std::int64_t index);

 private:
  static constexpr std::int64_t outside = -1;

  std::int64_t input_row(const std::int64_t* place, const std::int64_t* tap) const;
  void copy_row(const T* x, std::int64_t row, T* to) const;

  const WindowAxes& axes_;
  const RowLayout& layout_;
  std::int64_t channels_, outer_taps_ = 1, input_rows_ = 1;
  ScratchMap<std::int64_t, std::int64_t> slots_;  // input row -> where its copy is
  ScratchVector<std::int64_t> slot_of_;           // [output row of the block, outer tap]
  ScratchVector<std::int64_t> offsets_;
  Tensor rows_;  // a row of zeros, then [slot, channel, variant, layout.width]
};

extern template class BlockRows<float>;
extern template class BlockRows<double>;

}  // namespace grurun::engine
