#include "trial/bisecting/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "onnx_io/models/attribute_text.h"
#include "onnx_io/models/node_origin.h"
#include "onnx_io/models/walk.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/as_type.h"
#include "trial/bisecting/live_values.h"
#include "trial/bisecting/lone_node.h"
#include "trial/bisecting/rounding.h"
#include "trial/diagnosis/explain.h"
#include "trial/intermediates.h"
#include "trial/precise.h"
#include "trial/quantized.h"
#include "trial/random_findings.h"
#include "trial/random_outputs.h"

namespace grurun::trial {
namespace {

bool is_float_value(const Value& value) {
  return value.is_tensor() && Floats::set.contains(value.tensor().dtype());
}

class Bisecting {
 public:
  Bisecting(const onnx_io::Model& model, const std::vector<Value>& inputs, Reference& reference,
            const BisectOptions& options)
      : model_(model),
        reference_(reference),
        options_(options),
        scopes_(model),
        live_(model),
        quantizations_(model.graph) {
    for (const onnx_io::Initializer& initializer : model.graph.initializers)
      initializers_.insert(initializer.name);
    for (std::size_t i = 0; i < inputs.size() && i < model.graph.inputs.size(); ++i) {
      if (inputs[i].empty()) continue;
      given_[model.graph.inputs[i].name] = inputs[i];
      initializers_.erase(model.graph.inputs[i].name);  // what is fed takes its place
    }
  }

  Bisection run(const std::vector<Value>& inputs) {
    run_seeing_values(model_, inputs, options_.rerun, [&](const MadeValue& made) { see(made); });
    if (result_.compared == 0) {
      fail_usage("--against: no value of the reference is one of the model's {}; --names says which are",
                 result_.absent);
    }
    std::ranges::stable_sort(seen_, {}, [](const Seen& seen) { return seen.difference.node; });
    for (const Seen& seen : seen_) result_.along.push_back(summary_of(seen.difference));
    std::stable_partition(seen_.begin(), seen_.end(),
                          [](const Seen& seen) { return seen.difference.is_live; });
    bool looking = true;
    for (Seen& seen : seen_) {
      const bool differs = !seen.difference.in_run.ok;
      if (options_.rank || (differs && looking)) run_alone(seen, differs && looking);
      if (differs && seen.difference.is_made_here() && !options_.all) looking = false;
    }
    result_.conclusion = conclude();
    for (Seen& seen : seen_) {
      const bool is_ranked = options_.rank || (result_.conclusion == Conclusion::gathered &&
                                               seen.difference.times_rounding.value_or(0) > 1);
      if (is_ranked && seen.difference.alone) result_.ranking.push_back(seen.difference);
      if (!seen.difference.in_run.ok) result_.differences.push_back(std::move(seen.difference));
    }
    std::ranges::stable_sort(result_.ranking, std::greater(), [](const ValueDifference& difference) {
      return relative_error(*difference.alone);
    });
    if (reference_.pairing) {
      result_.by_structure = reference_.pairing->by_structure();
      result_.by_numbers = reference_.pairing->by_numbers();
    }
    return std::move(result_);
  }

 private:
  struct Seen {
    ValueDifference difference;
    const onnx_io::Node* maker;
    std::string path;
  };

  Conclusion conclude() {
    const auto differs = [](const Seen& seen) { return !seen.difference.in_run.ok; };
    if (std::ranges::none_of(seen_, differs)) return Conclusion::nothing;
    const auto live =
        std::span(seen_.begin(),
                  std::ranges::find_if(seen_, [](const Seen& seen) { return !seen.difference.is_live; }));
    if (std::ranges::none_of(live, differs)) return Conclusion::unread;
    if (std::ranges::any_of(live, [](const Seen& seen) { return seen.difference.is_made_here(); }))
      return Conclusion::made;
    // An input of a body is what its node was given.
    const auto is_open = [](const Seen& seen) { return seen.maker != nullptr && !seen.difference.alone; };
    if (std::ranges::any_of(live, [&](const Seen& seen) { return differs(seen) && is_open(seen); }))
      return Conclusion::unexplained;
    if (outputs_agree(live)) return Conclusion::at_outputs;
    for (Seen& seen : live)
      if (!seen.difference.times_rounding) run_alone(seen, false, true);
    if (std::ranges::any_of(live, is_open)) return Conclusion::unexplained;
    const bool adds_more = std::ranges::any_of(
        live, [](const Seen& seen) { return seen.difference.times_rounding.value_or(0) > 1; });
    return adds_more || !options_.allow_rounding() ? Conclusion::gathered : Conclusion::rounding;
  }

