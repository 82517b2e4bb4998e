#include "engine/graph/computed_values.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "engine/graph/plan.h"
#include "onnx_io/models/walk.h"
#include "opset/pages/graph_view.h"
#include "opset/pages/page.h"
#include "opset/recurrent/recurrent_form.h"
#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::engine {

namespace {

using onnx_io::Node;

/// Exporters write a handful of nodes for each.
constexpr std::size_t most_nodes = 256;

class Folder {
 public:
  Folder(const onnx_io::Model& model, const std::unordered_set<std::string>& fed)
      : model_(model), producers_(model.graph.nodes) {
    for (const onnx_io::Initializer& initializer : model.graph.initializers) {
      if (!fed.contains(initializer.name)) initializers_.try_emplace(initializer.name, &initializer);
    }
  }

  /// nullopt for what is a constant already, or none.
  std::optional<Tensor> value(const std::string& name) const {
    const Node* made = producers_.node(name);
    if (made == nullptr || opset::constant_value(*made) != nullptr) return std::nullopt;
    onnx_io::Model part;
    part.ir_version = model_.ir_version;
    part.opset_imports = model_.opset_imports;
    part.graph.outputs.push_back({name, {}});
    std::unordered_set<std::string> added;
    if (!add(name, part.graph, added)) return std::nullopt;
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

 private:
  /// Adds what a value is made of, in the graph's order; false where not all of it is constant.
  bool add(const std::string& name, onnx_io::Graph& to, std::unordered_set<std::string>& added) const {
    if (name.empty() || !added.insert(name).second) return true;
    if (const auto initializer = initializers_.find(name); initializer != initializers_.end()) {
      to.initializers.push_back(*initializer->second);
      return true;
    }
    const Node* made = producers_.node(name);
    if (made == nullptr || added.size() > most_nodes) return false;
    const Node& node = *made;
    if (opset::folded_of(node) == opset::Folded::never) return false;
    for (const std::string& input : node.inputs) {
      if (!add(input, to, added)) return false;
    }
    to.nodes.push_back(node);
    return true;
  }

  const onnx_io::Model& model_;
  const onnx_io::Producers producers_;
  std::unordered_map<std::string_view, const onnx_io::Initializer*> initializers_;
};

/// Values that layers take, in bodies too: a name of the body's own hides the one around it from the rules.
std::unordered_set<std::string> layer_inputs(const onnx_io::Graph& graph) {
  std::unordered_set<std::string> names;
  onnx_io::for_each_node(graph.nodes, [&](const Node& node) {
    if (opset::find_recurrent_form(node.op_type, node.domain) == nullptr) return;
    // No rule looks at the values of X, W and R.
    for (std::size_t i = opset::input_B; i < node.inputs.size(); ++i) names.insert(node.inputs[i]);
  });
  names.erase("");
  return names;
}

}  // namespace

opset::ComputedValues computed_values(const onnx_io::Model& model,
                                      const std::unordered_set<std::string>& fed) {
  opset::ComputedValues values;
  const std::unordered_set<std::string> names = layer_inputs(model.graph);
  if (names.empty()) return values;
  const Folder folder(model, fed);
  for (const std::string& name : names) {
    look_for_interruption();
    if (auto value = folder.value(name)) values.emplace(name, *std::move(value));
  }
  return values;
}

}  // namespace grurun::engine
