#include "engine/graph/computed_values.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/graph/constant_folding.h"
#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "opset/graph_view.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

using onnx_io::Node;

/// Exporters write a handful of nodes for each.
constexpr std::size_t most_nodes = 256;
constexpr int most_made = 64;  // operators within each other that make more than they are given
constexpr std::int64_t most_elements = std::int64_t{1} << 20;

bool is_recurrent(const Node& node) {
  return node.domain.empty() && (node.op_type == "GRU" || node.op_type == "RNN" || node.op_type == "LSTM");
}

/// Operators that exporters make initial states with, and what these need.
bool makes_elements(const Node& node) {
  constexpr std::array<std::string_view, 4> makers = {"ConstantOfShape", "Expand", "Gather", "Shape"};
  return node.domain.empty() && std::ranges::find(makers, node.op_type) != makers.end();
}

/// False where the output may have more than most_elements; of a node that makes_elements.
bool makes_few(const Node& node, const std::vector<Tensor>& inputs) {
  std::int64_t elements = 1;
  const auto grow = [&](std::int64_t by) {
    return !__builtin_mul_overflow(elements, by, &elements) && elements >= 0 && elements <= most_elements;
  };
  if (node.op_type == "Shape") return true;
  if (node.op_type == "Gather") {
    const onnx_io::Attribute* axis = node.find_attribute("axis");
    const bool along_first = axis == nullptr || axis->i == 0;  // else taken for one of size 1
    if (inputs.size() != 2 || inputs[0].rank() == 0) return false;
    const std::int64_t places = along_first ? std::max<std::int64_t>(1, inputs[0].dim(0)) : 1;
    return grow(inputs[0].size() / places) && grow(inputs[1].size());
  }
  if (inputs.empty() || inputs.back().dtype() != DType::int64) return false;
  if (node.op_type == "Expand" && (inputs.size() != 2 || !grow(inputs[0].size()))) return false;
  return std::ranges::all_of(inputs.back().span<std::int64_t>(), grow);
}

class Folder {
 public:
  Folder(const onnx_io::Model& model, const std::unordered_set<std::string>& fed) : model_(model) {
    for (const Node& node : model.graph.nodes) {
      for (const std::string& output : node.outputs) producers_.try_emplace(output, &node);
    }
    for (const onnx_io::Initializer& initializer : model.graph.initializers) {
      if (!fed.contains(initializer.name)) initializers_.try_emplace(initializer.name, &initializer);
    }
  }

  /// nullopt for what is a constant already, or none.
  std::optional<Tensor> value(const std::string& name) {
    const auto producer = producers_.find(name);
    if (producer == producers_.end() || opset::constant_value(*producer->second) != nullptr)
      return std::nullopt;
    onnx_io::Model part;
    part.ir_version = model_.ir_version;
    part.opset_imports = model_.opset_imports;
    part.graph.outputs.push_back({name, {}});
    std::unordered_set<std::string> added;
    if (!add(name, part.graph, added)) return std::nullopt;
    return only_output(part);
  }

 private:
  static std::optional<Tensor> only_output(const onnx_io::Model& part) {
    try {
      const std::shared_ptr<const Plan> plan = make_plan(part);
      const auto constant =
          std::ranges::find(plan->constants, plan->outputs.at(0), &std::pair<int, Value>::first);
      if (constant == plan->constants.end() || !constant->second.is_tensor()) return std::nullopt;
      return constant->second.tensor();
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// Of an initializer, a Constant, or what is made of them.
  std::optional<Tensor> known(const std::string& name) {
    if (const auto found = initializers_.find(name); found != initializers_.end())
      return found->second->tensor;
    const auto producer = producers_.find(name);
    if (producer == producers_.end()) return std::nullopt;
    const Tensor* constant = opset::constant_value(*producer->second);
    return constant != nullptr ? std::optional(*constant) : value(name);
  }

  /// Output 0 of a node that makes_elements, computed once; nullopt, too, while it is being computed: it
  /// cannot depend on itself.
  const std::optional<Tensor>& made_by(const Node& node) {
    const auto [entry, first] = made_.try_emplace(&node);
    if (!first || depth_ == most_made || node.outputs.empty()) return entry->second;
    ++depth_;
    std::optional<Tensor> result = computed(node);
    --depth_;
    return made_[&node] = std::move(result);
  }

  std::optional<Tensor> computed(const Node& node) {
    std::vector<Tensor> inputs;
    onnx_io::Model part;
    part.ir_version = model_.ir_version;
    part.opset_imports = model_.opset_imports;
    for (const std::string& input : node.inputs) {
      std::optional<Tensor> value = known(input);
      if (!value) return std::nullopt;
      part.graph.initializers.push_back({input, *value});
      inputs.push_back(*std::move(value));
    }
    if (!makes_few(node, inputs)) return std::nullopt;
    part.graph.nodes.push_back(node);
    part.graph.outputs.push_back({node.outputs[0], {}});
    try {
      std::vector<Value> outputs = run_plan(*make_plan(part), {});
      return outputs.at(0).is_tensor() ? std::optional(outputs[0].tensor()) : std::nullopt;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// Adds what a value is made of, in the graph's order; false where not all of it is constant.
  bool add(const std::string& name, onnx_io::Graph& to, std::unordered_set<std::string>& added) {
    if (name.empty() || !added.insert(name).second) return true;
    if (const auto initializer = initializers_.find(name); initializer != initializers_.end()) {
      to.initializers.push_back(*initializer->second);
      return true;
    }
    const auto producer = producers_.find(name);
    if (producer == producers_.end() || added.size() > most_nodes) return false;
    const Node& node = *producer->second;
    if (makes_elements(node)) {
      const std::optional<Tensor>& value = made_by(node);
      if (value) to.initializers.push_back({name, *value});
      return value.has_value();
    }
    const bool constant = node.op_type == "Constant" && node.domain.empty();
    if (!constant && !is_foldable(node.domain, node.op_type)) return false;
    for (const std::string& input : node.inputs) {
      if (!add(input, to, added)) return false;
    }
    to.nodes.push_back(node);
    return true;
  }

  const onnx_io::Model& model_;
  int depth_ = 0;
  std::unordered_map<const Node*, std::optional<Tensor>> made_;
  std::unordered_map<std::string_view, const Node*> producers_;
  std::unordered_map<std::string_view, const onnx_io::Initializer*> initializers_;
};

/// Values that layers take, in bodies too: a name of the body's own hides the one around it from the rules.
void take_inputs(const onnx_io::Graph& graph, std::unordered_set<std::string>& names) {
  constexpr std::size_t weights = 3;  // X, W and R: no rule looks at their values
  for (const Node& node : graph.nodes) {
    for (std::size_t i = weights; is_recurrent(node) && i < node.inputs.size(); ++i)
      names.insert(node.inputs[i]);
    for (const onnx_io::Attribute& attribute : node.attributes)
      for (const auto& body : attribute.graphs) take_inputs(*body, names);
  }
}

}  // namespace

opset::ComputedValues computed_values(const onnx_io::Model& model,
                                      const std::unordered_set<std::string>& fed) {
  opset::ComputedValues values;
  std::unordered_set<std::string> names;
  take_inputs(model.graph, names);
  names.erase("");
  if (names.empty()) return values;
  Folder folder(model, fed);
  for (const std::string& name : names) {
    if (auto value = folder.value(name)) values.emplace(name, *std::move(value));
  }
  return values;
}

}  // namespace grurun::engine
