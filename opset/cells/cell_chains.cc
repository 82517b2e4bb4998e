#include "opset/cells/cell_chains.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx_io/models/walk.h"

namespace grurun::opset {

namespace {

using onnx_io::Graph;
using onnx_io::Node;

struct Step {
  CellStep cell;
  std::size_t node;
  bool likeliest;
  std::optional<std::size_t> next = std::nullopt;
  bool has_previous = false;
};

std::vector<Step> steps_of(const Graph& graph, const GraphView& view) {
  std::vector<Step> steps;
  std::unordered_set<std::string> choices;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.outputs.size() != 1 || !node.domain.empty()) continue;
    bool likeliest = true;
    for (CellStep& cell : match_cells(view, node.outputs[0])) {
      choices.insert(cell.choices.begin(), cell.choices.end());
      steps.push_back({std::move(cell), i, likeliest});
      likeliest = false;
    }
  }
  std::erase_if(steps, [&](const Step& step) { return choices.count(step.cell.h_next) != 0; });
  return steps;
}

void link(std::vector<Step>& steps) {
  std::unordered_map<std::string, std::vector<std::size_t>> after;  // steps by the state they start from
  for (std::size_t i = 0; i < steps.size(); ++i) after[steps[i].cell.h_previous].push_back(i);
  for (Step& step : steps) {
    const auto followers = after.find(step.cell.h_next);
    if (followers == after.end()) continue;
    for (const std::size_t follower : followers->second) {
      Step& next = steps[follower];
      if (next.cell.weight != step.cell.weight || next.cell.op_type != step.cell.op_type) continue;
      step.next = follower;
      next.has_previous = true;
    }
  }
}

CellChain chain_from(const std::vector<Step>& steps, const Step& first) {
  CellChain chain{{}, first.node};
  for (const Step* step = &first;; step = &steps[*step->next]) {
    chain.steps.push_back(step->cell);
    if (!step->next || chain.steps.size() > steps.size()) return chain;
  }
}

// tf2onnx leaves a first step behind that tells a Loop how large its state is.
bool only_shape_is_read(const Graph& graph, const std::string& value) {
  if (std::ranges::find(graph.outputs, value, &onnx_io::ValueInfo::name) != graph.outputs.end()) return false;
  bool is_read = false;
  for (const Node& node : graph.nodes) {
    for (const onnx_io::Read& read : onnx_io::reads_of(node)) {
      if (read.name != value) continue;
      if (read.by == nullptr || read.by->op_type != "Shape") return false;
      is_read = true;
    }
  }
  return is_read;
}

}  // namespace

std::vector<CellChain> find_chains(const Graph& graph, const GraphView& view, bool main) {
  std::vector<Step> steps = steps_of(graph, view);
  link(steps);
  std::unordered_set<std::string_view> body_inputs;
  for (const onnx_io::ValueInfo& input : graph.inputs) body_inputs.insert(input.name);
  // Of several readings of a node the one that is part of a chain is right; without any the likeliest.
  // A step from a state of zeros may have lost its product with R; what it multiplies then is the input.
  std::unordered_set<std::size_t> chained;
  std::unordered_set<const Tensor*> of_inputs;
  for (const Step& step : steps) {
    if (!step.has_previous && !step.next) continue;
    chained.insert(step.node);
    if (step.cell.input != nullptr) of_inputs.insert(step.cell.input);
  }
  std::vector<CellChain> chains;
  for (const Step& step : steps) {
    if (step.has_previous) continue;
    if (!main && !step.next && body_inputs.count(step.cell.h_previous) != 0) continue;
    const bool alone = step.likeliest && chained.count(step.node) == 0;
    if (!step.next && (!alone || of_inputs.count(step.cell.recurrent) != 0)) continue;
    CellChain chain = chain_from(steps, step);
    if (chain.steps.size() < 2 && step.cell.op_type == std::string_view("RNN")) continue;
    if (!only_shape_is_read(graph, chain.steps.back().h_next)) chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace grurun::opset
