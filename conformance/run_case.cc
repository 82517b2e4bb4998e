#include "conformance/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "conformance/known_wrong.h"
#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"
#include "onnx_io/models/walk.h"
#include "opset/check/actual_types.h"
#include "opset/check/check_before_run.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/data_set.h"
#include "trial/diagnosis/diagnose.h"
#include "trial/distribution.h"
#include "trial/precise.h"
#include "trial/random_outputs.h"

namespace grurun::conformance {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> operators_of(const onnx_io::Model& model) {
  std::set<std::string> names;
  onnx_io::for_each_node(model, [&](const onnx_io::Node& node) {
    names.insert(onnx_io::qualified_name(node.domain, node.op_type));
  });
  return {names.begin(), names.end()};
}

/// The plan for the inputs that a data set feeds; sets mostly feed the same.
class Plans {
 public:
  explicit Plans(const onnx_io::Model& model) : model_(model), deciding_(trial::deciding_values(model)) {}

  /// Names of values that say whether an output is random.
  const std::unordered_set<std::string>& deciding() const { return deciding_; }

  const engine::Plan& for_inputs(const std::vector<Value>& inputs) {
    std::unordered_set<std::string> fed = engine::fed_names(model_.graph, inputs);
    if (plan_ == nullptr || fed != fed_) {
      opset::require_no_errors(opset::check_before_run(model_, fed));
      engine::PlanOptions options;
      options.fed = fed;
      options.fuse = deciding_.empty();  // each of these is to be seen
      plan_ = engine::make_plan(model_, options);
      fed_ = std::move(fed);
    }
    return *plan_;
  }

 private:
  const onnx_io::Model& model_;
  const std::unordered_set<std::string> deciding_;
  std::shared_ptr<const engine::Plan> plan_;
  std::unordered_set<std::string> fed_;
};

OutputResult judge_random(const trial::RandomOrigin& origin, const Value& actual, const Value& expected) {
  OutputResult out;
  out.random = true;
  out.comparison = trial::compare_types(actual, expected);
  if (!out.comparison.ok || !actual.is_tensor()) return out;
  std::string problem = trial::check_distribution(origin, actual.tensor(), expected.tensor());
  if (problem.empty()) return out;
  out.comparison.ok = false;
  out.comparison.structure = fmt::format("random values of {}: {}", origin.op_type, problem);
  return out;
}

class Run {
 public:
  Run(const Case& test, const CaseOptions& options, CaseResult& result)
      : test_(test),
        result_(result),
        tolerances_{options.tolerance, test.tolerance},
        diagnose_(options.diagnose),
        precise_(options.precise) {
    run_options_.seed = options.seed;
    if (options.max_time) run_options_.deadline = Clock::now() + *options.max_time;
    if (options.between_steps) run_options_.on_step = [&](const auto&...) { options.between_steps(); };
  }

  void all() {
    if (!test_.problem.empty()) fail_invalid("{}", test_.problem);
    const onnx_io::Model model = onnx_io::load_model(test_.model);
    result_.operators = operators_of(model);
    if (model.graph.outputs.empty()) fail_invalid("the model has no output, so that nothing can be compared");
    Plans plans(model);
    if (test_.flat) return one(model, plans, trial::make_flat_data_set(test_.model, model.graph));
    for (const std::string& folder : test_.data_sets) {
      const auto where = [&] { return std::filesystem::path(folder).filename().string(); };
      with_context(where, [&] { one(model, plans, trial::read_data_set(folder, model.graph)); });
    }
  }

