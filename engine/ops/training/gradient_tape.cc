#include "engine/ops/training/gradient_tape.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "engine/graph/plan.h"
#include "onnx_io/models/walk.h"
#include "opset/pages/page.h"
#include "opset/schema/function_calls.h"
#include "opset/schema/registry.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Node;
using Id = Tape::Id;

namespace {

constexpr std::int64_t rule_opset = 18;
constexpr int deepest_body = 32;

/// Operators whose derivative is 0 wherever they have one.
constexpr std::array<std::string_view, 8> constant_types = {
    "Sign", "Floor", "Ceil", "Round", "EyeLike", "ConstantOfShape", "Hardmax", "QuantizeLinear"};

template <std::size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& types) {
  return node.domain.empty() && std::ranges::find(types, node.op_type) != types.end();
}

bool is_float(const Value& value) {
  return value.is_tensor() && Floats::set.contains(value.tensor().dtype());
}

const GradientRules& all_rules() {
  static const GradientRules rules = [] {
    GradientRules made;
    add_elementwise_rules(made);
    add_matrix_rules(made);
    add_movement_rules(made);
    add_convolution_rules(made);
    return made;
  }();
  return rules;
}

std::string label(const Tape::Entry& entry) {
  return entry.node.op_type + "-" + std::to_string(entry.since_version);
}

/// The node with references to the attributes of a call replaced by their values.
Node with_attributes(const Node& node, const Function& function, const Node& call) {
  Node plain = node;
  opset::resolve_references(plain, function, call);
  return plain;
}

}  // namespace

const GradientRule* find_gradient_rule(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  const auto found = all_rules().find(node.op_type);
  return found == all_rules().end() ? nullptr : &found->second;
}

Id Tape::add(Value value) {
  values_.push_back(std::move(value));
  return static_cast<Id>(values_.size()) - 1;
}

std::vector<Id> Tape::apply(const Node& node, std::int64_t opset_version, const std::vector<Id>& inputs) {
  // Run again it would draw other values than those that y was computed from.
  if (opset::draws_of(node) == opset::Draws::always) {
    fail_unsupported("Gradient through {}, whose values would be drawn again", node.op_type);
  }
  std::vector<Id> outputs;
  const bool known = find_gradient_rule(node) != nullptr || is_one_of(node, constant_types);
  if (!known && apply_body(node, opset_version, inputs, outputs)) return outputs;
  outputs = run_node(node, opset_version, inputs);
  entries_.push_back({node, opset_version,
                      opset::since_version(node.op_type, node.domain, opset_version).value_or(0), inputs,
                      outputs});
  return outputs;
}

bool Tape::apply_body(const Node& node, std::int64_t opset_version, const std::vector<Id>& inputs,
                      std::vector<Id>& outputs) {
  const opset::SchemaInfo* schema = opset::find_schema(node.op_type, node.domain, opset_version);
  if (schema == nullptr || !schema->has_function_body || onnx_io::has_body(node) || depth_ >= deepest_body)
    return false;
  std::vector<ValueType> types;
  for (const Id id : inputs) types.push_back(id == none ? ValueType() : value(id).type());
  const std::optional<Function> body = opset::function_body(node, opset_version, types);
  if (!body || std::ranges::any_of(body->nodes, onnx_io::has_body)) return false;
  std::map<std::string, Id> names;
  for (std::size_t i = 0; i < body->inputs.size(); ++i) {
    names[body->inputs[i]] = i < inputs.size() ? inputs[i] : none;
  }
  const auto find = [&](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? none : found->second;
  };
  ++depth_;
  for (const Node& inner : body->nodes) {
    std::vector<Id> read;
    for (const std::string& name : inner.inputs) read.push_back(find(name));
    const Node plain = with_attributes(inner, *body, node);
    std::vector<Id> made;
    try {
      made = apply(plain, body->opset_imports.at(plain.domain), read);
    } catch (const Error& error) {
      // The node is right, or the run would end at it: the body does not take these types.
      if (error.kind() != ErrorKind::invalid_model) throw;
      fail_unsupported("Gradient through {}, by its function body: {}", node.op_type, error.message());
    }
    for (std::size_t i = 0; i < plain.outputs.size(); ++i) names[plain.outputs[i]] = made[i];
  }
  --depth_;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    outputs.push_back(node.outputs[i].empty() ? none : find(body->outputs.at(i)));
  }
  return true;
}

std::vector<Id> Tape::run_node(const Node& node, std::int64_t opset_version, const std::vector<Id>& inputs) {
  Function function;
  function.name = "Gradient";
  function.opset_imports[node.domain] = opset_version;
  Node& only = function.nodes.emplace_back(node);
  std::vector<bool> present;
  Values given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input " + std::to_string(i);
    only.inputs[i] = inputs[i] == none ? "" : name;
    function.inputs.push_back(name);
    present.push_back(inputs[i] != none);
    given.push_back(present.back() ? value(inputs[i]) : Value());
  }
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    // Every part of Split has a share in the gradient, be it 0.
    if (node.outputs[i].empty() && node.op_type != "Split") continue;
    only.outputs[i] = "output " + std::to_string(i);
    function.outputs.push_back(only.outputs[i]);
    named.push_back(i);
  }
  const auto plan = make_function_plan(function, {}, present, {});
  Values made = run_.run_subgraph(*plan, std::move(given));
  std::vector<Id> outputs(node.outputs.size(), none);
  for (std::size_t i = 0; i < named.size(); ++i) outputs[named[i]] = add(std::move(made[i]));
  return outputs;
}

