// Where a boolean mask chooses between two values.
#pragma once

#include <string>
#include <vector>

#include "opset/schema/graph_view.h"

namespace grurun::opset {

struct MaskChoice {
  std::string a, b;  // behind what only changes the shape
};

/// Where(m, a, b), or m . a + (not m) . b with m cast to numbers, either way round; nothing for other values.
std::vector<MaskChoice> match_mask(const GraphView& graph, const std::string& name);

}  // namespace grurun::opset
