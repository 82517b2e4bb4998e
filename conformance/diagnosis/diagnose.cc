#include "conformance/diagnosis/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "conformance/compare.h"
#include "conformance/diagnosis/expected.h"
#include "conformance/diagnosis/hypotheses.h"
#include "conformance/diagnosis/inference.h"
#include "conformance/diagnosis/parting.h"
#include "conformance/diagnosis/subject.h"
#include "tensor/error.h"
#include "tensor/sanitizers.h"

namespace grurun::conformance {
namespace diagnosis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_operations = 2e9;
#if GRURUN_ASAN || GRURUN_TSAN
constexpr std::chrono::milliseconds most_time{30000};  // all is slower, and the same is to be found
#else
constexpr std::chrono::milliseconds most_time{1500};
#endif
/// Pairs by the sum of their places in the list of hypotheses.
constexpr std::size_t likely_pairs = 16;
constexpr std::size_t all_pairs = 100'000;
/// Others that fit as well are named up to this number.
constexpr std::size_t others_named = 2;

/// How many elements must speak for one hypothesis, beyond those that were right without it: enough that
/// chance would need luck of one in a million, given how near the values have to be.
std::int64_t evidence_needed(DType dtype, std::size_t hypotheses) {
  const bool coarse = dtype == DType::float16 || dtype == DType::bfloat16;
  return static_cast<std::int64_t>(hypotheses) * (coarse ? 8 : 3);
}

class Diagnosis {
 public:
  Diagnosis(const Subject& subject, const Expected& expected, Budget& budget)
      : subject_(subject), expected_(expected), budget_(budget), base_{subject.layer, {}} {
    if (subject.layout == 1) base_.reading.arrangement = Arrangement::batch_first;
    hypotheses_ = all_hypotheses(subject, expected);
  }

  Finding run() {
    finding_.node = subject_.label;
    count_evidence();
    if (expected_.has_shapes_of(base_) && evidence_ == 0) {
      unexplained(fmt::format(
          "the expected {} agree{} with a recomputation in double: the difference is one of precision",
          expected_.names(subject_.layer), expected_.names(subject_.layer).size() > 3 ? "" : "s"));
    } else if (!single() && !pair(likely_pairs) && !inferred_at_base() && !pair(all_pairs) &&
               !inferred_beside_one()) {
      const auto parting = describe_parting(subject_, expected_, base_);
      std::string text = budget_.is_over() ? "nothing known that there was time for reproduces it"
                                           : "nothing known reproduces it";
      unexplained(text + ": " + parting.value_or("it does not part here"));
    }
    const std::string extent = expected_.extent_text(subject_.layer);
    if (!extent.empty()) finding_.text += "; seen were " + extent;
    return std::move(finding_);
  }

