// How a GRU's new state is made of its update gate, its candidate and the old state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opset/cells/term_reader.h"
#include "opset/pages/graph_view.h"

namespace grurun::opset {

struct GateUpdate {
  std::string z;          // activated
  std::string candidate;  // activated
  std::string state;
  bool complement;  // the gate weighs the candidate, not the old state
};

/// (1 - z) . n + z . H, or with n and H exchanged, however sums, differences and products write it: it is
/// multiplied out. nullopt for what comes to anything else.
std::optional<GateUpdate> match_update(const TermReader& read, const std::string& name);

struct MaskChoice {
  std::string a, b;  // behind what only changes the shape
};

/// Where(m, a, b), or m . a + (not m) . b with m cast to numbers, either way round; nothing for other values.
std::vector<MaskChoice> match_mask(const GraphView& graph, const std::string& name);

}  // namespace grurun::opset
