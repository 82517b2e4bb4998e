// Inputs that are put one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Of inputs first, first + step ...: of one rank, and of one size beside axis, which may count from the end.
void require_joined(const NodeFacts& facts, std::int64_t axis, std::size_t first, std::size_t step);

}  // namespace grurun::opset
