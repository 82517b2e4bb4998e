// The equation of Einsum, read and checked against the operands' ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tensor/memory/scratch.h"

namespace grurun::opset {

/// A dimension's name: a letter's code, or first_ellipsis_label + i for dimension i of "...".
using Label = int;
inline constexpr Label first_ellipsis_label = 256;
using Labels = ScratchVector<Label>;

struct EinsumEquation {
  ScratchVector<Labels> inputs;  // one label for each dimension of each operand
  Labels output;
};

/// Throws Error(invalid_model) for text that is no equation, or that does not fit operands of these ranks.
EinsumEquation parse_einsum(const std::string& equation, std::span<const std::size_t> ranks);

}  // namespace grurun::opset
