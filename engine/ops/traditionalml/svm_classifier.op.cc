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

  void read_pairs(PrepareContext& node, const std::vector<std::int64_t>& per_class);
  void read_linear();
  void run(RunContext& run) const;

 private:
  /// Of up to Likeness::most_rows rows: numbers [row, of each row].
  struct RowBlock {
    std::int64_t rows;
    ScratchVector<double> scores;  // before post_transform
    std::vector<std::size_t>* winners;
    std::int64_t first;  // of the rows, among the winners
  };
  using Numbers = ScratchVector<double>;

  void classify(const Likeness& likeness, RowBlock& block) const;
  Numbers decisions(const Likeness& likeness, std::int64_t rows) const;
  void add_probabilities(const Numbers& decided, RowBlock& block) const;
  std::size_t winner(std::span<const double> decided) const;
};

/// Of pairs, or of classes where the model is linear: [rows, pairs] or [rows, classes].
SvmClassifier::Numbers SvmClassifier::decisions(const Likeness& likeness, std::int64_t rows) const {
  constexpr std::size_t most_rows = Likeness::most_rows;
  const std::size_t k = labels.size(), others = k - 1, width = linear() ? k : pair_count();
  const auto count = static_cast<std::size_t>(rows);
  Numbers out(count * width);
  // Of each class and each row of the coefficients, or of each class: [rows].
  Numbers sums((linear() ? k : k * others) * most_rows, 0.0);
  for (std::size_t c = 0; c < k; ++c) {
    if (linear()) {
      constexpr float one = 1;
      const auto at = static_cast<std::int64_t>(c);
      likeness.add_weighted(at, at + 1, &one, 0, 1, &sums[c * most_rows]);
    } else {
      likeness.add_weighted(static_cast<std::int64_t>(first_vector[c]),
                            static_cast<std::int64_t>(first_vector[c + 1]),
                            coefficients.data() + first_vector[c], vectors.count(),
                            static_cast<std::int64_t>(others), &sums[c * others * most_rows]);
    }
  }
  if (linear()) {
    for (std::size_t n = 0; n < count; ++n) {
      for (std::size_t c = 0; c < k; ++c)
        out[n * k + c] = sums[c * most_rows + n] + static_cast<double>(rho[0]);
    }
    return out;
  }
  std::size_t pair = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i + 1; j < k; ++j, ++pair) {
      const double* const of_i = &sums[(i * others + j - 1) * most_rows];
      const double* const of_j = &sums[(j * others + i) * most_rows];
      for (std::size_t n = 0; n < count; ++n)
        out[n * width + pair] = of_i[n] + of_j[n] + static_cast<double>(rho[pair]);
    }
  }
  return out;
}

void SvmClassifier::add_probabilities(const Numbers& decided, RowBlock& block) const {
  const std::size_t k = labels.size(), pairs = pair_count(), rows = static_cast<std::size_t>(block.rows);
  Numbers r(k * k * coupled_rows), p;
  for (std::size_t first = 0; first < rows; first += coupled_rows) {
    for (std::size_t l = 0; l < coupled_rows; ++l) {
      const double* const row = &decided[std::min(first + l, rows - 1) * pairs];
      std::size_t pair = 0;
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = i + 1; j < k; ++j, ++pair) {
          const double exponent =
              static_cast<double>(prob_a[pair]) * row[pair] + static_cast<double>(prob_b[pair]);
          // Kept off 0 and 1, as libsvm does, so that no class is ruled out by one pair.
          const double chance = std::clamp(1 / (1 + std::exp(exponent)), 1e-7, 1 - 1e-7);
          r[(i * k + j) * coupled_rows + l] = chance;
          r[(j * k + i) * coupled_rows + l] = 1 - chance;
        }
      }
    }
    couple_pairwise(r, k, p);
    for (std::size_t l = 0; l < std::min(coupled_rows, rows - first); ++l) {
      for (std::size_t t = 0; t < k; ++t) block.scores[(first + l) * k + t] = p[t * coupled_rows + l];
    }
  }
}

std::size_t SvmClassifier::winner(std::span<const double> decided) const {
  ScratchVector<double> votes(labels.size(), 0.0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = i + 1; j < labels.size(); ++j) ++votes[decided[pair++] > 0 ? i : j];
  }
  return top_class(votes);
}

void SvmClassifier::classify(const Likeness& likeness, RowBlock& block) const {
  const std::size_t width = score_count();
  const auto rows = static_cast<std::size_t>(block.rows);
  Numbers decided = decisions(likeness, block.rows);
  const std::size_t decisions_of_row = decided.size() / rows;
  block.scores.resize(rows * width);
  for (std::size_t n = 0; n < rows; ++n) {
    const std::span of_row = std::span(decided).subspan(n * decisions_of_row, decisions_of_row);
    const std::span scores = std::span(block.scores).subspan(n * width, width);
    (*block.winners)[static_cast<std::size_t>(block.first) + n] =
        linear() ? top_class(of_row) : winner(of_row);
    if (linear() || (prob_a.empty() && labels.size() > 2)) {
      std::ranges::copy(of_row, scores.begin());
    } else if (prob_a.empty()) {
      const ScorePair both = score_pair(of_row[0], transform == PostTransform::probit);
      scores[0] = both.first, scores[1] = both.second;
    }
  }
  if (!linear() && !prob_a.empty()) add_probabilities(decided, block);
}

void SvmClassifier::run(RunContext& run) const {
  const Tensor& x = run.tensor(0);
  const FeatureRows rows = feature_rows(x, vectors.width());
  const Tensor wide = cast_tensor(x, DType::float64);
  const double* const features = wide.data<double>();
  const std::size_t width = score_count();
  const Shape shape{rows.count, static_cast<std::int64_t>(width)};
  float* const z = run.output(1, DType::float32, shape).mutable_data<float>();
  std::vector<std::size_t> winners(static_cast<std::size_t>(rows.count));
  for_row_blocks(run, rows.count, [&](std::int64_t first, std::int64_t count) {
    const Likeness likeness(kernel, vectors, features + first * rows.width, count,
                            x.dtype() == DType::float32);
    RowBlock block{count, {}, &winners, first};
    classify(likeness, block);
    const std::span scores(block.scores);
    for (std::size_t at = 0; at < scores.size(); at += width)
      apply_post_transform(transform, scores.subspan(at, width));
    float* const out = z + static_cast<std::size_t>(first) * width;
    std::ranges::transform(scores, out, [](double score) { return static_cast<float>(score); });
  });
  labels.write(run, winners);
}

void SvmClassifier::read_pairs(PrepareContext& node, const std::vector<std::int64_t>& per_class) {
  first_vector = {0};
  std::int64_t total = 0;
  for (const std::int64_t count : per_class) {
    total = checked_add(total, count);
    first_vector.push_back(static_cast<std::size_t>(total));
  }
  vectors = SvmVectors(node.floats_attribute("support_vectors"), total);
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
  vectors = SvmVectors(coefficients, static_cast<std::int64_t>(labels.size()));
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
