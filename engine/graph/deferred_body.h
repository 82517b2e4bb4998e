// A schema's function body that depends on the types of its inputs: built when they are known.
#pragma once

#include "engine/graph/op_registry.h"
#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"

namespace grurun::engine {

/// A run step that builds and plans the body at the first run, and again when types or shapes of the inputs
/// change. Inputs are judged by the operator's page before, unless the node is of the body of another
/// operator. Throws Error(unsupported) for a node with a graph attribute: its body would need the scope of
/// the node.
RunFunction deferred_body(const onnx_io::Node& node, std::int64_t opset_version, const PlanOptions& options,
                          bool judged);

}  // namespace grurun::engine
