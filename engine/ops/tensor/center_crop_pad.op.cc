// CenterCropPad (ai.onnx 18): each of `axes` (default: all) brought to the length that `shape` gives it.
//
// What is longer loses (length - target) / 2 elements at its start, rounded down, and the rest at its end;
// what is shorter gets (target - length) / 2 elements before, rounded down, and the rest behind: zeros, empty
// strings, false.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

Shape target_shape(const Tensor& input, const std::optional<std::vector<std::int64_t>>& axes,
                   std::span<const std::int64_t> sizes) {
  Shape shape = input.shape();
  const std::size_t count = axes ? axes->size() : shape.rank();
  if (sizes.size() != count) refuse();
  ScratchVector<bool> named(shape.rank(), false);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis =
        axes ? static_cast<std::size_t>(normalized_axis((*axes)[i], static_cast<std::int64_t>(shape.rank())))
             : i;
    if (named[axis]) refuse();
    if (sizes[i] < 0) refuse();
    named[axis] = true;
    shape[axis] = sizes[i];
  }
  return shape;
}

Tensor center(const Tensor& input, const Shape& target) {
  Tensor out = Tensor::zeros(input.dtype(), target);
  const ScratchVector<std::int64_t> from = row_major_strides(input.shape()), to = row_major_strides(target);
  Shape common = target;
  std::int64_t source = 0, place = 0;
  for (std::size_t d = 0; d < target.rank(); ++d) {
    common[d] = std::min(input.dim(d), target[d]);
    source += (input.dim(d) - common[d]) / 2 * from[d];
    place += (target[d] - common[d]) / 2 * to[d];
  }
  if (common.element_count() > 0) strided_copy_into(out, place, to, input, source, from, common);
  return out;
}

RunFunction prepare_center_crop_pad(PrepareContext& node) {
  std::optional<std::vector<std::int64_t>> axes;
  if (node.has_attribute("axes")) axes = node.ints_attribute("axes");
  return [axes](RunContext& run) {
    const Tensor& input = run.tensor(0);
    run.set_output(0, center(input, target_shape(input, axes, integer_list(run.tensor(1)))));
  };
}

}  // namespace

std::vector<OpRow> op_rows_center_crop_pad() {
  return {{"", "CenterCropPad", {18}, prepare_center_crop_pad}};
}

}  // namespace grurun::engine
