// Which scale belongs to which element: QuantizeLinear's and DequantizeLinear's per-tensor, per-axis and
// blocked forms.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
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

  /// Calls body(element, scale, count, scale_step) for runs of elements, on all threads where there are many:
  /// element + k has scale number scale + k * scale_step.
  template <typename Body>
  void for_each_run(Body&& body) const {
    constexpr std::int64_t worth_a_thread = 32768;
    if (length == 0 || after == 0) return;
    // Places of the last axis, each with a scale of its own, are runs of their own otherwise.
    const bool is_last = after == 1 && block == 1;
    const std::int64_t rows = is_last ? 1 : length, count = is_last ? length : after;
    const std::int64_t step = is_last ? scale_block : scale_inner;
    const auto scale_of = [&](std::int64_t run) {
      return run / rows * scale_row + run % rows / block * scale_block;
    };
    if (before * rows == 1) {
      kernels::parallel_for(count, worth_a_thread, [&](std::int64_t begin, std::int64_t end) {
        body(begin, begin * step, end - begin, step);
      });
    } else {
      kernels::parallel_for(before * rows, worth_a_thread / count + 1,
                            [&](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t run = begin; run < end; ++run)
                                body(run * count, scale_of(run), count, step);
                            });
    }
  }
};

/// The granularity that the shape of the scale states, under axis (may count from the end; none: version 10,
/// which knows scalars only) and block_size (0: not blocked). Refuses when the scale's
/// shape is none of the three.
Granularity granularity(const Tensor& x, const Tensor& scale, std::optional<std::int64_t> axis,
                        std::int64_t block_size);

/// Refuses unless the zero point has the scale's shape.
void require_zero_point(const Tensor& zero_point, const Tensor& scale);

}  // namespace grurun::engine
