#include "trial/diagnosis/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <unordered_set>

#include "tensor/error.h"
#include "tensor/sanitizers.h"
#include "trial/compare.h"
#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/bodies.h"
#include "trial/diagnosis/branches.h"
#include "trial/diagnosis/evidence.h"
#include "trial/diagnosis/expected.h"
#include "trial/diagnosis/parting.h"
#include "trial/diagnosis/paths_to_output.h"
#include "trial/diagnosis/reproduces.h"
#include "trial/diagnosis/search.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial {
namespace diagnosis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double most_operations = 2e9;
#if GRURUN_ASAN || GRURUN_TSAN
constexpr std::chrono::seconds most_time{30};  // all is slower, and the same is to be found
#else
constexpr std::chrono::milliseconds most_time{1500};
#endif
/// The engine's runs that reasons need are bounded by the clock, since many threads may compute: so
/// generously that it does not matter what else the machine does.
constexpr auto longest_rerun = 20 * most_time;
/// As long again may what was found in a part of a layer be tried on all of it. It ends in time by the clock
/// alone: one pass is nothing to save on.
constexpr double most_confirming = 1e12;
/// A greater part of the largest expected value than rounding makes, in 16 bits and many steps too.
constexpr double most_of_rounding = 0.05;
/// What fails on the whole is looked for once more, with the row where it failed.
constexpr int most_rounds = 3;

struct Budgets {
  Budget search, confirm;
};

class Diagnosis {
 public:
  Diagnosis(const Subject& subject, Expected& expected, Budgets& budgets)
      : subject_(subject), expected_(expected), budgets_(budgets), base_(as_stated(subject)) {}

  Explanation run() {
    explanation_.node = subject_.label;
    for (int round = 1; !done(round == most_rounds); ++round) continue;
    return std::move(explanation_);
  }

 private:
  /// One round; true when it has told something.
  bool done(bool is_last) {
    const Evidence evidence = weigh(expected_, base_, subject_.dtype);
    const bool agrees = expected_.has_shapes_of(base_) && evidence.wrong == 0;
    std::optional<Cause> cause;
    if (!agrees) cause = find_cause(subject_, expected_, base_, evidence, budgets_.search);
    if (!agrees && !cause) return unexplained(), true;
    const Candidate& found = agrees ? base_ : cause->candidate;
    const bool all_seen = expected_.extent().is_all(found.layer) || (cause && cause->by_row);
    const Confirmation whole =
        all_seen ? Confirmation{Confirmation::holds, 0} : confirm(expected_, found, budgets_.confirm);
    if (whole.result == Confirmation::fails) {
      if (cause) contradicted_ = contradiction(*cause, whole);
      expected_.extent().look_at(found.layer, whole.row, whole.step);
      if (is_last) unexplained();
      return is_last;
    }
    agrees ? agreed(whole) : explained(*cause, whole);
    return true;
  }

  /// "2 of 16 rows come out with B left out, but batch row 3 parts at step 0".
  std::string contradiction(const Cause& cause, const Confirmation& whole) const {
    return fmt::format("{} come out with {}; but batch row {} parts at step {}",
                       expected_.extent().text(cause.candidate.layer), cause.text, whole.row, whole.step);
  }

  void agreed(const Confirmation& whole) {
    explanation_.kind = "unexplained";
    const bool all = whole.result == Confirmation::holds;
    if (all) expected_.extent().look_at_all();
    const std::string names = expected_.names(subject_.layer);
    explanation_.text = fmt::format("the expected {} agree{} with a recomputation in double", names,
                                    names.size() > 3 ? "" : "s");
    if (!all)
      explanation_.text += fmt::format(" as far as there was time to look: {}", rows_text(whole));
    else if (!expected_.has_shapes_of_run())
      explanation_.text += ": only the shape differs, behind the node";
    else if (expected_.gap() > most_of_rounding)
      explanation_.text += fmt::format(
          "; what is compared with them is off by {:.2g} of the largest of them, more than rounding explains",
          expected_.gap());
    else
      explanation_.text += ": the difference is one of precision";
  }

  void explained(const Cause& cause, const Confirmation& whole) {
    explanation_.hypotheses = cause.ids;
    explanation_.max_ulp = max_ulp(cause.candidate);
    const std::string extent = expected_.extent().text(cause.candidate.layer);
    const bool all = whole.result == Confirmation::holds;
    const bool sure = cause.doubt.empty() && all;
    explanation_.kind = sure ? "reproduced" : "suspected";
    if (all && !cause.by_row) expected_.extent().look_at_all();
    const std::string names = expected_.names(subject_.layer);
    const std::string numbers =
        explanation_.max_ulp ? fmt::format(" (max ULP {}, max abs {:.2g})", *explanation_.max_ulp, max_abs_)
                             : "";
    explanation_.text = fmt::format("{}expected {} {} reproduced{} with {}", sure ? "" : "suspected: ", names,
                                    names.size() > 3 ? "are" : "is", numbers, cause.text);
    if (!cause.doubt.empty()) explanation_.text += "; " + cause.doubt;
    if (extent.empty()) return;
    explanation_.text += cause.by_row ? "; seen were " + extent
                         : all        ? fmt::format("; found by {}, confirmed by all", extent)
                               : fmt::format("; found by {}, and there was time to confirm it by {}", extent,
                                             rows_text(whole));
  }

  std::string rows_text(const Confirmation& whole) const {
    return fmt::format("{} of {} rows", whole.rows, subject_.layer.batch_size);
  }