  /// Those of the model, as far as the reference has them.
  bool outputs_agree(std::span<const Seen> live) const {
    bool any = false;
    for (const Seen& seen : live) {
      if (std::ranges::count(model_.graph.outputs, seen.difference.value, &onnx_io::ValueInfo::name) == 0)
        continue;
      if (!seen.difference.in_run.ok) return false;
      any = true;
    }
    return any;
  }

  static ValueDifference summary_of(const ValueDifference& difference) {
    ValueDifference summary;
    summary.node = difference.node;
    summary.label = difference.label;
    summary.value = difference.value;
    summary.partner = difference.partner;
    summary.in_run = difference.in_run;
    return summary;
  }

  std::optional<std::string> partner(const std::string& name) const {
    if (reference_.pairing) {
      const std::optional<std::string> found = reference_.pairing->partner(name);
      if (found) return reference_.values.has(*found) ? found : std::nullopt;
    }
    return reference_.values.has(name) ? std::optional(name) : std::nullopt;
  }

  /// A quantized value as floats, where those of the reference are.
  Value comparable(const std::string& name, const Value& value, const Value& expected) const {
    const Quantization* const by = is_float_value(expected) ? quantizations_.find(name) : nullptr;
    return by == nullptr ? value : dequantized(value, *by);
  }

  Comparison compare(const std::string& name, const Value& actual, const Value& expected) const {
    return compare_cast(comparable(name, actual, expected), expected, options_.tolerances);
  }

  void see(const MadeValue& made) {
    if (made.value.is_tensor()) types_[made.name] = made.value.tensor().dtype();
    std::optional<std::string> other = partner(made.name);
    const bool is_main = made.scope.outer == nullptr;
    if (!other && reference_.pairing && is_main)
      other = reference_.pairing->pair_by_numbers(made.name, made.value, reference_.values);
    if (!other) return static_cast<void>(++result_.absent);
    const Value expected = reference_.values.read(*other);
    const Value value = comparable(made.name, made.value, expected);
    Comparison comparison = compare_cast(value, expected, options_.tolerances);
    // Quantized values are no numbers of the other's kind; and a name may have been given to another value.
    if (!comparison.structure.empty() && reference_.pairing &&
        (is_float_value(value) != is_float_value(expected) || reference_.pairing->is_doubtful(made.name))) {
      unpaired_.insert(made.name);
      return static_cast<void>(++result_.absent);
    }
    ++result_.compared;
    ValueDifference difference;
    difference.node = made.node;
    const onnx_io::Node& node = made.maker == nullptr ? model_.graph.nodes[made.node] : *made.maker;
    difference.label = made.maker == nullptr ? "input of a body of " + label_of(model_, node)
                                             : label_of(model_, node, made.scope.path);
    difference.value = made.name;
    difference.partner = *other;
    difference.in_run = std::move(comparison);
    difference.is_live = live_.has(made.node, made.scope, made.name.substr(made.scope.path.size()));
    seen_.push_back({std::move(difference), made.maker, made.scope.path});
  }

  bool is_known(const std::string& name) const {
    return given_.contains(name) ||
           (!initializers_.contains(name) && !unpaired_.contains(name) && partner(name).has_value());
  }

  Value known_value(const std::string& name) const {
    if (const auto given = given_.find(name); given != given_.end()) return given->second;
    const Value value = reference_.values.read(*partner(name));
    const auto type = types_.find(name);
    if (type == types_.end()) return value;
    const Quantization* const by = quantizations_.find(name);
    return by == nullptr ? as_dtype(value, type->second) : quantized(value, *by, type->second);
  }

  /// exactly: whatever is not equal is measured by rounding, not only what is beyond the tolerance.
  void run_alone(Seen& seen, bool with_details, bool exactly = false) {
    ValueDifference& difference = seen.difference;
    if (seen.maker == nullptr) {
      difference.not_alone = "it is passed on";
      return;
    }
    const Scope& scope = *scopes_.find(seen.path, difference.value.substr(seen.path.size()), seen.maker);
    const std::function<bool(const std::string&)> known = [this](const std::string& name) {
      return is_known(name);
    };
    const LoneNode lone(model_, scope, *seen.maker, known);
    if (!lone.missing().empty()) {
      difference.not_alone = fmt::format("the reference has no value '{}'", lone.missing());
      return;
    }
    difference.with.clear();
    for (const onnx_io::Node* other : lone.others())
      difference.with.push_back(label_of(model_, *other, seen.path));
    try {
      std::vector<Value> inputs;
      for (const std::string& name : lone.needs()) inputs.push_back(known_value(name));
      difference.not_alone = drawn_by(lone.model(), difference.value.substr(seen.path.size()), inputs);
      if (!difference.not_alone.empty()) return;
      TrialOptions options;
      options.depth = CheckDepth::none;
      options.seed = options_.rerun.seed;
      options.deadline = options_.rerun.deadline;
      options.tolerances = {options_.tolerances};
      options.keep_inputs = true;
      Trial trial(lone.model(), std::move(options));
      DataSet set{"", std::move(inputs), {}};
      for (const onnx_io::ValueInfo& output : lone.model().graph.outputs) {
        const std::string name = seen.path + output.name;
        set.expected.push_back(types_.contains(name) && is_known(name) ? known_value(name) : Value());
      }
      const Outcome outcome = trial.run(std::move(set));
      for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
        if (seen.path + lone.model().graph.outputs[i].name != difference.value) continue;
        const Value expected = reference_.values.read(difference.partner);
        difference.alone = compare(difference.value, outcome.outputs[i], expected);
        if (exactly || (options_.allow_rounding() && !difference.alone->ok)) {
          const auto numbers = [&](const Value& value) {
            return comparable(difference.value, value, expected);
          };
          difference.times_rounding = times_rounding(
              {lone.model(), outcome.inputs, i, outcome.outputs[i], expected, numbers}, options_.rerun);
        }
      }
      if (with_details && difference.is_made_here()) describe_node(seen, lone, trial, outcome);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::limit || error.kind() == ErrorKind::internal) throw;
      difference.not_alone = error.what();
    }
  }

