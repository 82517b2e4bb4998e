// What the schema says of how many inputs and outputs a node has, and which of them it may omit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opset/findings/check_report.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// What is wrong with the number of a node's inputs or outputs, and which required ones are omitted.
struct ArityFaults {
  std::optional<std::string> count;
  std::vector<std::string> omitted;
};
ArityFaults judge_inputs(const NodeAt& at, const SchemaInfo& schema);
ArityFaults judge_outputs(const NodeAt& at, const SchemaInfo& schema);

}  // namespace grurun::opset
