#include "trial/random_outputs.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "onnx_io/models/walk.h"
#include "opset/pages/page.h"
#include "opset/schema/function_calls.h"
#include "tensor/dispatch.h"

namespace grurun::trial {

namespace {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

bool is_random_type(const Node& node) {
  return opset::draws_of(node) != opset::Draws::never;
}

/// What is known of a value before a run.
struct Fact {
  const Node* random = nullptr;  // that draws, and that it depends on; nullptr: none
  Tensor value;                  // undefined: not known
  const Node* place = nullptr;   // of the main graph, which is random or holds it in a body or function
};

using Facts = std::vector<Fact>;

struct DrawnScope {
  const DrawnScope* outer = nullptr;
  std::unordered_map<std::string, Fact> names;

  Fact find(const std::string& name) const {
    for (const DrawnScope* scope = this; scope != nullptr; scope = scope->outer)
      if (const auto it = scope->names.find(name); it != scope->names.end()) return it->second;
    return {};
  }
};

void join(Fact& into, const Fact& other) {
  if (into.random != nullptr) return;
  into.random = other.random;
  into.place = other.place;
}

bool is_true(const Tensor& value) {
  return value.dtype() == DType::boolean && value.size() == 1 && *value.data<bool>();
}

bool is_zero(const Tensor& value) {
  return value.size() == 1 && Floats::set.contains(value.dtype()) &&
         dispatch(Floats{}, value.dtype(), [&]<typename T>() { return *value.data<T>() == 0; });
}

class Analysis {
 public:
  /// unknown_trains: so does a Dropout whose training_mode is not known.
  Analysis(const onnx_io::Model& model, const std::unordered_map<std::string, Tensor>& made,
           bool unknown_trains = true)
      : functions_(model.functions), made_(made), unknown_trains_(unknown_trains) {}

  /// Adds the outputs of all nodes to scope.
  void walk(const std::vector<Node>& nodes, DrawnScope& scope, const onnx_io::OpsetImports& imports) {
    for (const Node& node : nodes) {
      const Facts facts = outputs_of(node, scope, imports);
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        Fact& fact = scope.names[node.outputs[i]] = i < facts.size() ? facts[i] : Fact{};
        if (scope.outer != nullptr || call_ != &main_) continue;
        if (fact.random != nullptr && fact.place == nullptr) fact.place = &node;
        const auto made = made_.find(node.outputs[i]);
        if (made != made_.end() && fact.random == nullptr) fact.value = made->second;
      }
    }
  }

  bool is_random(const Node& node, const Facts& inputs, std::int64_t opset) const {
    if (!is_random_type(node)) return false;
    if (!trains(node)) return true;
    if (opset < 7) {
      const Attribute* is_test = node.find_attribute("is_test");
      const Attribute* ratio = node.find_attribute("ratio");
      return (is_test == nullptr || is_test->i == 0) &&
             (ratio == nullptr || ratio->f != 0 || !ratio->ref_attr_name.empty());
    }
    if (opset < 12) return false;
    const bool has_mode = node.inputs.size() > 2 && !node.inputs[2].empty();
    if (!has_mode || !(inputs[2].value.defined() ? is_true(inputs[2].value) : unknown_trains_)) return false;
    return !(node.inputs.size() > 1 && !node.inputs[1].empty() && inputs[1].value.defined() &&
             is_zero(inputs[1].value));
  }

  static Facts constant(const Node& node) {
    const Attribute* value = node.find_attribute("value");
    if (value != nullptr && value->tensors.size() == 1) return {Fact{nullptr, value->tensors[0]}};
    const Attribute* number = node.find_attribute("value_float");
    // In a function it may stand for what the caller gives.
    if (number != nullptr && number->ref_attr_name.empty()) return {Fact{nullptr, Tensor::scalar(number->f)}};
    return {};
  }

  Facts inputs_of(const Node& node, const DrawnScope& scope) const {
    Facts facts;
    for (const std::string& name : node.inputs) facts.push_back(name.empty() ? Fact{} : scope.find(name));
    return facts;
  }

 private:
  Facts outputs_of(const Node& node, const DrawnScope& scope, const onnx_io::OpsetImports& imports) {
    const Facts inputs = inputs_of(node, scope);
    if (const Function* called = functions_.find(node)) return function(*called, node, inputs);
    const auto import = imports.find(node.domain);
    const std::int64_t opset = import == imports.end() ? 1 : import->second;
    if (is_random(node, inputs, opset)) return Facts(node.outputs.size(), Fact{&node, {}});
    if (node.domain.empty()) {
      if (node.op_type == "Shape" || node.op_type == "Size") return {};
      if (node.op_type == "Constant") return constant(node);
      if (node.op_type == "If") return branches(node, inputs, scope, imports);
      if (node.op_type == "Loop") return loop(node, inputs, scope, imports);
      if (node.op_type == "Scan") return scan(node, inputs, scope, imports, opset);
    }
    Fact any;
    for (const Fact& input : inputs) join(any, input);
    Facts facts(node.outputs.size(), any);
    // SequenceMap's body has the node's outputs; for what else has bodies every output may depend on each.
    onnx_io::for_each_body(node, [&](const Graph& graph, const Attribute&) {
      const Facts body = run_body(graph, Facts(graph.inputs.size(), any), scope, imports);
      const bool same = node.op_type == "SequenceMap" && body.size() == facts.size();
      for (std::size_t i = 0; i < facts.size(); ++i)
        for (std::size_t j = 0; j < body.size(); ++j)
          if (!same || i == j) join(facts[i], body[j]);
    });
    return facts;
  }

