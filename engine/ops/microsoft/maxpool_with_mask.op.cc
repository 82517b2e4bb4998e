// MaxpoolWithMask (com.microsoft 1): the largest of each window of X [N, C, D1...Dn] that the mask shows.
//
// M [N', C', D1...Dn] of int32: plane p of X has plane p modulo N' * C' of it. Along the last axis a window
// ends at the first place where M is 0. The first place of a plane is always seen where there are two spatial
// axes or more. A window that shows nothing gives the lowest finite number. The operator has no description:
// this is what the onnxruntime package does where M has one plane.
#include <limits>

#include "engine/graph/op_context.h"
#include "engine/ops/nn/pooling.h"

namespace grurun::engine {

namespace {

float shown_maximum(const WindowAxis& axis, std::int64_t o, const float* x, const std::int32_t* mask,
                    bool first_row, float best) {
  for (std::int64_t k = axis.first_tap(o); k < axis.end_tap(o); ++k) {
    const std::int64_t at = axis.start(o) + k * axis.dilation;
    if (mask[at] == 0 && !(first_row && at == 0)) break;
    if (x[at] > best) best = x[at];
  }
  return best;
}

void pool_masked(const PoolShape& shape, const float* x, const std::int32_t* mask, float* y) {
  const WindowAxes& axes = shape.axes;
  const std::size_t outer = axes.size() - 1;
  ScratchVector<std::int64_t> place(axes.size(), 0), tap(axes.size(), 0);
  for (std::int64_t o = 0; o < shape.output_size; ++o) {
    float best = std::numeric_limits<float>::lowest();
    bool any = true;
    for (std::size_t d = 0; d < outer; ++d) {
      tap[d] = axes[d].first_tap(place[d]);
      any = any && tap[d] < axes[d].end_tap(place[d]);
    }
    while (any) {
      std::int64_t row = 0;
      for (std::size_t d = 0; d < outer; ++d)
        row = (row + axes[d].start(place[d]) + tap[d] * axes[d].dilation) * axes[d + 1].input;
      best = shown_maximum(axes.back(), place.back(), x + row, mask + row, outer > 0 && row == 0, best);
      any = next_tap(axes, place, tap);
    }
    y[o] = best;
    for (std::size_t d = axes.size(); d-- > 0;) {
      if (++place[d] < axes[d].output) break;
      place[d] = 0;
    }
  }
}

RunFunction prepare_maxpool_with_mask(PrepareContext& node) {
  const auto attributes = window_attributes(node, {.dilations = false});
  if (node.int_attribute("storage_order", 0) != 0)
    fail_unsupported("MaxpoolWithMask with another storage_order than 0");
  return [attributes](RunContext& run) {
    const Tensor &x = run.tensor(0), &mask = run.tensor(1);
    const PoolShape shape = pool_shape(x.shape(), attributes);
    if (mask.rank() != x.rank()) refuse();
    for (std::size_t i = 2; i < x.rank(); ++i)
      if (mask.dim(i) != x.dim(i)) refuse();
    const std::int64_t planes = checked_mul(mask.dim(0), mask.dim(1));
    if (planes == 0 && shape.planes > 0) refuse();
    float* y = run.output(0, DType::float32, shape.output).mutable_data<float>();
    const float* from = x.data<float>();
    const auto* shown = mask.data<std::int32_t>();
    for_each_plane(shape, [&](std::int64_t plane, ScratchVector<float>&) {
      pool_masked(shape, from + plane * shape.input_size, shown + plane % planes * shape.input_size,
                  y + plane * shape.output_size);
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_maxpool_with_mask() {
  return {{"com.microsoft", "MaxpoolWithMask", {1}, prepare_maxpool_with_mask}};
}

}  // namespace grurun::engine
