#include "conformance/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "conformance/known_wrong.h"
#include "conformance/model_facts.h"
#include "engine/graph/plan.h"
#include "onnx_io/mapped_files.h"
#include "opset/check/mended_findings.h"
#include "opset/findings/rules.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/printable.h"
#include "trial/as_type.h"
#include "trial/diagnosis/explain.h"
#include "trial/random_findings.h"

namespace grurun::conformance {

namespace {

using Clock = std::chrono::steady_clock;

/// A case of a stranger's may name a million outputs and faults: a suite's report has so many of each case.
constexpr std::size_t most_of_a_case = 1000;

const std::string& random_code() {
  return opset::rule_info(opset::Rule::random_output).code;
}

class Run {
 public:
  Run(const Case& test, const CaseOptions& options, CaseResult& result)
      : test_(test), options_(options), result_(result) {
    if (options.max_time) deadline_ = Clock::now() + *options.max_time;
  }

  void all() {
    if (!test_.problem.empty()) fail_invalid("{}", test_.problem);
    const onnx_io::RunnableModel file = onnx_io::load_model_to_run(test_.model);
    const onnx_io::Model& model = file.model;
    for (const opset::Finding& finding : opset::mended_findings(file.mended)) warn(finding);
    result_.operators = operators_of(model);
    result_.opsets = opsets_of(model);
    if (model.graph.outputs.empty()) fail_invalid("the model has no output, so that nothing can be compared");
    trial::Trial trial(model, trial_options(model));
    run_sets(model, trial);
    judge_random(options_.random || trial::tests_random_operator(model), result_);
  }

 private:
  void run_sets(const onnx_io::Model& model, trial::Trial& trial) {
    if (test_.flat) return one(model, trial, trial::make_flat_data_set(test_.model, model.graph));
    for (const std::string& folder : test_.data_sets) {
      folder_ = folder;
      const auto where = [&] { return std::filesystem::path(folder).filename().string(); };
      with_context(where, [&] { one(model, trial, trial::read_data_set(folder, model.graph)); });
    }
  }

  trial::Tolerances tolerances_of(const std::string& output) const {
    trial::Tolerances out{options_.tolerance, test_.tolerance};
    out.keep_differing = options_.keep_differing;
    if (options_.policy != nullptr)
      out.rule = [this, output](DType type) {
        return options_.policy->find(test_, result_.operators, output, type);
      };
    return out;
  }

  trial::TrialOptions trial_options(const onnx_io::Model& model) {
    trial::TrialOptions options;
    options.fuse = options_.fuse;
    options.seed = options_.seed;
    options.deadline = deadline_;
    for (const onnx_io::ValueInfo& output : model.graph.outputs)
      options.tolerances.push_back(tolerances_of(output.name));
    options.diagnose = options_.diagnose;
    options.precise = options_.precise ? trial::Precise::differing : trial::Precise::none;
    options.between_steps = options_.between_steps;
    options.warn = [this](const opset::Finding& finding) { warn(finding); };
    return options;
  }

  void warn(const opset::Finding& finding) {
    if (finding.code == random_code()) return;  // the verdict says it
    if (result_.warnings.size() < most_of_a_case)
      result_.warnings.push_back({data_set_, finding});
    else
      ++result_.left_out;
  }

  void one(const onnx_io::Model& model, trial::Trial& trial, trial::DataSet set) {
    if (options_.cast) trial::cast_expected(model.graph, set.expected);
    data_set_.clear();  // what is said of the model is said once
    if (!options_.other) {
      trial.check(set.inputs);
      data_set_ = set.name;
      return note(model, trial, trial.run(std::move(set)));
    }
    warn_of(model, set);
    data_set_ = set.name;
    OtherOutputs theirs = outputs_of(model, set);
    if (theirs.verdict != Verdict::passed) return fall_short(theirs);
    if (options_.other->engine_expects) set.expected = trial.run({set.name, set.inputs, {}}).outputs;
    note(model, trial, trial.judge(std::move(set), std::move(theirs.values)));
  }

  /// What our rules say against a model is no fault of the runtime that ran it.
  void warn_of(const onnx_io::Model& model, const trial::DataSet& set) {
    if (warned_) return;
    warned_ = true;
    const auto fed = engine::fed_names(model.graph, set.inputs);
    for (const opset::Finding& finding :
         trial::check_fully(model, trial::CheckDepth::recurrent_layers, fed).findings)
      if (finding.severity != opset::Severity::note) warn(finding);
  }

  OtherOutputs outputs_of(const onnx_io::Model& model, const trial::DataSet& set) const {
    const OtherRuntime& other = *options_.other;
    if (other.folder.empty()) {
      const std::string inputs = test_.flat ? "" : folder_;
      return run_command(other, test_, inputs, set, model.graph, options_.scratch, deadline_);
    }
    const std::string folder = folder_of_outputs(other.folder, test_);
    if (folder.empty())
      return {{},
              Verdict::missing,
              fmt::format("{} has no folder {} or {}", other.folder, test_.full_name(), test_.name)};
    return read_outputs(folder, set.name, model.graph);
  }

  /// Where another data set differs, that counts more.
  void fall_short(const OtherOutputs& theirs) {
    if (result_.verdict == Verdict::differs) return;
    result_.verdict = theirs.verdict;
    result_.message = (data_set_.empty() ? "" : data_set_ + ": ") + theirs.message;
  }

