// From a floating number to an integer, as Cast defines it.
#pragma once

#include <limits>

namespace grurun::kernels {

/// The number with its fraction cut off; of NaN and of what lies outside, the least integer.
template <class Integer, class Float>
Integer truncated(Float x) {
  constexpr Float bound = Float(-2) * static_cast<Float>(std::numeric_limits<Integer>::min() / 2);
  return x >= -bound && x < bound ? static_cast<Integer>(x) : std::numeric_limits<Integer>::min();
}

}  // namespace grurun::kernels
