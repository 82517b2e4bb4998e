// What must hold before anything recurses into a model: bounded nesting, no recursive functions, and how much
// work expanding its functions would be.
#pragma once

#include <cstdint>

#include "onnx_io/models/model.h"
#include "opset/findings/check_report.h"
#include "opset/schema/function_calls.h"

namespace grurun::opset {

struct Limits {
  /// Subgraphs do not nest too deep: recursion over graphs ends.
  bool safe_to_recurse;
  /// Calls do not recurse or nest too deep either, and inference, which expands them, ends in seconds.
  bool safe_to_infer;
};

/// Reports nesting deeper than max_nesting, recursive functions and expansions that are too large.
Limits check_limits(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report);

}  // namespace grurun::opset
