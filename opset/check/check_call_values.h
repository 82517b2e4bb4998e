// The rules of attributes within model-local functions, with the values that calls give.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/findings/check_report.h"
#include "opset/schema/function_calls.h"

namespace grurun::opset {

/// Judges nodes of functions whose attributes refer to those of a call, for every call that gives other
/// values, and tells what the nodes as they are written do not have wrong already. Calls must be bounded
/// (Limits::safe_to_infer).
void check_call_values(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report);

}  // namespace grurun::opset
