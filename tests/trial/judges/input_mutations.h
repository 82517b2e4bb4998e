// Faults in the tensors that a model is fed. Each tells what it did; "" where it could do nothing.
#pragma once

#include <string>
#include <vector>

#include "tensor/value.h"
#include "tests/trial/judges/draws.h"

namespace grurun::trial::testing {

/// Zeros of another type.
std::string retype_input(std::vector<Value>& inputs, Draws& draws);

/// Another shape, filled with the elements that there are, again and again.
std::string reshape_input(std::vector<Value>& inputs, Draws& draws);

/// Another number in one place, or everywhere.
std::string change_values(std::vector<Value>& inputs, Draws& draws);

}  // namespace grurun::trial::testing
