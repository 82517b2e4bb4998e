#include "trial/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/graph/executor.h"
#include "engine/graph/node_rules.h"
#include "onnx_io/mapped_files.h"
#include "onnx_io/models/walk.h"
#include "opset/check/actual_types.h"
#include "opset/check/check_before_run.h"
#include "opset/findings/check_report.h"
#include "opset/findings/form_watch.h"
#include "opset/findings/rules.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"
#include "tensor/interruption.h"
#include "tensor/limits.h"
#include "trial/distribution.h"
#include "trial/random_findings.h"
#include "trial/random_outputs.h"

namespace grurun::trial {
namespace {

/// Compares the values of a main graph, as far as its steps show them, with their types. Those of functions
/// that were put in place of a node are not of the main graph, whatever their names.
class TypeWatch {
 public:
  TypeWatch(const onnx_io::Model& model, const std::map<std::string, ValueType>& inferred)
      : types_(model.graph, inferred) {
    for (const onnx_io::Node& node : model.graph.nodes) {
      if (std::ranges::none_of(node.outputs, [&](const std::string& name) { return types_.watches(name); }))
        continue;
      const auto import = model.opset_imports.find(node.domain);
      if (import == model.opset_imports.end()) continue;
      const auto version = opset::since_version(node.op_type, node.domain, import->second);
      if (version) labels_.insert(engine::node_label(node, "", *version));
    }
  }

  bool watches_steps() const { return !labels_.empty(); }

  void see(const engine::Step& step, std::size_t output, const Value& value) {
    if (labels_.contains(step.label)) types_.see(step.output_names.at(output), value);
  }

  void see(const std::vector<onnx_io::ValueInfo>& names, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size() && i < names.size(); ++i) types_.see(names[i].name, values[i]);
  }

  const std::vector<opset::Finding>& findings() const { return types_.findings(); }

 private:
  opset::ActualTypes types_;
  std::unordered_set<std::string> labels_;  // of the nodes that make something to be watched
};

std::int64_t elements_of(const Value& value) {
  std::int64_t count = 0;
  if (value.is_tensor()) count = static_cast<std::int64_t>(value.tensor().size());
  if (value.is_sequence())
    for (const Value& item : value.sequence().items) count += elements_of(item);
  if (value.is_map())
    for (const Value& item : value.map().values) count += elements_of(item);
  if (value.is_optional() && value.optional().item) count = elements_of(*value.optional().item);
  return count;
}

Comparison judge_random(const RandomOrigin& origin, const Value& actual, const Value& expected) {
  Comparison out = compare_types(actual, expected);
  out.errors.total = elements_of(expected);
  if (!out.ok || !actual.is_tensor()) return out;
  const std::string problem = check_distribution(origin, actual.tensor(), expected.tensor());
  if (problem.empty()) return out;
  out.ok = false;
  out.structure = fmt::format("random values of {}: {}", origin.op_type, problem);
  return out;
}

bool is_recurrent(const onnx_io::Node& node) {
  return opset::find_layer_form(node.op_type, node.domain) != nullptr;
}

// The deadline and poll hold for checking and planning, too.
void look_at_clock(const TrialOptions& options) {
  if (options.poll) options.poll();
  require_time(options.deadline);
}

bool any_given(const std::vector<Value>& values) {
  return std::ranges::any_of(values, [](const Value& value) { return !value.empty(); });
}

std::uint64_t bytes_in_value(const Value& value) {
  std::uint64_t bytes = 0;
  if (value.is_tensor()) bytes = value.tensor().byte_size();
  if (value.is_sequence())
    for (const Value& item : value.sequence().items) bytes += bytes_in_value(item);
  if (value.is_map())
    for (const Value& item : value.map().values) bytes += bytes_in_value(item);
  if (value.is_optional() && value.optional().item) bytes = bytes_in_value(*value.optional().item);
  return bytes;
}

void require_output_size(const std::vector<Value>& outputs) {
  std::uint64_t bytes = 0;
  for (const Value& output : outputs) bytes += bytes_in_value(output);
  if (bytes > limits().output)
    fail(ErrorKind::limit, "the outputs take {} bytes, more than {} (--max-output)", bytes, limits().output);
}

}  // namespace

bool Outcome::differs() const {
  return std::ranges::any_of(judgements, &Judgement::differs);
}

Trial::Trial(const onnx_io::Model& model, TrialOptions options)
    : model_(model),
      options_(std::move(options)),
      is_random_(!options_.compare_random && has_random_operator(model)),
      has_recurrent_node_(onnx_io::find_node(model, is_recurrent) != nullptr),
      deciding_(deciding_values(model)) {}

void Trial::check(const std::vector<Value>& inputs) {
  std::unordered_set<std::string> fed = engine::fed_names(model_.graph, inputs);
  if (checked_ == fed) return;
  const Interruption interruption([this] { look_at_clock(options_); });
  checked_.reset();
  plan_.reset();
  opset::CheckResult result = check_fully(model_, options_.depth, fed);
  opset::require_no_errors(result);
  warn(result.findings);
  inferred_ = std::move(result.inferred);
  checked_ = std::move(fed);
}

