// Attributes that only the kernel of a node reads as a whole.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/check/check.h"
#include "opset/findings/check_report.h"
#include "opset/schema/function_calls.h"

namespace grurun::opset {

/// Of nodes without an error so far, in subgraphs and functions too.
void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions,
                       const PreparationFault& fault_of, CheckReport& report);

}  // namespace grurun::opset
