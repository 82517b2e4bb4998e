#include "trial/diagnosis/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tensor/memory/heap.h"
#include "trial/diagnosis/diagnose.h"
#include "trial/precise.h"

namespace grurun::trial {
namespace {

std::vector<Explanation> judge_in_double(const Trial& trial, const Outcome& outcome,
                                         const std::vector<bool>& differs) {
  const TrialOptions& options = trial.options();
  const std::vector<Value> truth =
      run_in_double(trial.model(), outcome.inputs, {options.seed, options.deadline});
  std::vector<Explanation> out;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (options.precise == Precise::differing && !differs[i]) continue;
    std::string text = judge_by_truth(truth[i], outcome.outputs[i], outcome.expected[i]);
    if (text.empty()) continue;
    std::string about = fmt::format("output '{}'", trial.model().graph.outputs[i].name);
    out.push_back({"precision", {}, std::move(about), {}, std::nullopt, std::move(text)});
  }
  return out;
}

}  // namespace

Reasons explain(const Trial& trial, const Outcome& outcome) {
  const TrialOptions& options = trial.options();
  Reasons out;
  std::vector<bool> differs;
  for (const Judgement& judgement : outcome.judgements)
    differs.push_back(judgement.differs() && !judgement.random);
  const bool any = std::ranges::find(differs, true) != differs.end();
  if (any && options.diagnose && can_be_diagnosed(trial.model())) {
    const Rerun rerun{options.seed, options.deadline};
    out.explanations =
        diagnose({trial.model(), outcome.inputs, outcome.expected, outcome.outputs, differs, rerun});
  }
  if (options.precise == Precise::none || (options.precise == Precise::differing && !any)) return out;
  try {
    std::ranges::move(judge_in_double(trial, outcome, differs), std::back_inserter(out.explanations));
  } catch (const Error& error) {
    out.failed = error;
  } catch (const std::bad_alloc&) {
    out.failed = Error(ErrorKind::limit, memory::out_of_memory_text());
  }
  return out;
}

}  // namespace grurun::trial