  /// What draws the output, so that no reference has the same values; empty: nothing.
  static std::string drawn_by(const onnx_io::Model& model, const std::string& output,
                              const std::vector<Value>& inputs) {
    const auto origins = find_random_outputs(model, inputs);
    for (std::size_t i = 0; i < origins.size(); ++i)
      if (origins[i] && model.graph.outputs[i].name == output)
        return cause_of(*origins[i], model) + ": the reference has another draw";
    return "";
  }

  void describe_node(Seen& seen, const LoneNode& lone, const Trial& trial, const Outcome& outcome) const {
    NodeDetails& details = seen.difference.details;
    details.origin = onnx_io::origin_of(model_, seen.difference.value.substr(seen.path.size()));
    for (const onnx_io::Attribute& attribute : seen.maker->attributes)
      details.attributes.push_back(attribute.name + " = " + onnx_io::attribute_text(attribute));
    for (std::size_t i = 0; i < lone.needs().size(); ++i)
      details.inputs.push_back(lone.needs()[i] + ": " + outcome.inputs[i].describe());
    for (const onnx_io::Initializer& initializer : lone.model().graph.initializers)
      details.inputs.push_back(initializer.name + ": " + Value(initializer.tensor).describe());
    details.reasons = explain(trial, outcome).explanations;
  }

  const onnx_io::Model& model_;
  Reference& reference_;
  const BisectOptions& options_;
  Scopes scopes_;
  LiveValues live_;
  const Quantizations quantizations_;  // of the main graph
  std::set<std::string> initializers_, unpaired_;
  std::map<std::string, Value> given_;
  std::unordered_map<std::string, DType> types_;
  std::vector<Seen> seen_;
  Bisection result_;
};

}  // namespace

double relative_error(const Comparison& comparison) {
  if (!comparison.structure.empty() || comparison.errors.non_finite > 0)
    return std::numeric_limits<double>::infinity();
  const Energies& energies = comparison.energies;
  if (energies.error == 0) return comparison.ok ? 0 : std::numeric_limits<double>::infinity();
  return std::sqrt(energies.error / energies.expected);
}

Bisection bisect(const onnx_io::Model& model, const std::vector<Value>& inputs, Reference& reference,
                 const BisectOptions& options) {
  return Bisecting(model, inputs, reference, options).run(inputs);
}

Reference reference_of(const onnx_io::Model& model, const std::vector<Value>& inputs,
                       const onnx_io::Model& other, const Rerun& rerun, const std::string& scratch) {
  Reference reference{ValueStore::make(scratch), Pairing(model.graph, other.graph)};
  const std::vector<Value> given = inputs_for(other.graph, model.graph, inputs);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!given[i].empty()) reference.values.add(other.graph.inputs[i].name, given[i]);
  const Quantizations quantizations(other.graph);
  run_seeing_values(other, given, rerun, [&](const MadeValue& made) {
    const Quantization* const by = quantizations.find(made.name);
    const Value value = by == nullptr ? made.value : dequantized(made.value, *by);
    reference.values.add(made.name, value);
    if (made.scope.outer == nullptr) reference.pairing->note_theirs(made.name, value);
  });
  return reference;
}

Reference precise_reference_of(const onnx_io::Model& model, const std::vector<Value>& inputs,
                               const Rerun& rerun, const std::string& scratch) {
  Reference reference{ValueStore::make(scratch)};
  in_double([&] {
    run_seeing_values(widened(model), widened(inputs), rerun,
                      [&](const MadeValue& made) { reference.values.add(made.name, made.value); });
  });
  return reference;
}

}  // namespace grurun::trial
