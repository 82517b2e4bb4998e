// FeatureVectorizer (ai.onnx.ml 1).
//
// Y [N, D] = the inputs X_i [N, C_i] side by side as float, [C] being [1, C]. inputdimensions says how many
// columns each takes in Y, its own C_i where the attribute is left out: an input that has fewer is followed
// by zeros, one that has more is cut off.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/feature_rows.h"

namespace grurun::engine {

namespace {

struct Part {
  Tensor values;  // float
  std::int64_t columns;
  std::int64_t given;
};

std::vector<Part> read_parts(RunContext& run, const std::vector<std::int64_t>& dimensions,
                             std::int64_t* rows) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < run.input_count(); ++i) {
    const Tensor& x = run.tensor(i);
    const FeatureRows size = feature_rows(x);
    if (i > 0 && size.count != *rows) refuse();
    *rows = size.count;
    parts.push_back(
        {cast_tensor(x, DType::float32), dimensions.empty() ? size.width : dimensions[i], size.width});
  }
  return parts;
}

RunFunction prepare_feature_vectorizer(PrepareContext& node) {
  const std::vector<std::int64_t> dimensions = node.ints_attribute("inputdimensions");
  if (!dimensions.empty() && dimensions.size() != node.input_count()) refuse();
  return [dimensions](RunContext& run) {
    std::int64_t rows = 0;
    const std::vector<Part> parts = read_parts(run, dimensions, &rows);
    std::int64_t width = 0;
    for (const Part& part : parts) width = checked_add(width, part.columns);
    float* y = run.output(0, DType::float32, Shape{rows, width}).mutable_data<float>();
    if (width == 0) return;
    for (std::int64_t n = 0; n < rows; ++n) {
      for (const Part& part : parts) {
        const std::int64_t taken = std::min(part.columns, part.given);
        y = std::copy_n(part.values.data<float>() + n * part.given, taken, y);
        y = std::fill_n(y, part.columns - taken, 0.0F);
      }
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_feature_vectorizer() {
  return {{"ai.onnx.ml", "FeatureVectorizer", {1}, prepare_feature_vectorizer}};
}

}  // namespace grurun::engine