  void note(const onnx_io::Model& model, const trial::Trial& trial, const trial::Outcome& outcome) {
    for (std::size_t i = 0; i < outcome.judgements.size(); ++i) {
      const trial::Judgement& judgement = outcome.judgements[i];
      OutputResult out{data_set_, without_middle(model.graph.outputs[i].name, most_of_name), judgement.random,
                       judgement.comparison, judgement.cause};
      judge_output(out, result_);
      if (result_.outputs.size() < most_of_a_case)
        result_.outputs.push_back(std::move(out));
      else
        ++result_.left_out;
    }
    trial::Reasons reasons = reasons_for(trial, outcome);
    if (reasons.failed)
      reasons.explanations.push_back({"precision", {}, "model", {}, std::nullopt, reasons.failed->what()});
    for (trial::Explanation& explanation : reasons.explanations) {
      explanation.data_set = data_set_;
      result_.findings.push_back(std::move(explanation));
    }
  }

  /// What the engine cannot run again keeps no verdict on another runtime from being given.
  trial::Reasons reasons_for(const trial::Trial& trial, const trial::Outcome& outcome) const {
    if (!options_.other) return trial::explain(trial, outcome);
    try {
      return trial::explain(trial, outcome);
    } catch (const Error& error) {
      return {{{"unexplained", {}, "model", {}, std::nullopt, error.what()}}, std::nullopt};
    }
  }

  const Case& test_;
  const CaseOptions& options_;
  CaseResult& result_;
  std::string data_set_, folder_;  // that is being run, and where it lies
  bool warned_ = false;
  std::optional<Clock::time_point> deadline_;
};

Verdict verdict_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:  // a file of the case is missing
    case ErrorKind::invalid_model:
      return Verdict::invalid;
    case ErrorKind::unsupported:
      return Verdict::unsupported;
    case ErrorKind::limit:
      return Verdict::timed_out;
    case ErrorKind::internal:
      break;
  }
  return Verdict::crashed;
}

// Hashes the case only when it did not pass.
void excuse_known_wrong(const Case& test, CaseResult& result) {
  const Verdict verdict = result.verdict;
  if (verdict != Verdict::differs && verdict != Verdict::invalid && verdict != Verdict::unsupported) return;
  const KnownWrongRule* rule = find_known_wrong(test);
  if (rule == nullptr) return;
  result.verdict = Verdict::known_wrong;
  result.findings.clear();
  result.message = fmt::format("{}: {} ({})", rule->id, rule->mistake, result.message);
}

}  // namespace

void judge_output(const OutputResult& output, CaseResult& result) {
  if (output.comparison.ok) return;
  if (result.verdict != Verdict::differs) {
    const std::string set = output.data_set.empty() ? "" : output.data_set + ", ";
    result.message = fmt::format("{}output '{}': {}", set, output.name, describe(output.comparison));
  }
  result.verdict = Verdict::differs;
}

std::optional<Share> share_by_value(const std::vector<OutputResult>& outputs) {
  if (std::ranges::none_of(outputs, &OutputResult::random)) return std::nullopt;
  Share share;
  for (const OutputResult& output : outputs) {
    share.all += output.comparison.errors.total;
    if (!output.random) share.by_value += output.comparison.errors.total;
  }
  return share;
}

void judge_random(bool allowed, CaseResult& result) {
  const std::optional<Share> share = share_by_value(result.outputs);
  if (!share || result.verdict > Verdict::random) return;
  const std::string compared =
      fmt::format("{} of {} elements were compared by value", share->by_value, share->all);
  if (result.verdict == Verdict::differs) {
    result.message += "; " + compared;
    return;
  }
  const auto first = std::ranges::find_if(result.outputs, &OutputResult::random);
  result.verdict = allowed ? Verdict::passed_not_comparable : Verdict::random;
  result.message = (allowed ? "random values were checked by type, shape and distribution"
                            : trial::unjudged_text(first->cause, "--random")) +
                   "; " + compared;
}

CaseResult run_case(const Case& test, const CaseOptions& options) {
  const Clock::time_point begin = Clock::now();
  CaseResult result;
  try {
    onnx_io::forget_shrunk_files();
    Run(test, options, result).all();
  } catch (const Error& error) {
    result.verdict = verdict_of(error.kind());
    const std::string line = error.what();
    const std::string kind = std::string(kind_name(error.kind())) + ": ";
    // The verdict says the kind, but for an internal error, which is no crash of the process, and a limit.
    // The usage that a file of the case breaks is not that of the user.
    const bool said = error.kind() != ErrorKind::internal && error.kind() != ErrorKind::limit;
    result.message = said && line.starts_with(kind) ? line.substr(kind.size()) : line;
  } catch (const std::bad_alloc&) {
    result.verdict = Verdict::timed_out;
    result.message = fmt::format("limit: {}", memory::out_of_memory_text());
  } catch (const std::exception& error) {
    result.verdict = Verdict::crashed;
    result.message = fmt::format("internal error: {}", error.what());
  }
  // Only what a case's own files expect may be known to be wrong.
  if (!options.other || !options.other->engine_expects) excuse_known_wrong(test, result);
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace grurun::conformance
