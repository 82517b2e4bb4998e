// The rules of the exact opset a model declares: ONNX's checker, the schemas of each node's version, and
// shape inference.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "onnx_io/models/model.h"
#include "opset/findings/finding.h"

namespace grurun::opset {

/// Values of the main graph that are no literal constants, but are made of such, by name.
using ComputedValues = std::map<std::string, Tensor>;

/// Why no run could begin with a node that has these attributes; nullopt where one could, or it is not known.
/// The engine knows, which stands above this room.
using PreparationFault =
    std::function<std::optional<std::string>(const onnx_io::Node&, const onnx_io::OpsetImports&)>;

/// All findings at once; never throws for what a model says. Nodes of model-local functions and subgraphs are
/// visited. computed: further values for the rules about values of recurrent layers.
CheckResult check_model(const onnx_io::Model& model, const ComputedValues& computed = {},
                        const PreparationFault& fault_of = {});

}  // namespace grurun::opset
