// What the page of an operator says against a node: one judge for a check and for a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opset/findings/rules.h"
#include "opset/pages/node_facts.h"

namespace grurun::opset {

struct Fault {
  Rule rule;
  std::string message;
};

/// Values of attributes, alone and taken together, whatever the inputs are. Attributes that refer to a
/// function's are not judged.
std::vector<Fault> attribute_value_faults(const onnx_io::Node& node, int since_version);

/// Shapes and values of inputs, with the attributes; the first fault.
std::optional<Fault> input_fault(const NodeFacts& facts);

/// Both: the first fault, those of attributes before.
std::optional<Fault> judge_page(const NodeFacts& facts);

}  // namespace grurun::opset
