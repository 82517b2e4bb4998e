#include "trial/inline_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "onnx_io/models/rename.h"
#include "onnx_io/models/walk.h"
#include "trial/intermediates.h"
#include "trial/submodel.h"

namespace grurun::trial {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using onnx_io::Graph;
using onnx_io::NameMap;
using onnx_io::Node;

constexpr std::int64_t most_steps = 256;
constexpr std::size_t most_nodes = 5'000;

/// Attributes of a function's nodes that stand for the call's.
void resolve(std::vector<Node>& nodes, const std::map<std::string, const Attribute*>& given) {
  for (Node& node : nodes) {
    std::vector<Attribute> resolved;
    for (Attribute& attribute : node.attributes) {
      if (!attribute.ref_attr_name.empty()) {
        const auto found = given.find(attribute.ref_attr_name);
        if (found == given.end()) continue;
        Attribute value = *found->second;
        value.name = attribute.name;
        resolved.push_back(std::move(value));
        continue;
      }
      onnx_io::rewrite_bodies(attribute, [&](Graph body) {
        resolve(body.nodes, given);
        return body;
      });
      resolved.push_back(std::move(attribute));
    }
    node.attributes = std::move(resolved);
  }
}

Attribute stated_int(const char* name, std::int64_t number) {
  Attribute out;
  out.name = name;
  out.type = AttributeType::int_;
  out.i = number;
  return out;
}

class Flattening {
 public:
  Flattening(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun)
      : inputs_(inputs), rerun_(rerun), out_{model, 0} {}

  Flattened run() {
    for (std::size_t before = out_.replaced + 1; before != out_.replaced;) {
      before = out_.replaced;
      const bool has_bodies = std::ranges::any_of(out_.model.graph.nodes, onnx_io::has_body);
      if (has_bodies) learn();
      taken_ = onnx_io::names_defined_in(out_.model.graph);
      std::vector<Node> nodes = std::move(out_.model.graph.nodes);
      made_.clear();
      for (Node& node : nodes)
        if (made_.size() > most_nodes || !replace(node)) made_.push_back(std::move(node));
      out_.model.graph.nodes = std::move(made_);
    }
    drop_unused_functions(out_.model);
    return std::move(out_);
  }

 private:
  void learn() {
    known_ = values_as_far(out_.model, inputs_, rerun_);
    for (const onnx_io::Initializer& initializer : out_.model.graph.initializers)
      known_[initializer.name] = initializer.tensor;
    for (const Node& node : out_.model.graph.nodes) {
      const Attribute* const value = is_constant(node) ? node.find_attribute("value") : nullptr;
      if (value != nullptr && !value->tensors.empty()) known_[node.outputs[0]] = value->tensors[0];
    }
    for (auto& [name, value] : fed_values(out_.model.graph, inputs_)) known_[name] = value;
  }

  bool replace(const Node& node) {
    const bool done = replace_call(node) || (node.domain.empty() && replace_if(node)) ||
                      (node.domain.empty() && replace_loop(node)) ||
                      (node.domain.empty() && replace_scan(node));
    out_.replaced += done ? 1 : 0;
    return done;
  }

  /// What the names of its values begin with: its path in a run, unless others begin so.
  std::string place_of(const Node& node) const {
    std::string place = path_name(node);
    const auto is_used = [&] {
      const auto next = taken_.lower_bound(place + "/");
      return next != taken_.end() && next->starts_with(place + "/");
    };
    while (is_used()) place += "'";
    return place;
  }

  void add(std::vector<Attribute> attributes, const char* op_type, std::vector<std::string> inputs,
           std::string output) {
    Node node;
    node.op_type = op_type;
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    node.attributes = std::move(attributes);
    made_.push_back(std::move(node));
  }

  std::string add_constant(const std::string& name, Tensor tensor) {
    out_.model.graph.initializers.push_back({name, std::move(tensor)});
    return name;
  }

  /// The nodes of a body, whose inputs are the values of these names; the names of what it returns.
  std::vector<std::string> copy(const Graph& body, const std::vector<std::string>& inputs,
                                const std::string& place) {
    NameMap names;
    for (const std::string& name : onnx_io::names_defined_in(body)) {
      if (name.empty()) continue;
      names[name] = place + "/" + name;
      taken_.insert(names[name]);
    }
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
      names[body.inputs[i].name] = i < inputs.size() ? inputs[i] : "";
    for (const onnx_io::Initializer& initializer : body.initializers)
      add_constant(names[initializer.name], initializer.tensor);
    for (const Node& node : body.nodes) {
      made_.push_back(onnx_io::renamed(node, names));
      if (!node.name.empty()) made_.back().name = place + "/" + node.name;
    }
    std::vector<std::string> outputs;
    for (const onnx_io::ValueInfo& output : body.outputs)
      outputs.push_back(onnx_io::renamed(output.name, names));
    return outputs;
  }

  void hand_on(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    for (std::size_t i = 0; i < to.size() && i < from.size(); ++i)
      if (!to[i].empty()) add({}, "Identity", {from[i]}, to[i]);
  }

