// GRU, RNN and LSTM in ONNX's shape inference: rules that need types and values, and the types of the
// outputs, with what ONNX's own function leaves out: hidden_size from the weights, batch_size from the
// states, and versions 1 and 3 whatever output_sequence is.
#pragma once

#include "onnx/defs/schema.h"
#include "opset/inference/inference_model.h"
#include "opset/recurrent/recurrent_rules.h"

namespace grurun::opset {

/// schema: of the node's exact version. The original's attributes may be references; the context has them
/// resolved. The types of the outputs are set unless something is at fault. Never throws for what a model
/// says.
RecurrentFindings infer_recurrent_node(const InferenceNode& node, const RecurrentForm& form,
                                       const SchemaInfo& schema, onnx::InferenceContext& context);

}  // namespace grurun::opset
