// LinearRegressor (ai.onnx.ml 1).
//
// Y [N, targets] = post_transform(X [N, F] * coefficients [targets, F]^T + intercepts [targets]).
#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/linear.h"
#include "engine/ops/traditionalml/post_transform.h"

namespace grurun::engine {

namespace {

RunFunction prepare_linear_regressor(PrepareContext& node) {
  const LinearModel model{node.floats_attribute("coefficients"), node.floats_attribute("intercepts")};
  const PostTransform transform = post_transform_attribute(node);
  const std::int64_t targets = node.int_attribute("targets", 1);
  return [model, transform, targets](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const FeatureRows rows = feature_rows(x);
    if (!model.fits(rows.width, targets)) refuse();
    if (std::ssize(model.coefficients) != rows.width * targets) refuse();
    std::vector<double> scores = model.scores(x, rows, targets);
    float* y = run.output(0, DType::float32, Shape{rows.count, targets}).mutable_data<float>();
    for (std::int64_t n = 0; n < rows.count; ++n) {
      const std::span row =
          std::span(scores).subspan(static_cast<std::size_t>(n * targets), static_cast<std::size_t>(targets));
      apply_post_transform(transform, row);
      for (const double score : row) *y++ = static_cast<float>(score);
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_linear_regressor() {
  return {{"ai.onnx.ml", "LinearRegressor", {1}, prepare_linear_regressor}};
}

}  // namespace grurun::engine
