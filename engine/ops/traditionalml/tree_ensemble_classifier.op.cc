// TreeEnsembleClassifier (ai.onnx.ml 1, 3, 5; 5 deprecates it and changes nothing).
//
// For each row of X [N, F], score[c] = sum over the trees of the votes for class c at the leaf that the row
// comes to, + base_values[c]. Y [N] is the class of the highest score, the first of several, Z [N, E] =
// post_transform(scores).
//
// Where all votes of a model with two classes are for the first, and there are not two base_values, the model
// has one score s, which is that of the second class, as every converter writes a binary model. With
// post_transform NONE or PROBIT and no negative weight, s is a probability; else a margin. score_pair makes
// two scores of it. A model of one class says nothing but that class; its score is the sum of the votes.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/class_labels.h"
#include "engine/ops/traditionalml/feature_rows.h"
#include "engine/ops/traditionalml/post_transform.h"
#include "engine/ops/traditionalml/tree_attributes.h"

namespace grurun::engine {

namespace {

struct TreeClassifier {
  ClassLabels labels;
  PostTransform transform;
  std::vector<double> base;
  Forest forest;
  bool single_score = false;
  bool probability = false;
  bool takes_one_row = true;  // [F] for [1, F]

  /// Completes the aggregated votes of a row to its scores, before post_transform.
  void complete(std::span<double> scores) const {
    if (single_score) {
      const ScorePair pair = score_pair(scores[0] + (base.empty() ? 0 : base[0]), probability);
      scores[0] = pair.first;
      scores[1] = pair.second;
      return;
    }
    for (std::size_t c = 0; c < base.size(); ++c) scores[c] += base[c];
  }

  void run(RunContext& run) const {
    const Tensor& x = run.tensor(0);
    if (x.rank() == 1 && !takes_one_row) refuse();
    const std::int64_t rows = feature_rows(x).count;
    const auto classes = static_cast<std::int64_t>(labels.size());
    float* z = run.output(1, DType::float32, Shape{rows, classes}).mutable_data<float>();
    std::vector<std::size_t> winners(static_cast<std::size_t>(rows));
    forest.run(x, Aggregate::sum, run, [&](std::int64_t n, std::span<double> scores) {
      complete(scores);
      winners[static_cast<std::size_t>(n)] = top_class(scores);
      apply_post_transform(transform, scores);
      std::ranges::transform(scores, z + n * classes, [](double score) { return static_cast<float>(score); });
    });
    labels.write(run, winners);
  }
};

RunFunction prepare_tree_ensemble_classifier(PrepareContext& node) {
  // One class, whose score stays what it is: opset/pages/forms.h.
  const PostTransform transform = post_transform_attribute(node);
  TreeClassifier read{
      ClassLabels(node, "classlabels_int64s", transform == PostTransform::none), transform, {}, {}};
  read.forest = read_forest(node, "class", read.labels.size());
  const RealList base = read_reals(node, "base_values");
  read.forest.in_double |= base.in_double;
  read.base = base.values;
  const std::vector<Vote>& votes = read.forest.votes;
  const bool only_first = std::ranges::all_of(votes, [](const Vote& vote) { return vote.target == 0; });
  read.single_score = read.labels.size() == 2 && !votes.empty() && only_first && base.values.size() < 2;
  const bool takes_probability =
      read.transform == PostTransform::none || read.transform == PostTransform::probit;
  read.probability =
      takes_probability && std::ranges::all_of(votes, [](const Vote& vote) { return vote.weight >= 0; });
  read.takes_one_row = node.since_version() < 3;
  return [read](RunContext& run) { read.run(run); };
}

}  // namespace

std::vector<OpRow> op_rows_tree_ensemble_classifier() {
  return {{"ai.onnx.ml", "TreeEnsembleClassifier", {1, 3, 5}, prepare_tree_ensemble_classifier}};
}

}  // namespace grurun::engine
