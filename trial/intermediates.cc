#include "trial/intermediates.h"

#include <fnmatch.h>

#include <algorithm>
#include <unordered_set>

#include "engine/graph/executor.h"
#include "engine/graph/node_rules.h"
#include "onnx_io/models/walk.h"
#include "opset/schema/registry.h"

namespace grurun::trial {
namespace {

bool is_like(const onnx_io::Node& a, const onnx_io::Node& b) {
  return a.op_type == b.op_type && a.name == b.name && a.outputs == b.outputs;
}

/// Whether the step is the node of the main graph that makes its output, and not one of a function that was
/// put in the place of another node.
bool is_step_of(const onnx_io::Model& model, const onnx_io::Node& node, const engine::Step& step) {
  return step.label == label_of(model, node);
}

std::unordered_set<std::string> names_shown(const onnx_io::Model& model, const onnx_io::Producers& producers,
                                            const engine::Plan& plan) {
  std::unordered_set<std::string> shown;
  for (const engine::Step& step : plan.steps) {
    for (const std::string& name : step.output_names) {
      const auto* producer = producers.find(name);
      if (producer != nullptr && is_step_of(model, *producer->node, step)) shown.insert(name);
    }
  }
  return shown;
}

/// The model, with what calls of functions make returned beside its outputs: no step shows that.
onnx_io::Model returning_unshown(const onnx_io::Model& model, const std::unordered_set<std::string>& shown) {
  onnx_io::Model returning = model;
  for (const onnx_io::Node& node : model.graph.nodes) {
    for (const std::string& name : node.outputs) {
      if (!name.empty() && !shown.contains(name) && !is_constant(node))
        returning.graph.outputs.push_back({name, {}});
    }
  }
  return returning;
}

}  // namespace

std::string path_name(const onnx_io::Node& node) {
  return !node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0];
}

const onnx_io::Node* maker_of(const onnx_io::Graph& graph, const std::string& name) {
  const auto made = std::ranges::find_if(
      graph.nodes, [&](const onnx_io::Node& node) { return std::ranges::count(node.outputs, name) > 0; });
  return made == graph.nodes.end() ? nullptr : &*made;
}

bool defines(const onnx_io::Graph& graph, const std::string& name) {
  return maker_of(graph, name) != nullptr ||
         std::ranges::count(graph.inputs, name, &onnx_io::ValueInfo::name) > 0 ||
         std::ranges::count(graph.initializers, name, &onnx_io::Initializer::name) > 0;
}

Scopes::Scopes(const onnx_io::Model& model) : main_{&model.graph, "", nullptr} {}

const Scope* Scopes::find(const std::string& path, const std::string& made, const onnx_io::Node* maker) {
  const Scope* scope = &main_;
  std::size_t at = 0;
  while (at < path.size()) {
    // Names of nodes may have slashes in them: the longest that fits is meant.
    const onnx_io::Node* with_body = nullptr;
    std::size_t end = 0;
    for (const onnx_io::Node& node : scope->graph->nodes) {
      const std::string name = path_name(node) + "/";
      if (!onnx_io::has_body(node) || path.compare(at, name.size(), name) != 0) continue;
      if (with_body == nullptr || name.size() > end - at) with_body = &node, end = at + name.size();
    }
    if (with_body == nullptr) return nullptr;
    std::vector<const onnx_io::Graph*> bodies;
    onnx_io::for_each_body(
        *with_body, [&](const onnx_io::Graph& body, const onnx_io::Attribute&) { bodies.push_back(&body); });
    if (bodies.size() == 1) end = path.find('/', end) + 1;
    const bool is_last = end == path.size();
    const auto holds = [&](const onnx_io::Graph* body) {
      if (is_last && maker == nullptr) return defines(*body, made);
      const onnx_io::Node* here = is_last ? maker_of(*body, made) : nullptr;
      if (is_last) return here != nullptr && is_like(*here, *maker);
      return std::ranges::any_of(body->nodes, [&](const onnx_io::Node& node) {
        return onnx_io::has_body(node) && path.compare(end, path_name(node).size(), path_name(node)) == 0;
      });
    };
    const auto body = std::ranges::find_if(bodies, holds);
    if (body == bodies.end()) return nullptr;
    const std::string here = path.substr(0, end);
    const Scope*& found = by_path_[{here, *body}];
    if (found == nullptr) {
      bodies_.push_back(std::make_unique<Scope>(Scope{*body, here, scope}));
      found = bodies_.back().get();
    }
    scope = found;
    at = end;
  }
  return scope;
}

bool is_constant(const onnx_io::Node& node) {
  return node.op_type == "Constant" && node.domain.empty();
}

std::string label_of(const onnx_io::Model& model, const onnx_io::Node& node, const std::string& path) {
  const auto import = model.opset_imports.find(node.domain);
  const auto version = import == model.opset_imports.end()
                           ? std::nullopt
                           : opset::since_version(node.op_type, node.domain, import->second);
  return engine::node_label(node, path, version.value_or(1));
}

bool fits_any(const std::string& name, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

void run_seeing_values(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun,
                       const std::function<void(const MadeValue&)>& see) {
  const engine::PlanOptions plan_options{.fed = engine::fed_names(model.graph, inputs), .fuse = false};
  const onnx_io::Producers producers(model.graph.nodes);
  std::shared_ptr<const engine::Plan> plan = engine::make_plan(model, plan_options);
  const std::unordered_set<std::string> shown = names_shown(model, producers, *plan);
  const onnx_io::Model returning = returning_unshown(model, shown);
  if (returning.graph.outputs.size() > model.graph.outputs.size()) {
    plan.reset();  // its packed weights are not to be there twice
    plan = engine::make_plan(returning, plan_options);
  }

  Scopes scopes(model);
  std::size_t at = 0;  // the node whose bodies run: steps follow the order of the nodes
  engine::RunOptions options;
  options.seed = rerun.seed;
  options.deadline = rerun.deadline;
  options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
    const std::string& name = step.output_names.at(output);
    const auto* producer = producers.find(name);
    if (producer != nullptr && shown.contains(name) && is_step_of(model, *producer->node, step))
      see({producer->index, name, value, producer->node, scopes.main()});
  };
  options.observe_body = [&](const engine::BodyValue& seen) {
    // A function in a body has names of its own, which may be the body's too.
    if (seen.step != nullptr && seen.step->node == nullptr) return;
    const Scope* scope =
        scopes.find(seen.path, seen.name, seen.step == nullptr ? nullptr : seen.step->node.get());
    if (scope == nullptr || scope->outer == nullptr) return;
    const onnx_io::Node* maker = seen.step == nullptr ? nullptr : maker_of(*scope->graph, seen.name);
    const Scope* top = scope;
    while (top->outer->outer != nullptr) top = top->outer;
    if (at >= model.graph.nodes.size() || !top->path.starts_with(path_name(model.graph.nodes[at]) + "/")) {
      const auto node = std::ranges::find_if(model.graph.nodes, [&](const onnx_io::Node& each) {
        return onnx_io::has_body(each) && top->path.starts_with(path_name(each) + "/");
      });
      at = static_cast<std::size_t>(node - model.graph.nodes.begin());
    }
    see({at, seen.path + seen.name, seen.value, maker, *scope});
  };
  const std::vector<Value> outputs = engine::run_plan(*plan, std::move(inputs), options);
  for (std::size_t i = model.graph.outputs.size(); i < outputs.size(); ++i) {
    const std::string& name = returning.graph.outputs[i].name;
    const auto* producer = producers.find(name);
    see({producer->index, name, outputs[i], producer->node, scopes.main()});
  }
}

}  // namespace grurun::trial
