// What a run refuses of a node by its attributes and the values that the file holds.
#pragma once

#include <optional>
#include <string>

#include "opset/check/check.h"

namespace grurun::trial {

/// Prepares the node alone, and runs it where it may run and all inputs are constants: the rule and the
/// sentence with which that ends. nullopt where it does not, and for a node whose attributes are graphs, name
/// values of the graph around it or refer to those of a caller.
std::optional<opset::NodeFault> preparation_fault(const onnx_io::Node& node,
                                                  const onnx_io::OpsetImports& imports,
                                                  const opset::NodeInputs& inputs);

}  // namespace grurun::trial
