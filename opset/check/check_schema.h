// What the schema of a node's exact version says of its attributes and of how many inputs and outputs it has.
#pragma once

#include "opset/findings/check_report.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// Attributes and the numbers of inputs and outputs, as the schema has them.
void check_against_schema(const NodeAt& at, const SchemaInfo& schema, CheckReport& report);

}  // namespace grurun::opset
