// TreeEnsembleRegressor (ai.onnx.ml 1, 3, 5; 5 deprecates it and changes nothing).
//
// Y [N, n_targets] = post_transform(aggregate over the trees of the votes at the leaf that a row of X [N, F]
// comes to + base_values). Versions 3 and 5 take double lists as *_as_tensor. Votes are added up in float,
// and in double where X or one of those lists is double.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/feature_rows.h"
#include "engine/ops/traditionalml/post_transform.h"
#include "engine/ops/traditionalml/tree_attributes.h"

namespace grurun::engine {

namespace {

Aggregate parse_aggregate(const std::string& name) {
  if (name == "AVERAGE") return Aggregate::average;
  if (name == "SUM") return Aggregate::sum;
  if (name == "MIN") return Aggregate::min;
  return Aggregate::max;
}

RunFunction prepare_tree_ensemble_regressor(PrepareContext& node) {
  const std::int64_t targets = node.int_attribute("n_targets");
  const Aggregate aggregate = parse_aggregate(node.string_attribute("aggregate_function", "SUM"));
  const PostTransform transform = post_transform_attribute(node);
  const RealList base = read_reals(node, "base_values");
  Forest forest = read_forest(node, "target", static_cast<std::size_t>(targets));
  forest.in_double |= base.in_double;
  const bool takes_one_row = node.since_version() < 3;
  return [=, base = base.values](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() == 1 && !takes_one_row) refuse();
    float* y = run.output(0, DType::float32, Shape{feature_rows(x).count, targets}).mutable_data<float>();
    forest.run(x, aggregate, run, [&](std::int64_t n, std::span<double> scores) {
      for (std::size_t i = 0; i < base.size(); ++i) scores[i] += base[i];
      apply_post_transform(transform, scores);
      std::ranges::transform(scores, y + n * targets, [](double score) { return static_cast<float>(score); });
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_tree_ensemble_regressor() {
  return {{"ai.onnx.ml", "TreeEnsembleRegressor", {1, 3, 5}, prepare_tree_ensemble_regressor}};
}

}  // namespace grurun::engine