  Facts function(const Function& function, const Node& call, const Facts& inputs) {
    Call& within = *call_;
    std::unique_ptr<Call>& its = within.calls[&call];
    if (its == nullptr) its = std::make_unique<Call>();
    call_ = its.get();
    DrawnScope scope;
    for (std::size_t i = 0; i < function.inputs.size() && i < inputs.size(); ++i)
      scope.names[function.inputs[i]] = inputs[i];
    walk(function.nodes, scope, function.opset_imports);
    call_ = &within;
    Facts facts;
    for (const std::string& name : function.outputs) facts.push_back(scope.find(name));
    return facts;
  }

  Facts run_body(const Graph& body, const Facts& inputs, const DrawnScope& outer,
                 const onnx_io::OpsetImports& imports) {
    DrawnScope scope{&outer, {}};
    for (const onnx_io::Initializer& initializer : body.initializers)
      scope.names[initializer.name] = {nullptr, initializer.tensor};
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
      scope.names[body.inputs[i].name] = i < inputs.size() ? inputs[i] : Fact{};
    walk(body.nodes, scope, imports);
    Facts facts;
    for (const onnx_io::ValueInfo& output : body.outputs) facts.push_back(scope.find(output.name));
    return facts;
  }

  static const Graph* body_of(const Node& node, const char* name) {
    const Attribute* attribute = node.find_attribute(name);
    return attribute != nullptr && attribute->graphs.size() == 1 ? attribute->graphs[0].get() : nullptr;
  }

  Facts branches(const Node& node, const Facts& inputs, const DrawnScope& scope,
                 const onnx_io::OpsetImports& imports) {
    Facts facts(node.outputs.size(), inputs.empty() ? Fact{} : Fact{inputs[0].random, {}, inputs[0].place});
    for (const char* name : {"then_branch", "else_branch"}) {
      const Graph* body = body_of(node, name);
      if (body == nullptr) continue;
      const Facts branch = run_body(*body, {}, scope, imports);
      for (std::size_t i = 0; i < facts.size() && i < branch.size(); ++i) join(facts[i], branch[i]);
    }
    return facts;
  }

  /// A body whose first states go round: runs until no state turns random any more. inputs are the body's,
  /// their values unknown; state_inputs and state_outputs say where the states begin. Returns the body's
  /// outputs. What turned random when a body around it ran before is random again, so that bodies within
  /// bodies do not begin anew.
  Facts iterate(const Graph& body, Facts inputs, std::size_t states, std::size_t state_inputs,
                std::size_t state_outputs, const DrawnScope& scope, const onnx_io::OpsetImports& imports) {
    for (Fact& input : inputs) input.value = {};
    Facts& found = call_->states[&body];
    found.resize(states);
    for (std::size_t i = 0; i < states && state_inputs + i < inputs.size(); ++i)
      join(inputs[state_inputs + i], found[i]);
    for (;;) {
      const Facts outputs = run_body(body, inputs, scope, imports);
      bool changed = false;
      for (std::size_t i = 0; i < states; ++i) {
        if (state_outputs + i >= outputs.size() || state_inputs + i >= inputs.size()) break;
        Fact& state = inputs[state_inputs + i];
        if (state.random != nullptr || outputs[state_outputs + i].random == nullptr) continue;
        join(state, outputs[state_outputs + i]);
        found[i] = state;
        changed = true;
      }
      if (!changed) return outputs;
    }
  }

  /// Loop: inputs M, cond, states; body's inputs iteration, cond, states; its outputs cond, states, scan
  /// outputs.
  Facts loop(const Node& node, const Facts& inputs, const DrawnScope& scope,
             const onnx_io::OpsetImports& imports) {
    const Graph* body = body_of(node, "body");
    if (body == nullptr || body->outputs.empty() || inputs.size() < 2) return {};
    const std::size_t states = inputs.size() - 2;
    Fact trips = inputs[0];
    join(trips, inputs[1]);
    Facts outputs = iterate(*body, inputs, states, 2, 1, scope, imports);
    join(trips, outputs[0]);
    Facts facts(outputs.begin() + 1, outputs.end());
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (i < states) join(facts[i], inputs[2 + i]);  // no trip at all passes the state through
      join(facts[i], trips);
      facts[i].value = {};
    }
    return facts;
  }

