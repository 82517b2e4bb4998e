// The added schemas as lists of operators show them.
#pragma once

#include <vector>

#include "opset/schema/registry.h"

namespace grurun::opset {

/// Every version of every operator, newest first, by domain and name; without OpenVINO's, which no file but
/// an IR has.
std::vector<const SchemaInfo*> added_schemas();

}  // namespace grurun::opset
