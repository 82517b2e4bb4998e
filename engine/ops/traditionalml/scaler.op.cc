// Scaler (ai.onnx.ml 1).
//
// Y = (X - offset) * scale as float. offset and scale are of one length: 1 for X of any shape, or F for X [N,
// F] or [F]. Numbers other than float are scaled in double.
#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/feature_rows.h"

namespace grurun::engine {

namespace {

template <typename C>
void scale_all(const Tensor& x, const std::vector<float>& offset, const std::vector<float>& scale, float* y) {
  std::size_t f = 0;
  for (const C value : x.span<C>()) {
    *y++ = static_cast<float>((value - static_cast<C>(offset[f])) * static_cast<C>(scale[f]));
    if (++f == offset.size()) f = 0;
  }
}

RunFunction prepare_scaler(PrepareContext& node) {
  const std::vector<float> offset = node.floats_attribute("offset");
  const std::vector<float> scale = node.floats_attribute("scale");
  return [offset, scale](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (offset.size() != 1 && feature_rows(x).width != static_cast<std::int64_t>(offset.size())) refuse();
    float* y = run.output(0, DType::float32, x.shape()).mutable_data<float>();
    if (x.dtype() == DType::float32) {
      scale_all<float>(x, offset, scale, y);
    } else {
      scale_all<double>(cast_tensor(x, DType::float64), offset, scale, y);
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_scaler() {
  return {{"ai.onnx.ml", "Scaler", {1}, prepare_scaler}};
}

}  // namespace grurun::engine
