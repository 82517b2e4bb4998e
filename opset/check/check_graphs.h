// The walk over every graph, subgraph and function body of a model: names and nodes of each.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/check/check_node.h"
#include "opset/findings/check_report.h"

namespace grurun::opset {

/// Nesting must be bounded (check_limits).
void check_graphs(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report);

}  // namespace grurun::opset
