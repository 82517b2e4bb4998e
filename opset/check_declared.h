// What a model declares of its values, against what inference finds without looking at it.
#pragma once

#include <unordered_set>

#include "opset/check_report.h"
#include "opset/infer.h"

namespace grurun::opset {

/// inferred was made without the declared types. Reports each value whose declared type or shape differs, in
/// every graph; symbolic dimensions agree with anything. Returns the numbers of the nodes that make those
/// values.
std::unordered_set<std::size_t> check_declared(const onnx::ModelProto& original, const Inference& inferred,
                                               CheckReport& report);

}  // namespace grurun::opset
