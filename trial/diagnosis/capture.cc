#include "trial/diagnosis/capture.h"

#include <algorithm>
#include <unordered_set>

#include "onnx_io/models/walk.h"
#include "trial/random_outputs.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Node;

/// Leaves out nodes that none of these values depends on.
void keep_needed(onnx_io::Model& model, const std::vector<std::string>& names) {
  onnx_io::Graph& graph = model.graph;
  // Random operators are given their seeds in turn: one left out would change those behind it.
  const bool draws = has_random_operator(model);
  std::unordered_set<std::string> needed(names.begin(), names.end());
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool wanted =
        std::ranges::any_of(node->outputs, [&](const std::string& name) { return needed.contains(name); });
    // A body may read any value of the graph, so everything before a node with one stays.
    if (wanted && (onnx_io::has_body(*node) || draws)) {
      kept.insert(kept.end(), node, graph.nodes.rend());
      break;
    }
    if (!wanted) continue;
    for (const std::string& input : node->inputs) {
      if (!input.empty()) needed.insert(input);
    }
    kept.push_back(*node);
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
}

}  // namespace

Values capture(onnx_io::Model model, const std::vector<std::string>& names, std::vector<Value> inputs,
               const Rerun& rerun) {
  keep_needed(model, names);
  model.graph.outputs.clear();
  for (const std::string& name : names) model.graph.outputs.push_back({name, {}});
  std::vector<Value> values = run_again(model, std::move(inputs), rerun);
  Values out;
  for (std::size_t i = 0; i < names.size(); ++i) out.emplace(names[i], std::move(values[i]));
  return out;
}

}  // namespace grurun::trial::diagnosis
