// What the kernel of a node finds in its attributes and constants.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/check/check.h"
#include "opset/findings/check_report.h"
#include "opset/schema/function_calls.h"

namespace grurun::opset {

struct KnownValues {
  const ComputedValues& computed;
  const std::map<std::string, ValueType>& inferred;  // of the main graph
};

/// Of nodes that are right by themselves, in subgraphs and functions too. What was told already is not told
/// again.
void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions, const KnownValues& known,
                       const NodeFaults& faults_of, CheckReport& report);

}  // namespace grurun::opset
