// Which nodes of a graph make what others use.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// Index of the node that makes each name, of the first where several do. The names must outlive the result.
std::unordered_map<std::string_view, std::size_t> producers(const std::vector<onnx_io::Node>& nodes);

/// Groups of nodes that depend on each other's outputs, or one node on its own; inputs of nodes inside a
/// node's subgraphs count as that node's. Indices ascend in each group. Linear in the number of nodes and
/// names.
std::vector<std::vector<std::size_t>> find_cycles(const std::vector<onnx_io::Node>& nodes);

}  // namespace grurun::opset
