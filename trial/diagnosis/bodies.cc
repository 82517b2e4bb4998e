#include "trial/diagnosis/bodies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "tensor/error.h"
#include "trial/compare.h"
#include "trial/diagnosis/body_layers.h"
#include "trial/diagnosis/hypotheses.h"
#include "trial/diagnosis/replacement.h"
#include "trial/diagnosis/search.h"
#include "trial/precise.h"

namespace grurun::trial::diagnosis {
namespace {

bool is_float(const Value& value) {
  if (!value.is_tensor()) return false;
  const DType dtype = value.tensor().dtype();
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

/// As near as another runtime's sums are, and not as a user's tolerance may be.
Tolerances tight(const Value& expected) {
  Tolerances out;
  if (!is_float(expected)) return out;
  double largest = 0;
  for (const double value : doubles_of(expected.tensor())) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const Bounds bounds = bounds_of(expected.tensor().dtype());
  out.flag = {bounds.rtol, bounds.scale * largest};
  return out;
}

/// Mistakes of a layer that shows only by what the model makes of it.
std::vector<Hypothesis> hypotheses_of(const Subject& subject) {
  std::vector<Hypothesis> out;
  add_bias_hypotheses(subject, out);
  add_weight_hypotheses(subject, out);
  add_sequence_hypotheses(subject, out);
  add_function_hypotheses(subject, out);
  const std::vector<Hypothesis> of_one = of_one_direction(out, subject.layer);
  out.insert(out.end(), of_one.begin(), of_one.end());
  return out;
}

class Bodies {
 public:
  Bodies(const onnx_io::Model& model, const DiagnosisQuestion& question, const Rerun& rerun,
         const Budget& budget)
      : model_(model),
        question_(question),
        rerun_(rerun),
        budget_(budget),
        layers_(find_body_layers(model, question.inputs, rerun)) {
    for (const BodyLayer& layer : layers_) hypotheses_.push_back(hypotheses_of(layer.subject));
    for (std::size_t i = 0; i < question.expected.size(); ++i) {
      tolerances_.push_back(tight(question.expected[i]));
      was_near_.push_back(question.expected[i].empty() ||
                          compare_values(question.actual[i], question.expected[i], tolerances_[i]).ok);
    }
  }

  std::vector<Explanation> run() {
    if (layers_.empty()) return {};
    for (std::size_t i = 0; i < layers_.size() && !found_; ++i) try_each(i, {i});
    std::vector<std::size_t> all(layers_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    if (!found_ && all.size() > 1) try_each(0, all);
    return {found_ ? *std::move(found_) : unexplained()};
  }

 private:
  /// The hypotheses of the first of these layers, applied to all of them.
  void try_each(std::size_t first, const std::vector<std::size_t>& layers) {
    for (const Hypothesis& hypothesis : hypotheses_[first]) {
      if (budget_.is_over()) return;
      std::vector<Replacement> replacements;
      for (const std::size_t i : layers) {
        if (auto made = replaced(i, hypothesis)) replacements.push_back(*std::move(made));
      }
      if (replacements.size() != layers.size()) continue;
      ++tried_;
      if (reproduces(replacements)) return explain(hypothesis, layers);
    }
  }

  std::optional<Replacement> replaced(std::size_t i, const Hypothesis& hypothesis) const {
    const auto same = std::ranges::find_if(hypotheses_[i], [&](const Hypothesis& own) {
      return own.id == hypothesis.id && own.text == hypothesis.text;
    });
    Candidate candidate = as_stated(layers_[i].subject);
    if (same == hypotheses_[i].end() || !same->apply(candidate)) return std::nullopt;
    return replacement(layers_[i], candidate);
  }

  /// Every output that differs as expected, and none worse than it was.
  bool reproduces(const std::vector<Replacement>& replacements) {
    std::vector<Value> outputs;
    try {
      outputs = run_again(with_replacements(model_, replacements), question_.inputs, rerun_);
    } catch (const Error&) {
      return false;  // sizes may not fit; and where time is over the next look at the clock says so
    }
    max_ulp_.reset();
    max_abs_ = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (question_.expected[i].empty()) continue;
      const Comparison comparison = compare_values(outputs[i], question_.expected[i], tolerances_[i]);
      if (!comparison.ok && (question_.differs[i] || was_near_[i])) return false;
      if (!question_.differs[i]) continue;
      max_abs_ = std::max(max_abs_, comparison.errors.max_abs);
      if (comparison.errors.max_ulp) max_ulp_ = std::max(max_ulp_.value_or(0), *comparison.errors.max_ulp);
    }
    return true;
  }

  /// Different expected values that the run does not give.
  std::int64_t evidence() const {
    std::set<double> values;
    for (std::size_t i = 0; i < question_.expected.size(); ++i) {
      if (!question_.differs[i] || !is_float(question_.expected[i]) || !is_float(question_.actual[i]))
        continue;
      const std::vector<double> expected = doubles_of(question_.expected[i].tensor());
      const std::vector<double> actual = doubles_of(question_.actual[i].tensor());
      const Tolerance near{*tolerances_[i].flag.rtol, *tolerances_[i].flag.atol};
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const bool wrong =
            actual.size() != expected.size() ||
            !(std::fabs(actual[k] - expected[k]) <= near.atol + near.rtol * std::fabs(expected[k]));
        if (wrong) values.insert(expected[k]);
      }
    }
    return static_cast<std::int64_t>(values.size());
  }

  void explain(const Hypothesis& hypothesis, const std::vector<std::size_t>& layers) {
    const std::int64_t elements = evidence();
    const bool sure = elements >= evidence_needed(layers_[layers[0]].subject.dtype, 1);
    std::vector<std::string> outputs, others;
    for (std::size_t i = 0; i < question_.differs.size(); ++i) {
      if (question_.differs[i]) outputs.push_back("'" + model_.graph.outputs[i].name + "'");
    }
    for (std::size_t i = 1; i < layers.size(); ++i) others.push_back(layers_[layers[i]].subject.label);
    Explanation& explanation = found_.emplace();
    explanation.kind = sure ? "reproduced" : "suspected";
    explanation.node = layers_[layers[0]].subject.label;
    explanation.hypotheses = {hypothesis.id};
    explanation.max_ulp = max_ulp_;
    const std::string numbers =
        max_ulp_ ? fmt::format(" (max ULP {}, max abs {:.2g})", *max_ulp_, max_abs_) : "";
    explanation.text = fmt::format(
        "{}expected {} {} reproduced{} by a run of the model with {}{}",
        sure ? "" : "suspected: ", fmt::join(outputs, ", "), outputs.size() > 1 ? "are" : "is", numbers,
        hypothesis.text, others.empty() ? "" : fmt::format(", here and in {}", fmt::join(others, " and ")));
    if (!sure)
      explanation.text += fmt::format("; only {} different element{} of the expected values speak for it",
                                      elements, elements == 1 ? "" : "s");
  }

  Explanation unexplained() const {
    std::string others;
    for (std::size_t i = 1; i < layers_.size(); ++i) others += ", and of " + layers_[i].subject.label;
    return {
        "unexplained",
        {},
        layers_[0].subject.label,
        {},
        std::nullopt,
        fmt::format("nothing known {}reproduces what the model gives: it ran with each of {} mistakes "
                    "taken back in its body{}; its steps are not looked into, and layouts, sequence_lens, "
                    "what an export lost and pairs of mistakes are not tried there",
                    budget_.is_over() ? "that there was time for " : "", tried_, others)};
  }

  const onnx_io::Model& model_;
  const DiagnosisQuestion& question_;
  const Rerun& rerun_;
  const Budget& budget_;
  const std::vector<BodyLayer> layers_;
  std::vector<std::vector<Hypothesis>> hypotheses_;
  std::vector<Tolerances> tolerances_;
  std::vector<bool> was_near_;
  int tried_ = 0;
  std::optional<std::uint64_t> max_ulp_;
  double max_abs_ = 0;
  std::optional<Explanation> found_;
};

}  // namespace

std::vector<Explanation> judge_bodies(const onnx_io::Model& model, const DiagnosisQuestion& question,
                                      const Rerun& rerun, const Budget& budget) {
  return Bodies(model, question, rerun, budget).run();
}

}  // namespace grurun::trial::diagnosis
