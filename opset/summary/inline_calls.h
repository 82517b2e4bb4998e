// A graph with its model-local functions written out.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/schema/function_calls.h"

namespace grurun::opset {

/// The main graph, with the function's nodes in the place of every call, in subgraphs too. A node is named as
/// the check's paths name it, "call/node"; values of a function's own are named so as well. Calls must not
/// recurse, and their expansion must be bounded: check_limits says so (safe_to_infer).
onnx_io::Graph inline_calls(const onnx_io::Model& model, const FunctionIndex& functions);

}  // namespace grurun::opset
