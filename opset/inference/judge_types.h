// The types of a node's inputs and outputs against those that its version admits: judged of what inference
// finds, and of the values in a run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "opset/findings/rules.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

struct TypeViolation {
  const RuleInfo* rule;
  std::string message;
};

/// Types as ONNX spells them, "tensor(float)", by input and by output; nullptr where none is known.
using Spellings = std::vector<const std::string*>;

/// What the schema does not admit, in the order of inputs and outputs.
std::vector<TypeViolation> judge_types(const SchemaInfo& schema, const Spellings& inputs,
                                       const Spellings& outputs);

/// Throws RuleError with the first violation that is an error.
void require_types(const SchemaInfo& schema, const Spellings& inputs, const Spellings& outputs);

}  // namespace grurun::opset
