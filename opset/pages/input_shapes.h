// The shapes that the pages of operators state for inputs and that ONNX's inference does not look at.
#pragma once

#include <span>
#include <string_view>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// What operators of the domain ai.onnx take, from version `since` on until another `since` of the same
/// operator. Rows of one version hold together. `shapes` has a word for each input, alternatives of all of
/// them stand between " | ":
///   [N,C,2]  a name is one size throughout, a number that size
///   +        in a shape: axes, of which there are as many wherever it stands
///   ...      in a shape: axes, with the same sizes wherever it stands
///   *        in a shape: any axes
///   [M]?     that, or one element, of rank 0 or 1
///   [M]!     that, and given
///   one      one element, of rank 0 or 1
///   list     of rank 0 or 1
///   none     left out
///   -        not judged
struct InputShapes {
  std::string_view op_type;
  int since;
  std::string_view shapes;
};

std::span<const InputShapes> all_input_shapes();

/// Throws Error(invalid_model) where what is known of the inputs' shapes contradicts the rows of the
/// operator's version.
void check_input_shapes(const NodeFacts& facts);

}  // namespace grurun::opset
