// A node by itself, with the values that a run has for it, judged by all that a check knows.
#pragma once

#include <optional>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/check/check.h"
#include "tensor/value.h"

namespace grurun::opset {

struct KnownInput {
  ValueType type;                // unknown: not known or not given
  const Value* value = nullptr;  // nullptr where it is not known
};

/// The first error that a check finds in a model of this node alone under the version that is given. nullopt
/// where there is no error, or the node has bodies, which see what is around it. Never throws for what a
/// model says.
std::optional<Finding> judge_alone(const onnx_io::Node& node, int since_version,
                                   const std::vector<KnownInput>& inputs);

}  // namespace grurun::opset
