// ArrayFeatureExtractor (ai.onnx.ml 1).
//
// Z [..., K] = X [..., D] at the K indices that Y lists, whatever its shape, along the last axis. X [D] gives
// Z [1, K]. Indices lie in [0, D): "based on 0 as the first index".
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

void extract(RunContext& run) {
  const Tensor& x = run.tensor(0);
  const Tensor& indices = run.tensor(1);
  if (x.rank() == 0) refuse();
  const std::int64_t width = x.dim(x.rank() - 1);
  for (const std::int64_t index : indices.span<std::int64_t>()) {
    if (index < 0 || index >= width) refuse();
  }
  Shape shape = x.rank() == 1 ? Shape{1, 0} : x.shape();
  shape[shape.rank() - 1] = indices.size();
  const std::int64_t rows = shape.count(0, shape.rank() - 1);
  Tensor& z = run.output(0, x.dtype(), shape);
  if (z.size() == 0) return;
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < rows; ++n) {
    for (const std::int64_t index : indices.span<std::int64_t>()) {
      copy_elements(z, at++, x, n * width + index, 1);
    }
  }
}

RunFunction prepare_array_feature_extractor(PrepareContext&) {
  return extract;
}

}  // namespace

std::vector<OpRow> op_rows_array_feature_extractor() {
  return {{"ai.onnx.ml", "ArrayFeatureExtractor", {1}, prepare_array_feature_extractor}};
}

}  // namespace grurun::engine
