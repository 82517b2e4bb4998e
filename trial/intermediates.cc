#include "trial/intermediates.h"

#include <unordered_set>

#include "engine/graph/executor.h"
#include "engine/graph/node_rules.h"
#include "onnx_io/models/walk.h"
#include "opset/schema/registry.h"

namespace grurun::trial {
namespace {

engine::RunOptions run_options(const Rerun& rerun) {
  engine::RunOptions options;
  options.seed = rerun.seed;
  options.deadline = rerun.deadline;
  return options;
}

/// Whether the step is the node of the main graph that makes its output, and not one of a function that was
/// put in the place of another node.
bool is_step_of(const onnx_io::Model& model, const onnx_io::Node& node, const engine::Step& step) {
  return step.label == label_of(model, node);
}

}  // namespace

bool is_constant(const onnx_io::Node& node) {
  return node.op_type == "Constant" && node.domain.empty();
}

std::string label_of(const onnx_io::Model& model, const onnx_io::Node& node) {
  const auto import = model.opset_imports.find(node.domain);
  const auto version = import == model.opset_imports.end()
                           ? std::nullopt
                           : opset::since_version(node.op_type, node.domain, import->second);
  return engine::node_label(node, "", version.value_or(1));
}

void run_seeing_values(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun,
                       const std::function<void(const MadeValue&)>& see) {
  const engine::PlanOptions plan_options{.fed = engine::fed_names(model.graph, inputs), .fuse = false};
  const onnx_io::Producers producers(model.graph.nodes);
  std::unordered_set<std::string> shown;
  const std::shared_ptr<const engine::Plan> plan = engine::make_plan(model, plan_options);
  for (const engine::Step& step : plan->steps) {
    for (const std::string& name : step.output_names) {
      const auto* producer = producers.find(name);
      if (producer != nullptr && is_step_of(model, *producer->node, step)) shown.insert(name);
    }
  }
  // What no step shows, calls of functions make: it is returned beside the outputs.
  onnx_io::Model returning = model;
  for (const onnx_io::Node& node : model.graph.nodes) {
    for (const std::string& name : node.outputs) {
      if (!name.empty() && !shown.contains(name) && !is_constant(node))
        returning.graph.outputs.push_back({name, {}});
    }
  }

  engine::RunOptions options = run_options(rerun);
  options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
    const std::string& name = step.output_names.at(output);
    const auto* producer = producers.find(name);
    if (producer != nullptr && shown.contains(name) && is_step_of(model, *producer->node, step))
      see({producer->index, name, value});
  };
  const bool returns_more = returning.graph.outputs.size() > model.graph.outputs.size();
  const std::vector<Value> outputs = engine::run_plan(
      returns_more ? *engine::make_plan(returning, plan_options) : *plan, std::move(inputs), options);
  for (std::size_t i = model.graph.outputs.size(); i < outputs.size(); ++i) {
    const std::string& name = returning.graph.outputs[i].name;
    see({producers.find(name)->index, name, outputs[i]});
  }
}

ValuesByName values_by_name(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun) {
  ValuesByName values;
  run_seeing_values(model, std::move(inputs), rerun,
                    [&](const MadeValue& made) { values.emplace(made.name, made.value); });
  return values;
}

}  // namespace grurun::trial
