// SVMClassifier (ai.onnx.ml 1).
//
// With support vectors, vectors_per_class[i] of them for class i, the model is libsvm's: one decision for
// each pair of classes i < j, in the order (0,1), (0,2), ..., (1,2), ..., of coefficients [K - 1, V]:
//   s[i, j] = sum over the vectors v of class i: coefficients[j - 1, v] * kernel(x, v)
//           + sum over those of class j:         coefficients[i, v] * kernel(x, v) + rho[pair]
// s > 0 votes for class i, else for j; Y is the class with the most votes, the first of several. Z holds
//   with prob_a and prob_b  the K class probabilities (pairwise_coupling.h) of
//                           r[i, j] = 1 / (1 + exp(prob_a[pair] * s + prob_b[pair]))
//   without, K = 2          the pair that stands for s (score_pair), [-s, s]
//   without, K > 2          the K (K - 1) / 2 decisions
// Without support vectors, whatever kernel_type says, the model is linear:
//   s[k] = coefficients[k] . x + rho[0], Y the class of the highest, Z the K scores.
// post_transform applies to each row of Z.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/class_labels.h"
#include "engine/ops/traditionalml/feature_rows.h"
#include "engine/ops/traditionalml/pairwise_coupling.h"
#include "engine/ops/traditionalml/post_transform.h"
#include "engine/ops/traditionalml/svm_kernel.h"

namespace grurun::engine {

namespace {

struct SvmClassifier {
  ClassLabels labels;
  SvmKernel kernel;
  PostTransform transform;
  SvmVectors vectors;                     // the linear model's weights where first_vector is empty
  std::vector<std::size_t> first_vector;  // [K + 1]: where each class's vectors begin
  std::vector<float> coefficients;
  std::vector<float> rho, prob_a, prob_b;

  bool linear() const { return first_vector.empty(); }
  std::size_t pair_count() const { return labels.size() * (labels.size() - 1) / 2; }
  std::size_t score_count() const {
    return linear() || !prob_a.empty() || labels.size() == 2 ? labels.size() : pair_count();
  }

  /// The row's scores, before post_transform, and its class.
  std::size_t classify(std::span<const double> x, std::vector<double>& scores) const;

  void read_pairs(PrepareContext& node, const std::vector<std::int64_t>& per_class);
  void read_linear();
  void run(RunContext& run) const;

 private:
  std::vector<double> decisions(std::span<const double> x) const;
  std::vector<double> probabilities(const std::vector<double>& decisions) const;
};

std::vector<double> SvmClassifier::decisions(std::span<const double> x) const {
  const auto count = static_cast<std::size_t>(vectors.count);
  std::vector<double> likeness(count);
  for (std::size_t v = 0; v < count; ++v) likeness[v] = kernel(x, vectors[static_cast<std::int64_t>(v)]);
  std::vector<double> out;
  out.reserve(pair_count());
  const auto weighted = [&](std::size_t of_class, std::size_t row) {
    double sum = 0;
    for (std::size_t v = first_vector[of_class]; v < first_vector[of_class + 1]; ++v) {
      sum += static_cast<double>(coefficients[row * count + v]) * likeness[v];
    }
    return sum;
  };
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = i + 1; j < labels.size(); ++j) {
      out.push_back(weighted(i, j - 1) + weighted(j, i) + static_cast<double>(rho[out.size()]));
    }
  }
  return out;
}

std::vector<double> SvmClassifier::probabilities(const std::vector<double>& decisions) const {
  const std::size_t k = labels.size();
  std::vector<double> r(k * k, 0.0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i + 1; j < k; ++j, ++pair) {
      const double exponent =
          static_cast<double>(prob_a[pair]) * decisions[pair] + static_cast<double>(prob_b[pair]);
      // Kept off 0 and 1, as libsvm does, so that no class is ruled out by one pair.
      r[i * k + j] = std::clamp(1 / (1 + std::exp(exponent)), 1e-7, 1 - 1e-7);
      r[j * k + i] = 1 - r[i * k + j];
    }
  }
  return couple_pairwise(r, k);
}

