// Axes that attributes name, and lists of attributes with an entry for each axis or input, which ONNX's
// inference does not look at.
#pragma once

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Throws Error(invalid_model) for an axis that the input does not have, or a list of another length than the
/// operator's text states, as far as ranks are known.
void check_axis_lists(const NodeFacts& facts);

/// Throws Error(invalid_model) for an axis, whatever attribute names it, that is beyond int.
void check_axis_range(const NodeFacts& facts);

}  // namespace grurun::opset
