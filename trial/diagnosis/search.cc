#include "trial/diagnosis/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/chain.h"
#include "trial/diagnosis/hypotheses.h"
#include "trial/diagnosis/inference.h"
#include "trial/diagnosis/reproduces.h"

namespace grurun::trial::diagnosis {
namespace {

/// Pairs by the sum of their places in the list of hypotheses.
constexpr std::size_t likely_pairs = 16;
constexpr std::size_t all_pairs = 100'000;
/// Others that fit as well are named up to this number.
constexpr std::size_t others_named = 2;

class Search {
 public:
  Search(const Subject& subject, const Expected& expected, const Candidate& base, const Evidence& evidence,
         Budget& budget)
      : subject_(subject),
        expected_(expected),
        base_(base),
        evidence_(evidence),
        budget_(budget),
        hypotheses_(all_hypotheses(subject, expected)) {}

  std::optional<Cause> run() {
    single(hypotheses_) || single(of_one_direction(hypotheses_, base_.layer)) || in_chain() ||
        lengths_of_final_states() || pair(likely_pairs) || inferred_at_base() || pair(all_pairs) ||
        inferred_beside_one();
    return std::move(cause_);
  }

 private:
  bool single(const std::vector<Hypothesis>& hypotheses) {
    std::vector<const Hypothesis*> fitting;
    std::optional<Candidate> first;
    for (const Hypothesis& hypothesis : hypotheses) {
      if (budget_.is_over()) break;
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
    cause_ = {{fitting.front()->id}, text, *first, doubt(evidence_needed(subject_.dtype, 1))};
    return true;
  }

  /// In the layers below too, or in them alone, or in one of them.
  bool in_chain() {
    const Chain chain(subject_);
    if (chain.size() == 0) return false;
    Budget share = budget_.share(0.3);
    const auto try_all = [&](const std::vector<Hypothesis>& hypotheses, bool here,
                             std::optional<std::size_t> only) {
      for (const Hypothesis& hypothesis : hypotheses) {
        if (share.is_over() || cause_) return;
        const Array X = chain.X_with(hypothesis, only, share);
        Candidate c = base_;
        c.layer.X = X;
        if (!X || (here && !hypothesis.apply(c)) || !reproduces(expected_, c, share)) continue;
        const std::string where = here ? ", in this layer and below it in " : ", below it in ";
        cause_ = {{hypothesis.id},
                  hypothesis.text + where + chain.text(only),
                  c,
                  doubt(evidence_needed(subject_.dtype, 1))};
      }
    };
    try_all(hypotheses_, true, std::nullopt);
    try_all(chain.hypotheses_of(chain.size() - 1), false, std::nullopt);
    for (std::size_t layer = chain.size(); chain.size() > 1 && layer-- > 0;)
      try_all(chain.hypotheses_of(layer), false, layer);
    budget_.spend(share);
    return cause_.has_value();
  }

  /// Of a large layer without Y there is no time for them behind the pairs.
  bool lengths_of_final_states() {
    Budget share = budget_.share(0.5);
    const bool has_shapes = expected_.has_shapes_of(base_) && base_.layer.seq_length > 0;
    const auto found =
        has_shapes ? infer_lengths(Attempt(subject_, expected_, base_, share)) : std::optional<Inference>();
    budget_.spend(share);
    return found && is_enough(*found, {});
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
    return !found.empty() && is_enough(found.front(), beside);
  }

  /// Whether so much speaks for it; it is the cause then.
  bool is_enough(const Inference& best, const std::vector<const Hypothesis*>& beside) {
    // As many numbers as there are elements fit anything; a single one is held by the elements behind the
    // first.
    const std::int64_t of_hypotheses = evidence_needed(subject_.dtype, 1 + beside.size());
    const std::int64_t needed = (best.fitted > 1 ? best.fitted : 0) + of_hypotheses;
    if (best.structure_only ? !beside.empty() : evidence_.elements < needed) return false;
    std::vector<std::string> ids;
    std::string text;
    for (const Hypothesis* hypothesis : beside) {
      ids.push_back(hypothesis->id);
      text += hypothesis->text + ", and ";
    }
    ids.push_back(best.id);
    cause_ = {ids, text + best.text, best.candidate,
              best.structure_only ? "only the structure says so" : doubt(2 * best.fitted + of_hypotheses),
              best.structure_only};
    return true;
  }

  // Likely ones first: by the sum of places in the list.
  bool pair(std::size_t most_sum) {
    const std::size_t count = hypotheses_.size();
    if (evidence_.elements < evidence_needed(subject_.dtype, 1))
      return false;  // among so many one fits by chance
    for (std::size_t sum = 1; sum <= std::min(most_sum, 2 * count - 3); ++sum) {
      for (std::size_t a = sum >= count ? sum - count + 1 : 0; 2 * a < sum; ++a) {
        const Hypothesis& first = hypotheses_[a];
        const Hypothesis& second = hypotheses_[sum - a];
        if (first.family == second.family) continue;
        if (budget_.is_over()) return false;
        Candidate c = base_;
        if (!first.apply(c) || !second.apply(c) || !reproduces(expected_, c, budget_)) continue;
        cause_ = {{first.id, second.id},
                  first.text + ", and " + second.text,
                  c,
                  doubt(evidence_needed(subject_.dtype, 2))};
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
    if (evidence_.elements >= needed) return {};
    if (evidence_.wrong > 1 && !evidence_.constant.empty())
      return "the expected " + evidence_.constant + ", which many a cause would give";
    return fmt::format("only {} different element{} of the expected values speak for it", evidence_.elements,
                       evidence_.elements == 1 ? "" : "s");
  }

  const Subject& subject_;
  const Expected& expected_;
  const Candidate& base_;
  const Evidence& evidence_;
  Budget& budget_;
  const std::vector<Hypothesis> hypotheses_;
  std::optional<Cause> cause_;
};

}  // namespace

std::int64_t evidence_needed(DType dtype, std::size_t hypotheses) {
  const bool coarse = dtype == DType::float16 || dtype == DType::bfloat16;
  return static_cast<std::int64_t>(hypotheses) * (coarse ? 8 : 3);
}

std::optional<Cause> find_cause(const Subject& subject, const Expected& expected, const Candidate& base,
                                const Evidence& evidence, Budget& budget) {
  return Search(subject, expected, base, evidence, budget).run();
}

}  // namespace grurun::trial::diagnosis