  /// Scan: states, then scan inputs, alike on node and body; version 8 has sequence_lens before them.
  Facts scan(const Node& node, Facts inputs, const DrawnScope& scope, const onnx_io::OpsetImports& imports,
             std::int64_t opset) {
    const Graph* body = body_of(node, "body");
    const Attribute* count = node.find_attribute("num_scan_inputs");
    Fact lengths;
    if (opset < 9 && !inputs.empty()) {
      lengths = inputs[0];
      inputs.erase(inputs.begin());
    }
    const std::size_t scanned = count != nullptr && count->i > 0 ? static_cast<std::size_t>(count->i) : 0;
    if (body == nullptr || scanned > inputs.size()) return {};
    const std::size_t states = inputs.size() - scanned;
    Facts facts = iterate(*body, inputs, states, 0, 0, scope, imports);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      if (i < states) join(facts[i], inputs[i]);
      join(facts[i], lengths);
      facts[i].value = {};
    }
    return facts;
  }

  /// What is known of the states of bodies that go round, for each call of a function by itself.
  struct Call {
    std::unordered_map<const Graph*, Facts> states;
    std::unordered_map<const Node*, std::unique_ptr<Call>> calls;
  };

  const opset::FunctionIndex functions_;
  const std::unordered_map<std::string, Tensor>& made_;  // in the main graph
  const bool unknown_trains_;
  Call main_;
  Call* call_ = &main_;
};

}  // namespace

bool has_random_operator(const onnx_io::Model& model) {
  return onnx_io::find_node(model, is_random_type) != nullptr;
}

bool trains(const Node& node) {
  return opset::draws_of(node) == opset::Draws::in_training;
}

std::unordered_set<std::string> deciding_values(const onnx_io::Model& model) {
  const onnx_io::Producers producers(model.graph.nodes);
  std::unordered_set<std::string> made;
  const auto add_made = [&](const std::string& name) {
    const Node* maker = producers.node(name);
    const bool is_known = maker != nullptr && maker->domain.empty() && maker->op_type == "Constant" &&
                          !Analysis::constant(*maker).empty();
    if (maker != nullptr && !is_known) made.insert(name);
  };
  for (const Node& node : model.graph.nodes)
    if (trains(node))
      for (std::size_t i = 1; i < node.inputs.size(); ++i) add_made(node.inputs[i]);
  for (const std::optional<RandomOrigin>& origin : find_random_outputs(model, {}))
    if (origin && origin->node != nullptr && !origin->node->inputs.empty()) add_made(origin->node->inputs[0]);
  return made;
}

namespace {

std::vector<std::optional<RandomOrigin>> find_origins(const onnx_io::Model& model,
                                                      const std::vector<Value>& inputs,
                                                      const std::unordered_map<std::string, Tensor>& made,
                                                      bool unknown_trains) {
  const Graph& graph = model.graph;
  std::vector<std::optional<RandomOrigin>> origins(graph.outputs.size());
  if (!has_random_operator(model)) return origins;

  DrawnScope scope;
  for (const onnx_io::Initializer& initializer : graph.initializers)
    scope.names[initializer.name] = {nullptr, initializer.tensor};
  for (std::size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i)
    if (inputs[i].is_tensor()) scope.names[graph.inputs[i].name] = {nullptr, inputs[i].tensor()};
  Analysis analysis(model, made, unknown_trains);
  analysis.walk(graph.nodes, scope, model.opset_imports);
  const onnx_io::Producers producers(graph.nodes);

  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Fact fact = scope.find(graph.outputs[i].name);
    if (fact.random == nullptr) continue;
    RandomOrigin origin{fact.random->op_type, nullptr, 0, {}, fact.random, fact.place};
    const auto* made = producers.find(graph.outputs[i].name);
    if (made != nullptr && made->node == fact.random) {
      origin.node = made->node;
      origin.output = made->output;
      for (const Fact& input : analysis.inputs_of(*made->node, scope)) origin.inputs.push_back(input.value);
    }
    origins[i] = std::move(origin);
  }
  return origins;
}

}  // namespace

std::vector<std::optional<RandomOrigin>> find_random_outputs(
    const onnx_io::Model& model, const std::vector<Value>& inputs,
    const std::unordered_map<std::string, Tensor>& made) {
  return find_origins(model, inputs, made, true);
}

std::vector<std::optional<RandomOrigin>> find_surely_random_outputs(
    const onnx_io::Model& model, const std::vector<Value>& inputs,
    const std::unordered_map<std::string, Tensor>& made) {
  return find_origins(model, inputs, made, false);
}

}  // namespace grurun::trial