std::size_t SvmClassifier::classify(std::span<const double> x, std::vector<double>& scores) const {
  const std::size_t k = labels.size();
  if (linear()) {
    scores.clear();
    for (std::int64_t c = 0; c < vectors.count; ++c) {
      scores.push_back(kernel(x, vectors[c]) + static_cast<double>(rho[0]));
    }
    return top_class(scores);
  }
  const std::vector<double> decided = decisions(x);
  std::vector<double> votes(k, 0.0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i + 1; j < k; ++j) ++votes[decided[pair++] > 0 ? i : j];
  }
  if (!prob_a.empty()) {
    scores = probabilities(decided);
  } else if (k == 2) {
    const ScorePair both = score_pair(decided[0], transform == PostTransform::probit);
    scores = {both.first, both.second};
  } else {
    scores = decided;
  }
  return top_class(votes);
}

void SvmClassifier::run(RunContext& run) const {
  const Tensor& x = run.tensor(0);
  const FeatureRows rows = feature_rows(x, vectors.width());
  const Tensor wide = cast_tensor(x, DType::float64);
  const auto width = static_cast<std::size_t>(rows.width);
  const Shape shape{rows.count, static_cast<std::int64_t>(score_count())};
  float* z = run.output(1, DType::float32, shape).mutable_data<float>();
  std::vector<std::size_t> winners;
  std::vector<double> scores;
  for (std::int64_t n = 0; n < rows.count; ++n) {
    run.check_limits();
    const auto row = wide.span<double>().subspan(static_cast<std::size_t>(n) * width, width);
    winners.push_back(classify(row, scores));
    apply_post_transform(transform, scores);
    for (const double score : scores) *z++ = static_cast<float>(score);
  }
  labels.write(run, winners);
}

void SvmClassifier::read_pairs(PrepareContext& node, const std::vector<std::int64_t>& per_class) {
  first_vector = {0};
  std::int64_t total = 0;
  for (const std::int64_t count : per_class) {
    total = checked_add(total, count);
    first_vector.push_back(static_cast<std::size_t>(total));
  }
  vectors = {node.floats_attribute("support_vectors"), total};
}

void SvmClassifier::read_linear() {
  if (!prob_a.empty() || !prob_b.empty()) {
    fail_unsupported(
        "prob_a and prob_b without support vectors: they are of pairs of classes, and there are none");
  }
  if (rho.size() != 1) {
    fail_unsupported(
        "rho of {} values without support vectors: what but one added to every score means is not said",
        rho.size());
  }
  kernel = {};
  vectors = {std::move(coefficients), static_cast<std::int64_t>(labels.size())};
}

RunFunction prepare_svm_classifier(PrepareContext& node) {
  SvmClassifier read{ClassLabels(node, "classlabels_ints"),
                     svm_kernel_attributes(node),
                     post_transform_attribute(node),
                     {},
                     {},
                     node.floats_attribute("coefficients"),
                     node.floats_attribute("rho"),
                     node.floats_attribute("prob_a"),
                     node.floats_attribute("prob_b")};
  const std::vector<std::int64_t> per_class = node.ints_attribute("vectors_per_class");
  const bool has_vectors = !node.floats_attribute("support_vectors").empty();
  const bool counts_vectors = std::ranges::any_of(per_class, [](std::int64_t count) { return count != 0; });
  if (has_vectors || counts_vectors) {
    read.read_pairs(node, per_class);
  } else {
    read.read_linear();
  }
  return [read](RunContext& run) { read.run(run); };
}

}  // namespace

std::vector<OpRow> op_rows_svm_classifier() {
  return {{"ai.onnx.ml", "SVMClassifier", {1}, prepare_svm_classifier}};
}

}  // namespace grurun::engine
