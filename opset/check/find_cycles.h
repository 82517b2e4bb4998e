// Nodes of a graph that depend on themselves.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// Groups of nodes that depend on each other's outputs, or one node on its own; what a node's bodies read
/// from outside counts as read by that node. Indices ascend in each group. Linear in the number of nodes and
/// names.
std::vector<std::vector<std::size_t>> find_cycles(const std::vector<onnx_io::Node>& nodes);

/// What is said of such a group.
std::string cycle_sentence(const std::vector<onnx_io::Node>& nodes, const std::vector<std::size_t>& cycle);

}  // namespace grurun::opset
