// What a model declares of its values, against what inference finds without looking at it.
#pragma once

#include "opset/findings/check_report.h"
#include "opset/inference/infer.h"

namespace grurun::opset {

/// inferred was made without the declared types. Reports each value whose declared type or shape differs, in
/// every graph; symbolic dimensions agree with anything. Returns those values.
WrongDeclarations check_declared(const onnx::ModelProto& original, const Inference& inferred,
                                 CheckReport& report);

}  // namespace grurun::opset
