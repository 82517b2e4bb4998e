// Which scale belongs to which element: QuantizeLinear's and DequantizeLinear's per-tensor, per-axis and
// blocked forms.
#pragma once

#include <cstdint>

#include "engine/graph/op_context.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// x seen as [before, length, after] around the axis; the scale of [b, i, a] is scales[(b * blocks + i /
/// block) * inner + a % inner]. Per tensor: block = length, everything else 1. Per axis: block 1, blocks =
/// length, inner 1, one row for all b.
struct Granularity {
  std::int64_t before = 1, length = 1, after = 1;
  std::int64_t block = 1;        // places on the axis that share a scale
  std::int64_t scale_row = 0;    // scales to step for each b; 0: every b reads the same ones
  std::int64_t scale_block = 0;  // scales to step for each block
  std::int64_t scale_inner = 0;  // scales to step for each a

  /// Calls body(element, scale, count, scale_step) for runs of elements: element + k has scale number scale +
  /// k * scale_step.
  template <typename Body>
  void for_each_run(Body&& body) const {
    if (length == 0 || after == 0) return;
    for (std::int64_t b = 0; b < before; ++b) {
      for (std::int64_t i = 0; i < length; ++i) {
        body((b * length + i) * after, b * scale_row + i / block * scale_block, after, scale_inner);
      }
    }
  }
};

/// The granularity that the shape of the scale states, under axis (may count from the end) and block_size (0:
/// not blocked). Throws Error(invalid_model) when the scale's shape is none of the three.
Granularity granularity(const Tensor& x, const Tensor& scale, std::int64_t axis, std::int64_t block_size);

/// Throws Error(invalid_model) unless the zero point has the scale's shape.
void require_zero_point(const Tensor& zero_point, const Tensor& scale);

}  // namespace grurun::engine
