// LinearClassifier (ai.onnx.ml 1).
//
// scores [N, E] = X [N, F] * coefficients [E, F]^T + intercepts [E], one for each of the E classes; where
// there are two classes and one score, it is that of the second, and makes a pair (score_pair). Y [N] is the
// class of the highest score, Z [N, E] = post_transform(scores). multi_class says how the coefficients were
// trained (one against the rest, or multinomial); what to compute is the same.
#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/class_labels.h"
#include "engine/ops/traditionalml/linear.h"
#include "engine/ops/traditionalml/post_transform.h"

namespace grurun::engine {

namespace {

struct LinearClassifier {
  ClassLabels labels;
  LinearModel model;
  PostTransform transform;

  void run(RunContext& run) const;
};

void LinearClassifier::run(RunContext& run) const {
  const Tensor& x = run.tensor(0);
  const FeatureRows rows = feature_rows(x);
  const auto classes = static_cast<std::int64_t>(labels.size());
  const auto weights = static_cast<std::int64_t>(model.coefficients.size());
  const bool pair = weights == rows.width && classes == 2;
  const std::int64_t count = pair ? 1 : classes;
  if (!model.fits(rows.width, count)) refuse();
  const std::vector<double> scores = model.scores(x, rows, count);
  float* z = run.output(1, DType::float32, Shape{rows.count, classes}).mutable_data<float>();
  std::vector<std::size_t> winners;
  std::vector<double> row;
  for (std::int64_t n = 0; n < rows.count; ++n) {
    const auto first = scores.begin() + n * count;
    if (pair) {
      const ScorePair both = score_pair(*first, transform == PostTransform::probit);
      row = {both.first, both.second};
    } else {
      row.assign(first, first + count);
    }
    winners.push_back(top_class(row));
    apply_post_transform(transform, row);
    for (const double score : row) *z++ = static_cast<float>(score);
  }
  labels.write(run, winners);
}

RunFunction prepare_linear_classifier(PrepareContext& node) {
  const LinearClassifier classifier{
      ClassLabels(node, "classlabels_ints"),
      {node.floats_attribute("coefficients"), node.floats_attribute("intercepts")},
      post_transform_attribute(node)};
  static_cast<void>(node.flag_attribute("multi_class", false));
  return [classifier](RunContext& run) { classifier.run(run); };
}

}  // namespace

std::vector<OpRow> op_rows_linear_classifier() {
  return {{"ai.onnx.ml", "LinearClassifier", {1}, prepare_linear_classifier}};
}

}  // namespace grurun::engine
