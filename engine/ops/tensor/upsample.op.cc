// Upsample (ai.onnx 1, 7, 9; 10, where it is deprecated and means the same).
//
//   Y [floor(D1 * scale1), ...] of X [D1, ...]; x_original = x_resized / scale on every axis
//
// nearest takes the element at floor(x_original), linear interpolates and repeats the last element at the
// end. Version 1 takes [N, C, H, W] with height_scale and width_scale, and calls linear bilinear; 7 has the
// attribute scales, 9 the input. Sums of integers are rounded half to even. nearest takes strings too.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/tensor/resize.h"

namespace grurun::engine {

namespace {

ResizeForm read_form(PrepareContext& node) {
  ResizeForm form;
  form.mode =
      node.string_attribute("mode", "nearest") == "nearest" ? ResizeMode::nearest : ResizeMode::linear;
  return form;
}

Tensor upsample(const Tensor& x, const ResizeForm& form, const std::vector<float>& scales) {
  if (scales.size() != x.rank()) refuse();
  std::vector<ResizeAxis> axes;
  for (std::size_t d = 0; d < x.rank(); ++d) {
    if (!(scales[d] >= 1 && std::isfinite(scales[d]))) refuse();
    axes.push_back(axis_by_scale(x.dim(d), static_cast<double>(scales[d])));
  }
  return resize(x, form, axes);
}

RunFunction prepare_upsample_1(PrepareContext& node) {
  const ResizeForm form = read_form(node);
  const float height = node.float_attribute("height_scale"), width = node.float_attribute("width_scale");
  return [=](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() != 4) refuse();
    run.set_output(0, upsample(x, form, {1, 1, height, width}));
  };
}

RunFunction prepare_upsample_7(PrepareContext& node) {
  const ResizeForm form = read_form(node);
  return [form, scales = node.floats_attribute("scales")](RunContext& run) {
    run.set_output(0, upsample(run.tensor(0), form, scales));
  };
}

RunFunction prepare_upsample_9(PrepareContext& node) {
  const ResizeForm form = read_form(node);
  return [form](RunContext& run) {
    const Tensor& scales = run.tensor(1);
    if (scales.rank() != 1) refuse();
    const auto list = scales.span<float>();
    run.set_output(0, upsample(run.tensor(0), form, {list.begin(), list.end()}));
  };
}

}  // namespace

std::vector<OpRow> op_rows_upsample() {
  return {{"", "Upsample", {1}, prepare_upsample_1},
          {"", "Upsample", {7}, prepare_upsample_7},
          {"", "Upsample", {9, 10}, prepare_upsample_9}};
}

}  // namespace grurun::engine
