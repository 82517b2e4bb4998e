// Nodes that fit their page, in each version of each operator, and what becomes of them when something of
// them is changed.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/node_maker.h"
#include "tensor/error.h"
#include "tensor/memory/memory.h"
#include "trial/node_case.h"

namespace grurun::fuzz {

struct DrawnNode {
  onnx_io::Model model;       // one node, its inputs and outputs
  std::vector<Value> inputs;  // by graph input
};

/// The example of an operator, made when it is first asked for; nullptr where none can be made.
inline const DrawnNode* example_of(const opset::SchemaInfo& schema) {
  static std::map<const opset::SchemaInfo*, std::unique_ptr<DrawnNode>> made;
  const auto [found, added] = made.try_emplace(&schema);
  if (!added) return found->second.get();
  trial::NodeRequest request;
  request.op_type = schema.name;
  request.domain = schema.domain;
  request.opset = schema.since_version;
  try {
    trial::NodeCase example = trial::make_node_case(request);
    found->second =
        std::make_unique<DrawnNode>(DrawnNode{std::move(example.part.model), std::move(example.part.inputs)});
    found->second->model.ir_version = 10;
    if (!schema.domain.empty()) found->second->model.opset_imports[""] = 21;
  } catch (const Error&) {  // a body, or what no recipe knows
  }
  return found->second.get();
}

/// The node, changed in a few places or in none.
class NodeChanger {
 public:
  NodeChanger(Drawn& data, const Operator& of) : data_(data), schema_(*of.schema), maker_(data, of) {}

  DrawnNode draw() {
    const DrawnNode* const example = example_of(schema_);
    if (example == nullptr || data_.one_in(8)) {
      onnx_io::Model model = maker_.model();
      made_ = {std::move(model), std::move(maker_.fed)};
    } else {
      made_ = *example;
      const int changes = data_.in_range(0, 3);
      for (int i = 0; i < changes; ++i) change();
    }
    for (onnx_io::ValueInfo& output : made_.model.graph.outputs) output.type = {};
    make_some_constant();
    return std::move(made_);
  }

 private:
  onnx_io::Node& node() { return made_.model.graph.nodes.front(); }
  std::vector<onnx_io::ValueInfo>& slots() { return made_.model.graph.inputs; }

  void change() {
    switch (data_.in_range(0, 11)) {
      case 0:
      case 1:
      case 2:
        return change_attribute();
      case 3:
      case 4:
        return change_shape();
      case 5:
      case 6:
        return change_values();
      case 7:
        return change_type();
      case 8:
        return add_input();
      case 9:
        return leave_input_out();
      case 10:
        return change_outputs();
      default:
        return break_attribute();
    }
  }

  void set(std::size_t slot, Value value) {
    slots()[slot].type = value.type();
    made_.inputs[slot] = std::move(value);
  }

  std::optional<std::size_t> tensor_slot() {
    if (slots().empty()) return std::nullopt;
    const std::size_t slot = data_.below(slots().size());
    return made_.inputs[slot].is_tensor() ? std::optional(slot) : std::nullopt;
  }

  const opset::ParameterInfo* parameter_of(std::size_t slot) {
    const auto at = std::ranges::find(node().inputs, slots()[slot].name);
    return opset::parameter_at(schema_.inputs, static_cast<std::size_t>(at - node().inputs.begin()));
  }

  void change_attribute() {
    if (schema_.attributes.empty()) return;
    const opset::AttributeInfo& info = data_.one_of(schema_.attributes);
    std::erase_if(node().attributes, [&](const auto& each) { return each.name == info.name; });
    if (!data_.one_in(6)) node().attributes.push_back(maker_.make_attribute(info));
  }

  // Of another type, given twice, or of a name that no version has.
  void break_attribute() {
    if (schema_.attributes.empty() || !data_.one_in(3)) return;
    onnx_io::Attribute made = maker_.make_attribute(data_.one_of(schema_.attributes));
    const std::string name = data_.coin() ? made.name : data_.one_of(schema_.attributes).name;
    if (data_.coin()) std::erase_if(node().attributes, [&](const auto& each) { return each.name == name; });
    made.name = data_.one_in(4) ? "unheard_of" : name;
    node().attributes.push_back(std::move(made));
  }

  void change_shape() {
    const auto slot = tensor_slot();
    if (!slot) return;
    const Tensor& tensor = made_.inputs[*slot].tensor();
    Shape shape = tensor.shape();
    const int how = data_.in_range(0, 5);
    if (how == 0 || shape.rank() == 0) {
      shape.push_back(data_.in_range<std::int64_t>(0, 3));
    } else if (how == 1) {
      shape.erase(data_.below(shape.rank()));
    } else if (how == 2) {
      shape = maker_.shape();
    } else {
      std::int64_t& dim = shape[data_.below(shape.rank())];
      dim = data_.in_range<std::int64_t>(0, 5);
      if (data_.one_in(12) && dim == 0) make_huge(shape);
    }
    set(*slot, maker_.make_tensor(tensor.dtype(), shape));
  }