Id Tape::op(const char* type, const std::vector<Id>& inputs, std::vector<Attribute> attributes) {
  Node node;
  node.op_type = type;
  node.inputs.resize(inputs.size());
  node.outputs = {"y"};
  node.attributes = std::move(attributes);
  return apply(node, rule_opset, inputs).front();
}

std::vector<Id> Tape::differentiate(const GradientPath& path, const std::vector<Id>& inputs,
                                    const std::function<Id(const std::string&)>& outside) {
  std::map<std::string, Id> names = {{"", none}};
  for (const std::string& name : path.outside) names[name] = outside(name);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names[i < path.xs.size() ? path.xs[i] : path.zs[i - path.xs.size()]] = inputs[i];
  }
  const auto find = [&](const std::string& name) {
    const auto at = names.find(name);
    if (at == names.end()) fail_invalid("'{}' is not defined before the node that uses it", name);
    return at->second;
  };
  for (const PathNode& step : path.nodes) {
    std::vector<Id> read;
    for (const std::string& name : step.node.inputs) {
      // One value may stand for several of a Gradient's xs; each is a variable of its own.
      read.push_back(step.gradient ? op("Identity", {find(name)}) : find(name));
    }
    const std::vector<Id> made = step.gradient ? differentiate(*step.gradient, read, find)
                                               : apply(step.node, step.opset_version, read);
    for (std::size_t i = 0; i < step.node.outputs.size(); ++i) {
      if (!step.node.outputs[i].empty()) names[step.node.outputs[i]] = made[i];
    }
  }
  const std::vector<Id> xs(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(path.xs.size()));
  // A y that none of xs and zs reach has been computed by no node here.
  const auto y = names.find(path.y);
  return gradients(y == names.end() ? none : y->second, xs);
}

/// Which values depend on xs in a way that has a derivative.
std::vector<bool> Tape::dependent_values(const std::vector<Id>& xs, std::size_t entries) const {
  std::vector<bool> dependent(values_.size(), false);
  for (const Id id : xs) dependent[static_cast<std::size_t>(id)] = true;
  const auto depends = [&](Id id) { return id != none && dependent[static_cast<std::size_t>(id)]; };
  for (std::size_t i = 0; i < entries; ++i) {
    const Entry& entry = entries_[i];
    if (is_one_of(entry.node, constant_types) || std::ranges::none_of(entry.inputs, depends)) continue;
    for (const Id id : entry.outputs) {
      if (id != none && is_float(value(id))) dependent[static_cast<std::size_t>(id)] = true;
    }
  }
  return dependent;
}

std::vector<Id> Tape::gradients(Id y, const std::vector<Id>& xs) {
  const std::size_t count = entries_.size();  // what the rules add comes after
  const std::vector<bool> dependent = dependent_values(xs, count);
  std::map<Id, Id> gradient;
  if (y != none && dependent[static_cast<std::size_t>(y)]) {
    Tensor one = Tensor::scalar(1.0f);
    gradient[y] =
        op("Expand", {op("Cast", {add(one)}, {int_attr("to", static_cast<std::int64_t>(tensor(y).dtype()))}),
                      add(Tensor::from(Shape{static_cast<std::int64_t>(tensor(y).rank())},
                                       tensor(y).shape().to_vector()))});
  }
  const auto found = [&](Id id) {
    const auto at = gradient.find(id);
    return at == gradient.end() ? none : at->second;
  };
  for (std::size_t i = count; i-- > 0;) {
    const Entry& entry = entries_[i];
    std::vector<Id> dy;
    for (const Id id : entry.outputs) dy.push_back(found(id));
    if (std::ranges::all_of(dy, [](Id id) { return id == none; })) continue;
    std::vector<bool> wanted;
    for (const Id id : entry.inputs) wanted.push_back(id != none && dependent[static_cast<std::size_t>(id)]);
    if (std::ranges::count(wanted, true) == 0) continue;
    const GradientRule* rule = find_gradient_rule(entry.node);
    if (rule == nullptr) fail_unsupported("Gradient through {}", label(entry));
    Backward backward(*this, entry, std::move(dy), std::move(wanted));
    (*rule)(backward);
    for (std::size_t k = 0; k < entry.inputs.size(); ++k) {
      const Id given = backward.given()[k];
      if (given == none || !backward.wants(k)) continue;
      Id& sum = gradient.try_emplace(entry.inputs[k], none).first->second;
      sum = sum == none ? given : op("Add", {sum, given});
    }
  }
  std::vector<Id> result;
  for (const Id x : xs) {
    const Id id = found(x);
    result.push_back(id != none ? id : add(Tensor::zeros(tensor(x).dtype(), tensor(x).shape())));
  }
  return result;
}

}  // namespace grurun::engine
