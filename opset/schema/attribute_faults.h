// What the schema says of each attribute by itself: that there is such a one, given once, of its type.
#pragma once

#include <string>
#include <vector>

#include "opset/schema/registry.h"

namespace grurun::opset {

/// nullptr where the schema has no attribute of that name.
const AttributeInfo* find_attribute(const SchemaInfo& schema, const std::string& name);

/// Names that begin with two underscores are the implementation's, as ONNX's checker has it.
bool is_internal_attribute(const std::string& name);

struct AttributeFault {
  enum class Kind { given_twice, unknown, wrong_type };

  Kind kind;
  std::string attribute;
  std::string message;
};

/// The faults of a node's attributes, in their order.
std::vector<AttributeFault> judge_attributes(const SchemaInfo& schema,
                                             const std::vector<onnx_io::Attribute>& attributes);

}  // namespace grurun::opset
