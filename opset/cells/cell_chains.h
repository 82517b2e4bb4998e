// Cells of a graph that follow one another, each from the state that the one before makes.
#pragma once

#include <cstddef>
#include <vector>

#include "opset/cells/cell_pattern.h"
#include "opset/pages/graph_view.h"

namespace grurun::opset {

struct CellChain {
  std::vector<CellStep> steps;
  std::size_t first_node;  // number of the node that makes the first step's state
};

/// Of one graph, without its subgraphs. An RNN must have two steps at least, since one cannot be told from a
/// dense layer. In a body (main: false) one step that starts from one of its inputs is its Loop's or Scan's,
/// and left out.
std::vector<CellChain> find_chains(const onnx_io::Graph& graph, const GraphView& view, bool main);

}  // namespace grurun::opset