 private:
  /// Elements that the layer as it is gets wrong.
  void count_evidence() {
    if (!expected_.has_shapes_of(base_)) {
      evidence_ = expected_.informative();
      return;
    }
    const auto computed = compute_outputs(expected_, base_, subject_.dtype);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      if (!expected_.output(i)) continue;
      const std::vector<double> values = doubles_of(computed[i].tensor());
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!expected_.near(values[k], expected_.output(i)->values[k])) ++evidence_;
      }
    }
  }

  bool single() {
    std::vector<const Hypothesis*> fitting;
    std::optional<Candidate> first;
    for (const Hypothesis& hypothesis : hypotheses_) {
      Candidate c = base_;
      if (!hypothesis.apply(c) || !reproduces(expected_, c, budget_)) continue;
      fitting.push_back(&hypothesis);
      if (!first) first = std::move(c);
    }
    if (fitting.empty()) return false;
    std::string text = fitting.front()->text;
    for (std::size_t i = 1; i < std::min(fitting.size(), 1 + others_named); ++i)
      text += "; as well with " + fitting[i]->text;
    if (fitting.size() > 1 + others_named)
      text += fmt::format("; and {} more", fitting.size() - 1 - others_named);
    explained({fitting.front()->id}, text, *first, doubt(evidence_needed(subject_.dtype, 1)));
    return true;
  }

  /// Fitting may take its share of the time, no more.
  bool inferred_at_base() {
    Budget share = budget_.share(0.5);
    const bool found = inferred(base_, {}, share);
    budget_.spend(share);
    return found;
  }

  bool inferred(const Candidate& start, const std::vector<const Hypothesis*>& beside, Budget& budget) {
    std::vector<Inference> found = infer(subject_, expected_, start, budget);
    if (found.empty()) return false;
    const Inference& best = found.front();
    // As many numbers as there are elements fit anything.
    const std::int64_t needed = best.fitted + evidence_needed(subject_.dtype, 1 + beside.size());
    if (best.structure_only ? !beside.empty() : evidence_ < needed) return false;
    std::vector<std::string> ids;
    std::string text;
    for (const Hypothesis* hypothesis : beside) {
      ids.push_back(hypothesis->id);
      text += hypothesis->text + ", and ";
    }
    ids.push_back(best.id);
    explained(ids, text + best.text, best.candidate,
              best.structure_only ? "only the structure says so" : doubt(needed + best.fitted));
    return true;
  }

  // Likely ones first: by the sum of places in the list.
  bool pair(std::size_t most_sum) {
    const std::size_t count = hypotheses_.size();
    if (evidence_ < evidence_needed(subject_.dtype, 1)) return false;  // among so many one fits by chance
    for (std::size_t sum = 1; sum <= std::min(most_sum, 2 * count - 3); ++sum) {
      for (std::size_t a = sum >= count ? sum - count + 1 : 0; 2 * a < sum; ++a) {
        const Hypothesis& first = hypotheses_[a];
        const Hypothesis& second = hypotheses_[sum - a];
        if (first.family == second.family) continue;
        if (budget_.is_over()) return false;
        Candidate c = base_;
        if (!first.apply(c) || !second.apply(c) || !reproduces(expected_, c, budget_)) continue;
        explained({first.id, second.id}, first.text + ", and " + second.text, c,
                  doubt(evidence_needed(subject_.dtype, 2)));
        return true;
      }
    }
    return false;
  }

  /// Something lost, and one of the most common mistakes beside it.
  bool inferred_beside_one() {
    static constexpr const char* common[] = {"linear-before-reset", "gate-order", "directions-swapped",
                                             "R-transposed", "activations-default"};
    for (const char* id : common) {
      const auto likely = std::ranges::find(hypotheses_, id, &Hypothesis::id);
      Candidate c = base_;
      if (likely == hypotheses_.end() || budget_.is_over() || !likely->apply(c)) continue;
      if (inferred(c, {&*likely}, budget_)) return true;
    }
    return false;
  }

  /// Empty when so many elements are enough.
  std::string doubt(std::int64_t needed) const {
    if (evidence_ >= needed) return {};
    return fmt::format("only {} element{} of the expected values speak for it", evidence_,
                       evidence_ == 1 ? "" : "s");
  }

  void explained(std::vector<std::string> ids, const std::string& text, const Candidate& c,
                 const std::string& why_not) {
    const bool sure = why_not.empty();
    finding_.kind = sure ? "reproduced" : "suspected";
    finding_.hypotheses = std::move(ids);
    finding_.max_ulp = max_ulp(c);
    const std::string names = expected_.names(subject_.layer);
    const std::string numbers =
        finding_.max_ulp ? fmt::format(" (max ULP {}, max abs {:.2g})", *finding_.max_ulp, max_abs_) : "";
    finding_.text = fmt::format("{}expected {} {} reproduced{} with {}", sure ? "" : "suspected: ", names,
                                names.size() > 3 ? "are" : "is", numbers, text);
    if (!sure) finding_.text += "; " + why_not;
  }

  void unexplained(std::string text) {
    finding_.kind = "unexplained";
    finding_.text = std::move(text);
  }

  std::optional<std::uint64_t> max_ulp(const Candidate& c) {
    const auto computed = compute_outputs(expected_, c, subject_.dtype);
    std::optional<std::uint64_t> most;
    for (std::size_t i = 0; i < computed.size(); ++i) {
      if (!expected_.output(i)) continue;
      const Comparison comparison = compare_values(computed[i], expected_.output(i)->tensor, {});
      max_abs_ = std::max(max_abs_, comparison.errors.max_abs);
      if (comparison.errors.max_ulp) most = std::max(most.value_or(0), *comparison.errors.max_ulp);
    }
    return most;
  }

  const Subject& subject_;
  const Expected& expected_;
  Budget& budget_;
  Candidate base_;
  std::vector<Hypothesis> hypotheses_;
  std::int64_t evidence_ = 0;
  double max_abs_ = 0;
  Finding finding_;
};

bool differs_at(const Subject& subject, const std::vector<bool>& differs) {
  return std::ranges::any_of(subject.exits,
                             [&](const auto& exit) { return exit && differs[exit->graph_output]; });
}

std::vector<Finding> diagnose_all(const DiagnosisQuestion& question) {
  std::vector<Finding> findings;
  if (!has_recurrent_node(question.model)) return findings;
  const Clock::time_point end = Clock::now() + most_time;
  const auto deadline = question.deadline ? std::min(*question.deadline, end) : end;
  Budget budget(most_operations, deadline);
  for (const Subject& subject : find_subjects(question.model, question.inputs, deadline)) {
    const bool has_elements = subject.layer.batch_size > 0 && subject.layer.hidden_size > 0;
    if (!has_elements || !differs_at(subject, question.differs)) continue;
    const Expected expected(subject, question.expected);
    if (!expected.empty()) findings.push_back(Diagnosis(subject, expected, budget).run());
  }
  return findings;
}

}  // namespace
}  // namespace diagnosis

bool can_be_diagnosed(const onnx_io::Model& model) {
  return diagnosis::has_recurrent_node(model);
}

std::vector<Finding> diagnose(const DiagnosisQuestion& question) {
  const auto not_done = [](const std::string& reason) {
    return std::vector<Finding>{
        {"unexplained", {}, "recurrent nodes", {}, std::nullopt, "not diagnosed: " + reason}};
  };
  try {
    return diagnosis::diagnose_all(question);
  } catch (const Error& error) {
    return not_done(error.what());  // the verdict stands without a reason: no time, no memory
  } catch (const std::bad_alloc&) {
    return not_done("out of memory");
  } catch (const std::exception& error) {
    return not_done(fmt::format("internal error: {}", error.what()));
  }
}

std::string describe(const Finding& finding) {
  return finding.node + ": " + finding.text;
}

}  // namespace grurun::conformance
