#include "trial/bisecting/live_values.h"

#include <algorithm>
#include <vector>

#include "onnx_io/models/walk.h"

namespace grurun::trial {

const LiveValues::Names& LiveValues::names(const onnx_io::Graph& graph) {
  const auto [found, is_new] = by_graph_.try_emplace(&graph);
  Names& live = found->second;
  if (!is_new) return live;
  const onnx_io::Producers producers(graph.nodes);
  std::vector<std::string> wanted;
  for (const onnx_io::ValueInfo& output : graph.outputs) wanted.push_back(output.name);
  while (!wanted.empty()) {
    const std::string name = std::move(wanted.back());
    wanted.pop_back();
    if (!live.insert(name).second) continue;
    const auto* const maker = producers.find(name);
    if (maker == nullptr) continue;
    for (const onnx_io::Read& read : onnx_io::reads_of(*maker->node)) wanted.emplace_back(read.name);
  }
  return live;
}

bool LiveValues::has(std::size_t node, const Scope& scope, const std::string& name) {
  const Names& main = names(model_.graph);
  if (scope.outer == nullptr) return main.contains(name);
  const bool is_live = node >= model_.graph.nodes.size() ||
                       std::ranges::any_of(model_.graph.nodes[node].outputs,
                                           [&](const std::string& output) { return main.contains(output); });
  return is_live && names(*scope.graph).contains(name);
}

}  // namespace grurun::trial