 private:
  void one(const onnx_io::Model& model, Plans& plans, trial::DataSet set) {
    const engine::Plan& plan = plans.for_inputs(set.inputs);
    const bool diagnosable = diagnose_ && trial::can_be_diagnosed(model);
    // Inputs that are kept cannot be overwritten in the run.
    const bool keeps = diagnosable || precise_ || trial::has_random_operator(model);
    const std::vector<Value> inputs = keeps ? set.inputs : std::vector<Value>();
    std::unordered_map<std::string, Tensor> made;
    engine::RunOptions options = run_options_;
    if (!plans.deciding().empty()) {
      options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
        const std::string& name = step.output_names[output];
        if (plans.deciding().contains(name) && value.is_tensor()) made[name] = value.tensor();
      };
    }
    opset::ActualTypes types(model.graph, {});
    for (std::size_t i = 0; i < set.inputs.size(); ++i) types.see(model.graph.inputs[i].name, set.inputs[i]);
    const std::vector<Value> outputs = engine::run_plan(plan, std::move(set.inputs), options);
    const auto origins = keeps ? trial::find_random_outputs(model, inputs, made)
                               : std::vector<std::optional<trial::RandomOrigin>>(outputs.size());
    if (outputs.size() != set.expected.size())
      fail_internal("{} outputs came of a graph that has {}", outputs.size(), set.expected.size());
    std::vector<bool> differs(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      types.see(model.graph.outputs[i].name, outputs[i]);
      OutputResult out;
      if (origins[i])
        out = judge_random(*origins[i], outputs[i], set.expected[i]);
      else
        out.comparison = trial::compare_values(outputs[i], set.expected[i], tolerances_);
      out.data_set = set.name;
      out.name = model.graph.outputs[i].name;
      judge(out);
      differs[i] = !out.comparison.ok && !out.random;
      result_.outputs.push_back(std::move(out));
    }
    for (const opset::Finding& found : types.findings())
      result_.warnings.push_back({set.name, found.code, found.message});
    if (std::ranges::find(differs, true) == differs.end()) {
      if (run_options_.deadline && Clock::now() > *run_options_.deadline)
        fail(ErrorKind::limit, "the time limit passed while outputs were compared");
      return;
    }
    if (diagnosable) add(set, trial::diagnose({model, inputs, set.expected, outputs, differs, rerun()}));
    if (precise_) add(set, judge_in_double(model, inputs, outputs, set, differs));
  }

  trial::Rerun rerun() const { return {run_options_.seed, run_options_.deadline}; }

  std::vector<trial::Explanation> judge_in_double(const onnx_io::Model& model,
                                                  const std::vector<Value>& inputs,
                                                  const std::vector<Value>& outputs,
                                                  const trial::DataSet& set,
                                                  const std::vector<bool>& differs) {
    std::vector<trial::Explanation> findings;
    const auto say = [&](std::string about, std::string text) {
      if (text.empty()) return;
      findings.push_back({"precision", {}, std::move(about), {}, std::nullopt, std::move(text)});
    };
    try {
      const std::vector<Value> truth = trial::run_in_double(model, inputs, rerun());
      for (std::size_t i = 0; i < truth.size(); ++i) {
        if (!differs[i]) continue;
        say(fmt::format("output '{}'", model.graph.outputs[i].name),
            trial::judge_by_truth(truth[i], outputs[i], set.expected[i]));
      }
    } catch (const Error& error) {
      say("model", error.what());
    } catch (const std::bad_alloc&) {
      say("model", memory::out_of_memory_text());
    }
    return findings;
  }

  void add(const trial::DataSet& set, std::vector<trial::Explanation> findings) {
    for (trial::Explanation& finding : findings) {
      finding.data_set = set.name;
      result_.findings.push_back(std::move(finding));
    }
  }

  void judge(const OutputResult& out) {
    if (!out.comparison.ok) {
      if (result_.verdict != Verdict::differs) {
        const std::string set = out.data_set.empty() ? "" : out.data_set + ", ";
        result_.message = fmt::format("{}output '{}': {}", set, out.name, describe(out.comparison));
      }
      result_.verdict = Verdict::differs;
    } else if (out.random && result_.verdict == Verdict::passed) {
      result_.verdict = Verdict::passed_not_comparable;
      result_.message = "random values were checked by type, shape and distribution";
    }
  }

  const Case& test_;
  CaseResult& result_;
  trial::Tolerances tolerances_;
  const bool diagnose_;
  const bool precise_;
  engine::RunOptions run_options_;
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

CaseResult run_case(const Case& test, const CaseOptions& options) {
  const Clock::time_point begin = Clock::now();
  CaseResult result;
  try {
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
  excuse_known_wrong(test, result);
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace grurun::conformance
