// One element of a tensor as text.
#pragma once

#include <string>

#include "tensor/printable.h"
#include "tensor/tensor.h"

namespace grurun {

/// Element `offset` (row-major) of any type: 1.25, -3, true, 1+2j, 'text', nan, inf. Floats get `digits`
/// significant digits, 0: the fewest that give back the same value. A string is quoted, its control
/// characters and quotes are escaped, and beyond 64 bytes it is cut with "...".
std::string element_text(const Tensor& tensor, std::int64_t offset, int digits);

}  // namespace grurun
