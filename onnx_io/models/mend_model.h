// What files have against the standard and mean something all the same. For onnx_io only: it shows ONNX's
// messages.
#pragma once

#include <vector>

#include "onnx/onnx_pb.h"
#include "onnx_io/models/load_to_run.h"

namespace grurun::onnx_io {

/// Of several imports of a domain the highest stays, in the model and in its functions: "All nodes [...] will
/// bind against the operator with [...] the HIGHEST version in the referenced operator sets" (onnx.proto).
void keep_highest_imports(::onnx::ModelProto& model);

/// Sorts the nodes of graphs, bodies and functions where they come before what they need, and imports the
/// domains in `assumed_imports` where nodes use them. Returns what was done. Nodes that depend on each other
/// stay where they are, and so do those of a graph that has none to move.
std::vector<Mended> mend_model(::onnx::ModelProto& model);

/// Domains that are imported where a model forgot to, at the newest version known.
const OpsetImports& assumed_imports();

}  // namespace grurun::onnx_io
