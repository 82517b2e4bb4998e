// Types and shapes of an added operator that is a composition: those of its body.
#pragma once

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// Sets what the body tells of the outputs; nothing where it depends on types that are not known, or where
/// the operator has none. The registry resolves the body's nodes.
void infer_added(const onnx::OpSchema& schema, const onnx::ISchemaRegistry& registry,
                 onnx::InferenceContext& context);

}  // namespace grurun::opset
