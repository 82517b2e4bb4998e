// Attributes that only the kernel of a node reads as a whole.
#pragma once

#include "onnx_io/model.h"
#include "opset/check.h"
#include "opset/check_report.h"
#include "opset/function_calls.h"

namespace grurun::opset {

/// Of nodes without an error so far, in subgraphs and functions too.
void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions,
                       const PreparationFault& fault_of, CheckReport& report);

}  // namespace grurun::opset
