// Sliding windows of convolutions and poolings over spatial axes: kernel_shape, strides, dilations, pads,
// auto_pad, ceil_mode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/op_context.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

enum class AutoPad { notset, valid, same_upper, same_lower };

/// The attributes as the node states them; lists are empty where it states none.
struct WindowAttributes {
  AutoPad auto_pad = AutoPad::notset;
  bool ceil_mode = false;
  std::vector<std::int64_t> kernel_shape, strides, dilations, pads;
};

/// Which attributes this operator's version has, besides strides and pads.
struct WindowForm {
  bool dilations = true;
  bool ceil_mode = false;
  bool kernel_shape = true;
  bool auto_pad = true;
};

/// Refuses a number below least; throws Error(limit) naming the list for one above 2^40, so
/// that sums of them and of sizes stay far from 2^63.
void require_lengths(std::span<const std::int64_t> list, std::int64_t least, const char* name);

/// Entry i of an attribute that may be left out.
std::int64_t entry_or(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t fallback);

/// Reads and checks the attributes: sizes positive, pads not negative, as require_lengths.
WindowAttributes window_attributes(PrepareContext& node, WindowForm form);

/// One spatial axis: output place o covers input places o * stride - pad_begin + k * dilation for k in [0,
/// kernel).
struct WindowAxis {
  std::int64_t input = 0, output = 0;
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_begin = 0, pad_end = 0;

  std::int64_t start(std::int64_t o) const { return o * stride - pad_begin; }
  /// Places that all windows together reach over, padding and gaps included.
  std::int64_t reach() const { return (output - 1) * stride + (kernel - 1) * dilation + 1; }
  /// The taps [first_tap, end_tap) of output place o that lie inside the input; may be empty.
  std::int64_t first_tap(std::int64_t o) const {
    const std::int64_t at = start(o);
    return at >= 0 ? 0 : (-at + dilation - 1) / dilation;
  }
  std::int64_t end_tap(std::int64_t o) const {
    const std::int64_t left = input - start(o);
    return left <= 0 ? 0 : std::min(kernel, (left + dilation - 1) / dilation);
  }
  /// The taps [first, second) that lie inside the input for some output place, of which there is one at
  /// least: few even where the kernel is vast.
  std::pair<std::int64_t, std::int64_t> taps_inside() const { return {first_tap(output - 1), end_tap(0)}; }
  /// The output places [first, second) whose tap k lies inside the input; may be empty.
  std::pair<std::int64_t, std::int64_t> places_of(std::int64_t k) const {
    const std::int64_t offset = k * dilation - pad_begin;
    const std::int64_t first = std::min(output, offset >= 0 ? 0 : (-offset + stride - 1) / stride);
    const std::int64_t left = input - offset;
    return {first, left <= 0 ? first : std::clamp((left + stride - 1) / stride, first, output)};
  }
};

using WindowAxes = ScratchVector<WindowAxis>;

/// The axes for an input's spatial dimensions; kernel_shape may be empty in the attributes when kernel gives
/// it (Conv: W's). Output sizes: NOTSET floor or ceil((input + pads - extent) / stride) + 1, a last window
/// that would start beyond input and leading pad left out; VALID without pads; SAME ceil(input / stride).
/// Refuses lists of the wrong length, or a window larger than the padded input:
/// unless may_be_empty, which lets these formulas give 0, and ceil a window that reaches beyond the end.
WindowAxes window_axes(const WindowAttributes& attributes, std::span<const std::int64_t> input,
                       std::span<const std::int64_t> kernel, bool may_be_empty = false);

}  // namespace grurun::engine
