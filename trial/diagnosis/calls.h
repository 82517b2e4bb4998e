// Recurrent layers in model-local functions.
#pragma once

#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::trial::diagnosis {

/// The model with its functions written out in the main graph, so that layers in them are seen; nodes there
/// are named "call/node". The model itself where it has none, where a function imports another opset than the
/// model, which one graph cannot hold, and where calls recurse or would grow too large.
onnx_io::Model with_calls_written_out(const onnx_io::Model& model);

/// The main graph with these functions written out; calls must not recurse.
onnx_io::Graph with_calls_written_out(const onnx_io::Model& model,
                                      const std::vector<onnx_io::Function>& functions);

}  // namespace grurun::trial::diagnosis