  void unexplained() {
    explanation_.kind = "unexplained";
    explanation_.text = budgets_.search.is_over() ? "nothing known that there was time for reproduces it"
                                                  : "nothing known reproduces it";
    if (!contradicted_.empty()) explanation_.text += " all (" + contradicted_ + ")";
    const auto parting = describe_parting(subject_, expected_, base_);
    explanation_.text += ": " + parting.value_or("it does not part here");
    if (begins_otherwise()) {
      explanation_.text += "; all other steps follow from the expected ones before them";
      explanation_.text +=
          subject_.layer.op == Op::lstm
              ? " and from one cell state: initial_h, or both initial states, may be missing or others"
              : ": initial_h may be missing or another";
    }
    const std::string extent = expected_.extent().text(subject_.layer);
    if (!extent.empty()) explanation_.text += "; seen were " + extent;
  }

  /// An LSTM's cell state is not seen, but follows from the second step.
  bool begins_otherwise() {
    if (!expected_.Y() || !expected_.has_shapes_of(base_)) return false;
    Budget budget = budgets_.confirm.share(0.5);
    const Attempt attempt(subject_, expected_, base_, budget);
    if (!only_first_steps_differ(attempt, 1)) return false;
    return subject_.layer.op != Op::lstm || steps_follow_from_a_cell_state(attempt);
  }

  std::optional<std::uint64_t> max_ulp(const Candidate& c) {
    const auto computed = compute_outputs(expected_, c, subject_.dtype);
    std::optional<std::uint64_t> most;
    for (std::size_t i = 0; i < computed.size(); ++i) {
      if (!expected_.output(i)) continue;
      const Comparison comparison = compare_values(computed[i], expected_.as_read(c, i), {});
      max_abs_ = std::max(max_abs_, comparison.errors.max_abs);
      if (comparison.errors.max_ulp) most = std::max(most.value_or(0), *comparison.errors.max_ulp);
    }
    return most;
  }

  const Subject& subject_;
  Expected& expected_;
  Budgets& budgets_;
  Candidate base_;
  double max_abs_ = 0;
  std::string contradicted_;  // what a part of the layer seemed to say
  Explanation explanation_;
};

bool differs_at(const Subject& subject, const std::vector<bool>& differs) {
  return std::ranges::any_of(subject.graph_outputs,
                             [&](const auto& exit) { return exit && differs[exit->graph_output]; });
}

/// Of an output of another element type the comparison has said all there is to say.
std::vector<bool> values_that_differ(const DiagnosisQuestion& question) {
  std::vector<bool> out = question.differs;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Value &expected = question.expected[i], &actual = question.actual[i];
    if (expected.is_tensor() && actual.is_tensor() && expected.tensor().dtype() != actual.tensor().dtype())
      out[i] = false;
  }
  return out;
}

/// What is told where nothing was traced back. of_bodies: of layers in bodies, if any could be tried.
std::vector<Explanation> not_traced(const onnx_io::Model& model, const std::vector<bool>& differs,
                                    const std::vector<Explanation>& of_bodies) {
  if (!of_bodies.empty() && of_bodies[0].kind != "unexplained") return of_bodies;
  for (const Untraced& output : find_untraced(model)) {
    if (!differs[output.graph_output]) continue;
    if (output.in_body && !of_bodies.empty()) return of_bodies;
    return {{"unexplained", {}, output.label, {}, std::nullopt, "not examined: " + output.why}};
  }
  return {};
}

std::vector<Explanation> diagnose_all(const DiagnosisQuestion& question) {
  std::vector<Explanation> explanations;
  if (!has_recurrent_node(question.model)) return explanations;
  const auto deadline = question.rerun.deadline.value_or(Clock::time_point::max());
  Budgets budgets{{most_operations, most_time, deadline}, {most_confirming, 2 * most_time, deadline}};
  const Rerun rerun{question.rerun.seed, std::min(deadline, Clock::now() + longest_rerun)};
  const onnx_io::Model model = written_out(question.model, question.inputs, rerun);
  std::vector<Subject> subjects = find_subjects(model, question.inputs, rerun);
  const std::vector<bool> differs = values_that_differ(question);
  std::erase_if(subjects, [&](const Subject& subject) {
    const bool has_elements = subject.layer.batch_size > 0 && subject.layer.hidden_size > 0;
    return !has_elements || !differs_at(subject, differs);
  });
  // What is told of a whole layer need not be told of a direction of it.
  std::unordered_set<const onnx_io::Node*> whole;
  for (const Subject& subject : subjects) {
    if (!subject.other_direction) whole.insert(subject.node);
  }
  std::erase_if(subjects, [&](const Subject& subject) {
    return subject.other_direction && whole.contains(subject.node);
  });
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    Expected expected(subjects[i], question.expected, question.actual);
    if (expected.empty()) continue;
    // What one layer leaves goes to those behind it, but none may take all.
    const double part = 1.0 / static_cast<double>(subjects.size() - i);
    Budgets share{budgets.search.share(part), budgets.confirm.share(part)};
    explanations.push_back(Diagnosis(subjects[i], expected, share).run());
    budgets.search.spend(share.search);
    budgets.confirm.spend(share.confirm);
  }
  if (!explanations.empty()) return explanations;
  return not_traced(model, differs, judge_bodies(model, question, rerun, budgets.search));
}

}  // namespace
}  // namespace diagnosis

bool can_be_diagnosed(const onnx_io::Model& model) {
  return diagnosis::has_recurrent_node(model);
}

std::vector<Explanation> diagnose(const DiagnosisQuestion& question) {
  const auto not_done = [](const std::string& reason) {
    return std::vector<Explanation>{
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

std::string describe(const Explanation& explanation) {
  return explanation.node + ": " + explanation.text;
}

}  // namespace grurun::trial
