// Types and shapes of an operator that is a composition: those of its body.
#pragma once

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// Sets what the body tells of the outputs. Throws onnx::InferenceError with body_fault where its nodes
/// refuse what they get: their own words are of nodes that the model does not have.
void infer_body(const onnx::FunctionProto& body, const onnx::ISchemaRegistry& registry,
                onnx::InferenceContext& context);

/// Of an added operator. Sets what the body tells of the outputs; nothing where it depends on types that are
/// not known, or where the operator has none. The registry resolves the body's nodes.
void infer_added(const onnx::OpSchema& schema, const onnx::ISchemaRegistry& registry,
                 onnx::InferenceContext& context);

}  // namespace grurun::opset
