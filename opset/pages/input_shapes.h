// The shapes that a page states for inputs: the little language of Page::shapes.
#pragma once

#include <string_view>
#include <vector>

#include "opset/pages/page.h"

namespace grurun::opset {

/// One entry.
struct StatedShapes {
  int since;
  std::string_view shapes;
};

std::vector<StatedShapes> stated_shapes(const Page& page);

/// Throws Error(invalid_model) where what is known of the inputs' shapes contradicts the entries of the
/// node's version.
void check_input_shapes(const Page& page, const NodeFacts& facts);

}  // namespace grurun::opset
