#include "trial/diagnosis/branches.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "onnx_io/models/model.h"
#include "onnx_io/models/walk.h"
#include "opset/inference/check_limits.h"
#include "opset/summary/inline_calls.h"
#include "trial/diagnosis/capture.h"
#include "trial/diagnosis/paths_to_output.h"
#include "trial/random_outputs.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Node;

/// All imports of the functions beside the model's; false where two are of different versions.
bool merge_imports(const onnx_io::Model& model, onnx_io::OpsetImports& into) {
  into = model.opset_imports;
  return std::ranges::all_of(model.functions, [&](const onnx_io::Function& function) {
    return std::ranges::all_of(function.opset_imports, [&](const auto& import) {
      return into.emplace(import).first->second == import.second;
    });
  });
}

/// Nodes of the main graph that have no name go on without one.
void take_names_back(const onnx_io::Graph& original, onnx_io::Graph& graph) {
  for (const Node& node : original.nodes) {
    if (!node.name.empty()) continue;
    const auto same = [&](const Node& other) {
      return other.op_type == node.op_type && other.outputs == node.outputs;
    };
    const auto found = std::ranges::find_if(graph.nodes, same);
    if (found != graph.nodes.end()) found->name.clear();
  }
}

/// The main graph with these functions written out; calls must not recurse.
onnx_io::Graph with_calls_written_out(const onnx_io::Model& model,
                                      const std::vector<onnx_io::Function>& functions) {
  onnx_io::Graph out = opset::inline_calls(model, opset::FunctionIndex(functions));
  take_names_back(model.graph, out);
  return out;
}

/// The model with its functions written out in the main graph, so that layers in them are seen; nodes there
/// are named "call/node". The model itself where it has none, where a function imports another opset than the
/// model, which one graph cannot hold, and where calls recurse or would grow too large.
onnx_io::Model with_calls_written_out(const onnx_io::Model& model) {
  onnx_io::Model out = model;
  if (model.functions.empty()) return out;
  opset::CheckResult result;
  opset::CheckReport report(result);
  const opset::FunctionIndex functions(model.functions);
  if (!opset::check_limits(model, functions, report).safe_to_infer) return out;
  if (!merge_imports(model, out.opset_imports)) {
    out.opset_imports = model.opset_imports;
    return out;
  }
  out.graph = with_calls_written_out(model, model.functions);
  out.functions.clear();
  return out;
}

using onnx_io::Graph;
using onnx_io::Node;

/// Branches stand in branches; real models have one or two.
constexpr int most_nested = 16;

/// Those with a recurrent node inside, or through which an output of the graph comes.
std::unordered_set<const Node*> wanted_branches(const Graph& graph) {
  const auto is_if = [](const Node& node) {
    return node.op_type == "If" && node.domain.empty() && !node.inputs.empty();
  };
  const onnx_io::Producers producers(graph.nodes);
  std::unordered_set<const Node*> wanted;
  for (const Node& node : graph.nodes) {
    if (is_if(node) && first_recurrent(node) != nullptr) wanted.insert(&node);
  }
  for (const onnx_io::ValueInfo& output : graph.outputs) {
    const Node* last = first_not_followed(producers, output.name);
    if (last != nullptr && is_if(*last)) wanted.insert(last);
  }
  return wanted;
}

/// The branch as a function that the node calls: what it sees of the graph around it and its initializers,
/// which move into that graph, are the inputs.
onnx_io::Function as_function(const Graph& branch, Node& node, Graph& around) {
  onnx_io::Function function;
  node.domain = function.domain = "branches of If";
  function.name = node.op_type;
  node.overload = function.overload = node.outputs.empty() ? "" : node.outputs.front();
  node.inputs.clear();
  node.attributes.clear();
  std::unordered_set<std::string> known;
  for (const onnx_io::Read& read : onnx_io::outer_reads(branch)) {
    const std::string name(read.name);
    if (!known.insert(name).second) continue;
    function.inputs.push_back(name);
    node.inputs.push_back(name);
  }
  for (const onnx_io::Initializer& initializer : branch.initializers) {
    function.inputs.push_back(initializer.name);
    node.inputs.push_back(fmt::format("branch of '{}': {}", node.overload, initializer.name));
    around.initializers.push_back({node.inputs.back(), initializer.tensor});
  }
  for (const onnx_io::ValueInfo& output : branch.outputs) function.outputs.push_back(output.name);
  function.nodes = branch.nodes;
  return function;
}

/// nullptr where the condition is none, or the branch is missing.
const Graph* taken_branch(const Node& node, const Values& values) {
  const Value& cond = values.at(node.inputs[0]);
  if (!cond.is_tensor() || cond.tensor().dtype() != DType::boolean || cond.tensor().size() != 1)
    return nullptr;
  const onnx_io::Attribute* branch =
      node.find_attribute(*cond.tensor().data<bool>() ? "then_branch" : "else_branch");
  return branch == nullptr || branch->graphs.empty() ? nullptr : branch->graphs.front().get();
}

}  // namespace

onnx_io::Model written_out(const onnx_io::Model& stated, const std::vector<Value>& inputs,
                           const Rerun& rerun) {
  onnx_io::Model model = with_calls_written_out(stated);
  if (!model.functions.empty() || has_random_operator(model)) return model;
  for (int round = 0; round < most_nested; ++round) {
    const std::unordered_set<const Node*> wanted = wanted_branches(model.graph);
    std::vector<std::string> conditions;
    for (const Node* node : wanted) {
      if (std::ranges::find(conditions, node->inputs[0]) == conditions.end())
        conditions.push_back(node->inputs[0]);
    }
    if (conditions.empty()) break;
    const Values values = capture(model, conditions, inputs, rerun);
    std::vector<onnx_io::Function> functions;
    Graph original = model.graph;
    for (std::size_t i = 0; i < original.nodes.size(); ++i) {
      const Node& before = model.graph.nodes[i];
      const Graph* branch = wanted.contains(&before) ? taken_branch(before, values) : nullptr;
      if (branch != nullptr) functions.push_back(as_function(*branch, original.nodes[i], model.graph));
    }
    if (functions.empty()) break;
    model.graph.nodes = std::move(original.nodes);
    model.graph = with_calls_written_out(model, functions);
  }
  return model;
}

}  // namespace grurun::trial::diagnosis
