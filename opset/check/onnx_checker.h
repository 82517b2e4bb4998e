// ONNX's own checker, on a model whose nesting and calls are bounded.
#pragma once

#include "onnx/onnx_pb.h"
#include "opset/findings/check_report.h"

namespace grurun::opset {

/// It stops at the first fault, and touches no files: external data is the reader's business. What it finds
/// is an error when the report has none yet, else a note.
void run_onnx_checker(const onnx::ModelProto& proto, CheckReport& report);

}  // namespace grurun::opset