std::shared_ptr<const engine::Plan> Trial::plan(const std::vector<Value>& inputs) {
  check(inputs);
  if (plan_ == nullptr) {
    const Interruption interruption([this] { look_at_clock(options_); });
    engine::PlanOptions options;
    options.fed = *checked_;
    options.fuse = options_.fuse && deciding_.empty();  // each of these is to be seen
    const opset::FormWatch forms([this](const opset::Finding& finding) { warn_of_form(finding); });
    plan_ = engine::make_plan(model_, options);
    if (options_.depth == CheckDepth::recurrent_layers && options_.warn && has_random_operator(model_)) {
      opset::CheckResult random;
      add_random_findings(model_, inputs, {}, random);
      warn(random.findings);
    }
  }
  return plan_;
}

Outcome Trial::run(DataSet set) {
  Outcome outcome;
  // Inputs that are kept cannot be overwritten in the run.
  if (needs_inputs(set.expected)) outcome.inputs = set.inputs;
  Tensors made;
  outcome.outputs = run_watched(std::move(set.inputs), made);
  onnx_io::require_whole_files();
  require_output_size(outcome.outputs);
  outcome.expected = std::move(set.expected);
  judge(made, outcome);
  if (!outcome.differs()) require_time(options_.deadline);
  return outcome;
}

Outcome Trial::judge(DataSet set, std::vector<Value> outputs) const {
  Outcome outcome{std::move(set.inputs), std::move(set.expected), std::move(outputs), {}};
  judge({}, outcome);
  return outcome;
}

bool Trial::needs_inputs(const std::vector<Value>& expected) const {
  const bool is_judged_by_them = is_random_ || (options_.diagnose && has_recurrent_node_);
  return options_.keep_inputs || options_.precise != Precise::none ||
         (is_judged_by_them && any_given(expected));
}

std::vector<Value> Trial::run_watched(std::vector<Value> inputs, Tensors& made) {
  const std::shared_ptr<const engine::Plan> plan = this->plan(inputs);
  const opset::FormWatch forms([this](const opset::Finding& finding) { warn_of_form(finding); });
  engine::RunOptions options;
  options.seed = options_.seed;
  options.deadline = options_.deadline;
  options.poll = options_.poll;
  if (options_.between_steps) options.on_step = [&](const auto&...) { options_.between_steps(); };
  if (options_.depth == CheckDepth::none && deciding_.empty())
    return engine::run_plan(*plan, std::move(inputs), options);
  TypeWatch types(model_, inferred_);
  types.see(model_.graph.inputs, inputs);
  if (types.watches_steps() || !deciding_.empty()) {
    options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
      types.see(step, output, value);
      const std::string& name = step.output_names[output];
      if (value.is_tensor() && deciding_.contains(name)) made[name] = value.tensor();
    };
  }
  std::vector<Value> outputs = engine::run_plan(*plan, std::move(inputs), options);
  types.see(model_.graph.outputs, outputs);
  warn(types.findings());
  return outputs;
}

void Trial::judge(const Tensors& made, Outcome& outcome) const {
  const std::size_t count = outcome.outputs.size();
  const bool compares = any_given(outcome.expected);
  if (compares && outcome.expected.size() != count)
    fail_internal("{} outputs came of a graph that has {}", count, outcome.expected.size());
  outcome.expected.resize(count);
  outcome.judgements.resize(count);
  if (!compares) return;
  std::vector<std::optional<RandomOrigin>> origins(count);
  if (is_random_) origins = find_random_outputs(model_, outcome.inputs, made);
  const std::vector<Tolerances>& chosen = options_.tolerances;
  for (std::size_t i = 0; i < count; ++i) {
    Judgement& judgement = outcome.judgements[i];
    judgement.compared = !outcome.expected[i].empty();
    if (!judgement.compared) continue;
    judgement.random = origins[i].has_value();
    const Tolerances tolerances = chosen.empty() ? Tolerances() : chosen[std::min(i, chosen.size() - 1)];
    judgement.comparison = judgement.random
                               ? judge_random(*origins[i], outcome.outputs[i], outcome.expected[i])
                               : compare_values(outcome.outputs[i], outcome.expected[i], tolerances);
    if (judgement.random) judgement.cause = cause_of(*origins[i], model_);
  }
}

void Trial::warn(const std::vector<opset::Finding>& findings) const {
  if (!options_.warn) return;
  for (const opset::Finding& finding : findings) {
    if (finding.severity == opset::Severity::warning) options_.warn(finding);
  }
}

void Trial::warn_of_form(const opset::Finding& finding) {
  constexpr std::size_t most = 1000;  // a body may meet another at each turn
  if (forms_.size() < most &&
      forms_.insert(finding.code + '\n' + finding.node + '\n' + finding.message).second)
    warn({finding});
}

std::vector<Value> run_again(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun) {
  TrialOptions options;
  options.depth = CheckDepth::none;
  options.seed = rerun.seed;
  options.deadline = rerun.deadline;
  return Trial(model, std::move(options)).run({{}, std::move(inputs), {}}).outputs;
}

}  // namespace grurun::trial