  bool replace_call(const Node& node) {
    const auto is_called = [&](const onnx_io::Function& function) {
      return function.name == node.op_type && function.domain == node.domain &&
             function.overload == node.overload;
    };
    const auto function = std::ranges::find_if(out_.model.functions, is_called);
    if (function == out_.model.functions.end()) return false;
    for (const auto& [domain, version] : function->opset_imports) {
      const auto [own, added] = out_.model.opset_imports.emplace(domain, version);
      if (own->second != version) return false;
    }
    std::map<std::string, const Attribute*> given;
    for (const Attribute& attribute : function->attribute_defaults) given[attribute.name] = &attribute;
    for (const Attribute& attribute : node.attributes) given[attribute.name] = &attribute;
    Graph body;
    body.nodes = function->nodes;
    resolve(body.nodes, given);
    for (const std::string& name : function->inputs) body.inputs.push_back({name, {}});
    for (const std::string& name : function->outputs) body.outputs.push_back({name, {}});
    hand_on(copy(body, node.inputs, place_of(node)), node.outputs);
    return true;
  }

  const Tensor* tensor_of(const Node& node, std::size_t input) const {
    if (input >= node.inputs.size()) return nullptr;
    const auto found = known_.find(node.inputs[input]);
    return found == known_.end() || !found->second.is_tensor() ? nullptr : &found->second.tensor();
  }

  std::optional<bool> truth_of(const Node& node, std::size_t input) const {
    const Tensor* const tensor = tensor_of(node, input);
    if (tensor == nullptr || tensor->dtype() != DType::boolean || tensor->size() != 1) return std::nullopt;
    return *tensor->data<bool>();
  }

  static const Graph* body_of(const Node& node, const char* name) {
    const Attribute* const attribute = node.find_attribute(name);
    return attribute == nullptr || attribute->graphs.empty() ? nullptr : attribute->graphs[0].get();
  }

  bool replace_if(const Node& node) {
    if (node.op_type != "If") return false;
    const std::optional<bool> taken = truth_of(node, 0);
    const Graph* const body = taken ? body_of(node, *taken ? "then_branch" : "else_branch") : nullptr;
    if (body == nullptr) return false;
    hand_on(copy(*body, {}, place_of(node)), node.outputs);
    return true;
  }

  /// Whether a body goes on whatever it computes.
  bool goes_on(const Graph& body) const {
    const std::string& name = body.outputs.at(0).name;
    if (name == body.inputs.at(1).name) return true;
    for (const Node& node : body.nodes) {
      if (std::ranges::count(node.outputs, name) == 0) continue;
      const Attribute* const value = is_constant(node) ? node.find_attribute("value") : nullptr;
      if (value != nullptr && !value->tensors.empty() && value->tensors[0].dtype() == DType::boolean)
        return value->tensors[0].size() == 1 && *value->tensors[0].data<bool>();
      return node.op_type == "Identity" && node.inputs.at(0) == body.inputs.at(1).name;
    }
    return false;
  }

  /// The values of all steps along an axis.
  void stack(const std::vector<std::string>& steps, std::int64_t axis, const std::string& to) {
    if (to.empty()) return;
    std::vector<std::string> all;
    const bool by_input = out_.model.opset_imports.at("") >= 13;
    std::string axes;
    if (by_input) axes = add_constant(to + "/axes", Tensor::from(Shape{1}, std::vector<std::int64_t>{axis}));
    Attribute stated;
    stated.name = "axes";
    stated.type = AttributeType::ints;
    stated.ints = {axis};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      all.push_back(fmt::format("{}/stacked/{}", to, i));
      if (by_input)
        add({}, "Unsqueeze", {steps[i], axes}, all.back());
      else
        add({stated}, "Unsqueeze", {steps[i]}, all.back());
    }
    add({stated_int("axis", axis)}, "Concat", all, to);
  }

  /// How often the run went through the body; nullopt: it did not come there.
  std::optional<std::int64_t> steps_seen(const Node& node) const {
    const bool has_run = std::ranges::any_of(
        node.outputs, [&](const std::string& name) { return !name.empty() && known_.contains(name); });
    if (!has_run) return std::nullopt;
    const std::string path = path_name(node) + "/";
    std::int64_t steps = 0;
    for (const auto& [name, value] : known_) {
      if (!name.starts_with(path)) continue;
      std::int64_t step = -1;
      std::from_chars(name.data() + path.size(), name.data() + name.size(), step);
      steps = std::max(steps, step + 1);
    }
    return steps;
  }

  /// How often it goes through its body whatever that computes; nullopt: that is not known.
  std::optional<std::int64_t> steps_stated(const Node& node, const Graph& body) const {
    const Tensor* const count = tensor_of(node, 0);
    const bool has_condition = node.inputs.size() > 1 && !node.inputs[1].empty();
    if (count == nullptr || count->dtype() != DType::int64 || count->size() != 1 || !goes_on(body) ||
        (has_condition && truth_of(node, 1) != true))
      return std::nullopt;
    return *count->data<std::int64_t>();
  }

