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

struct NodeFault {
  std::string code;  // of the rule
  std::string message;
};

struct NodeInputs {
  std::vector<const Tensor*> constants;  // by input; nullptr where its value is not known
  bool may_run = false;                  // what the node makes is small
};

/// Why a run refuses a node with these attributes and constants; nullopt where it may not. The engine knows,
/// which stands above this room.
using NodeFaults = std::function<std::optional<NodeFault>(const onnx_io::Node&, const onnx_io::OpsetImports&,
                                                          const NodeInputs&)>;

/// All findings at once; never throws for what a model says. Nodes of model-local functions and subgraphs are
/// visited. computed: further values for the rules about values of recurrent layers.
CheckResult check_model(const onnx_io::Model& model, const ComputedValues& computed = {},
                        const NodeFaults& faults_of = {}, const OnFinding& on_finding = {});

}  // namespace grurun::opset
