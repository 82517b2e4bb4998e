// What a run would refuse of a node before it sees any input.
#pragma once

#include <optional>
#include <string>

#include "onnx_io/models/model.h"

namespace grurun::trial {

/// Prepares the node alone, by its attributes: no input is a constant, so nothing is packed or folded. The
/// message of the Error(invalid_model) that its kernel throws. nullopt where there is none, and for a node
/// without attributes or with such as name graphs, values of the graph around it or attributes of a caller.
std::optional<std::string> preparation_fault(const onnx_io::Node& node, const onnx_io::OpsetImports& imports);

}  // namespace grurun::trial