  bool is_too_much(std::int64_t steps, const Graph& body) const {
    return steps > most_steps || static_cast<std::size_t>(steps) * body.nodes.size() > most_nodes;
  }

  bool replace_loop(const Node& node) {
    const Graph* const body = node.op_type == "Loop" ? body_of(node, "body") : nullptr;
    if (body == nullptr || body->inputs.size() < 2 || body->outputs.size() + 1 < body->inputs.size())
      return false;
    std::optional<std::int64_t> seen = steps_seen(node);
    if (!seen) seen = steps_stated(node, *body);
    if (!seen || is_too_much(*seen, *body)) return false;
    const std::int64_t steps = *seen;
    const bool stacks = body->outputs.size() + 1 > body->inputs.size();
    if (steps < 1 && stacks) return false;  // there is nothing to put together
    const std::string place = place_of(node);
    const std::size_t carried = body->inputs.size() - 2;
    if (node.inputs.size() != carried + 2) return false;
    const std::string yes = add_constant(place + "/cond", Tensor::scalar(true));
    std::vector<std::string> states(node.inputs.begin() + 2, node.inputs.end());
    std::vector<std::vector<std::string>> scans(body->outputs.size() - 1 - carried);
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::string here = fmt::format("{}/{}", place, step);
      std::vector<std::string> given{
          add_constant(fmt::format("{}/iteration/{}", place, step), Tensor::scalar(step)), yes};
      given.insert(given.end(), states.begin(), states.end());
      const std::vector<std::string> made = copy(*body, given, here);
      for (std::size_t i = 0; i < carried; ++i) states[i] = made[i + 1];
      for (std::size_t i = 0; i < scans.size(); ++i) scans[i].push_back(made[1 + carried + i]);
    }
    hand_on(states, node.outputs);
    for (std::size_t i = 0; i < scans.size() && carried + i < node.outputs.size(); ++i)
      stack(scans[i], 0, node.outputs[carried + i]);
    return true;
  }

  static std::int64_t entry(const Node& node, const char* name, std::size_t i) {
    const Attribute* const attribute = node.find_attribute(name);
    return attribute == nullptr || i >= attribute->ints.size() ? 0 : attribute->ints[i];
  }

  /// Scan-9 and later; the first version had a batch.
  bool replace_scan(const Node& node) {
    const Graph* const body = node.op_type == "Scan" ? body_of(node, "body") : nullptr;
    const Attribute* const count = node.find_attribute("num_scan_inputs");
    if (body == nullptr || count == nullptr || out_.model.opset_imports.at("") < 9) return false;
    const auto scanned = static_cast<std::size_t>(count->i);
    if (scanned == 0 || scanned > node.inputs.size() || body->inputs.size() != node.inputs.size())
      return false;
    const std::size_t carried = node.inputs.size() - scanned;
    const std::string place = place_of(node);
    std::vector<std::int64_t> axes;
    std::int64_t steps = -1;
    for (std::size_t i = 0; i < scanned; ++i) {
      const Tensor* const all = tensor_of(node, carried + i);
      if (all == nullptr || all->rank() == 0) return false;
      const std::int64_t axis = entry(node, "scan_input_axes", i);
      axes.push_back(axis < 0 ? axis + static_cast<std::int64_t>(all->rank()) : axis);
      steps = all->dim(static_cast<std::size_t>(axes.back()));
    }
    if (steps < 1 || is_too_much(steps, *body) || body->outputs.size() < carried) return false;
    std::vector<std::string> states(node.inputs.begin(),
                                    node.inputs.begin() + static_cast<std::ptrdiff_t>(carried));
    std::vector<std::vector<std::string>> scans(body->outputs.size() - carried);
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::string here = fmt::format("{}/{}", place, step);
      std::vector<std::string> given = states;
      for (std::size_t i = 0; i < scanned; ++i) {
        const bool backward = entry(node, "scan_input_directions", i) == 1;
        given.push_back(fmt::format("{}/element/{}/{}", place, step, i));
        const std::string at =
            add_constant(given.back() + "/index", Tensor::scalar(backward ? steps - 1 - step : step));
        add({stated_int("axis", axes[i])}, "Gather", {node.inputs[carried + i], at}, given.back());
      }
      const std::vector<std::string> made = copy(*body, given, here);
      for (std::size_t i = 0; i < carried; ++i) states[i] = made[i];
      for (std::size_t i = 0; i < scans.size(); ++i) scans[i].push_back(made[carried + i]);
    }
    hand_on(states, node.outputs);
    for (std::size_t i = 0; i < scans.size() && carried + i < node.outputs.size(); ++i) {
      if (entry(node, "scan_output_directions", i) == 1) std::ranges::reverse(scans[i]);
      stack(scans[i], entry(node, "scan_output_axes", i), node.outputs[carried + i]);
    }
    return true;
  }

  const std::vector<Value>& inputs_;
  const Rerun rerun_;
  Flattened out_;
  KnownValues known_;
  std::vector<Node> made_;
  std::set<std::string> taken_;  // names of values
};

}  // namespace

Flattened without_bodies(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun) {
  return Flattening(model, inputs, rerun).run();
}

}  // namespace grurun::trial