  // Beside a size of 0 any other may stand.
  void make_huge(Shape& shape) {
    std::int64_t& dim = shape[data_.below(shape.rank())];
    if (dim != 0) dim = data_.coin() ? std::numeric_limits<std::int64_t>::max() : std::int64_t{1} << 32;
  }

  void change_values() {
    const auto slot = tensor_slot();
    if (!slot) return;
    const Tensor& tensor = made_.inputs[*slot].tensor();
    set(*slot, maker_.make_tensor(tensor.dtype(), tensor.shape()));
  }

  // Mostly of all inputs that must have the same, and mostly one that the schema admits.
  void change_type() {
    const auto slot = tensor_slot();
    const opset::ParameterInfo* const parameter = slot ? parameter_of(*slot) : nullptr;
    if (parameter == nullptr) return;
    const auto admitted = schema_.types_of(*parameter);
    auto type = admitted.empty() ? std::nullopt : parse_value_type(data_.one_of(admitted));
    if (data_.one_in(5)) type = ValueType::tensor(static_cast<DType>(data_.in_range(1, dtype_count - 1)));
    if (!type || type->kind != ValueType::Kind::tensor) return;
    const bool alone = data_.one_in(5);
    for (std::size_t i = 0; i < slots().size(); ++i) {
      const opset::ParameterInfo* const each = parameter_of(i);
      const bool alike = each != nullptr && each->type_str == parameter->type_str && !alone;
      if ((i == *slot || alike) && made_.inputs[i].is_tensor())
        set(i, maker_.make_tensor(type->elem, made_.inputs[i].tensor().shape()));
    }
  }

  void add_input() {
    std::vector<std::string>& names = node().inputs;
    std::size_t at = data_.in_range<std::size_t>(0, names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i].empty() && data_.coin()) at = i;
    if (at < names.size() && !names[at].empty()) at = names.size();
    const opset::ParameterInfo* const parameter = opset::parameter_at(schema_.inputs, at);
    if (parameter == nullptr && !data_.one_in(6)) return;
    Value value = parameter == nullptr ? Value(maker_.make_tensor(DType::float32))
                                       : maker_.make_value(type_of(*parameter));
    if (value.empty()) return;
    if (at == names.size()) names.emplace_back();
    names[at] = "added_" + std::to_string(slots().size());
    slots().push_back({names[at], value.type()});
    made_.inputs.push_back(std::move(value));
  }

  // That of the inputs which must have the same, where there are any.
  ValueType type_of(const opset::ParameterInfo& parameter) {
    for (std::size_t i = 0; i < slots().size(); ++i) {
      const opset::ParameterInfo* const each = parameter_of(i);
      if (each != nullptr && each->type_str == parameter.type_str && !data_.one_in(6))
        return made_.inputs[i].type();
    }
    return maker_.type_of(parameter);
  }

  void leave_input_out() {
    std::vector<std::string>& names = node().inputs;
    if (names.empty()) return;
    const std::size_t at = data_.below(names.size());
    const std::string name = std::exchange(names[at], "");
    if (at + 1 == names.size() && data_.coin()) names.pop_back();
    if (name.empty() || std::ranges::count(names, name) > 0) return;
    for (std::size_t i = 0; i < slots().size(); ++i) {
      if (slots()[i].name != name) continue;
      slots().erase(slots().begin() + static_cast<std::ptrdiff_t>(i));
      made_.inputs.erase(made_.inputs.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  void change_outputs() {
    std::vector<std::string>& names = node().outputs;
    auto& outputs = made_.model.graph.outputs;
    if (data_.coin() && outputs.size() > 1) {
      const std::size_t at = data_.below(names.size());
      std::erase_if(outputs, [&](const auto& output) { return output.name == names[at]; });
      if (at + 1 == names.size())
        names.pop_back();
      else
        names[at].clear();
    } else if (static_cast<int>(names.size()) < schema_.max_output || data_.one_in(6)) {
      names.push_back("more_" + std::to_string(names.size()));
      outputs.push_back({names.back(), {}});
    }
  }

  void make_some_constant() {
    const bool all = data_.one_in(4);
    for (std::size_t i = slots().size(); i-- > 0;) {
      if (!made_.inputs[i].is_tensor() || (!all && !data_.one_in(3))) continue;
      made_.model.graph.initializers.push_back({slots()[i].name, made_.inputs[i].tensor()});
      slots().erase(slots().begin() + static_cast<std::ptrdiff_t>(i));
      made_.inputs.erase(made_.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  Drawn& data_;
  const opset::SchemaInfo& schema_;
  NodeMaker maker_;
  DrawnNode made_;
};

}  // namespace grurun::fuzz
