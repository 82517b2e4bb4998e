// Integer arithmetic that is defined for every operand: two's complement, the low bits kept.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/graph/refusal.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace detail {
// Wide enough that the compiler's promotion to int cannot overflow, as it would for uint16_t products.
template <typename T>
using Modular = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
}  // namespace detail

template <typename T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<detail::Modular<T>>(a) + static_cast<detail::Modular<T>>(b));
  } else {
    return a + b;
  }
}

template <typename T>
T wrapping_sub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<detail::Modular<T>>(a) - static_cast<detail::Modular<T>>(b));
  } else {
    return a - b;
  }
}

template <typename T>
T wrapping_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<detail::Modular<T>>(a) * static_cast<detail::Modular<T>>(b));
  } else {
    return a * b;
  }
}

template <typename T>
T wrapping_neg(T a) {
  return wrapping_sub(T{0}, a);
}

/// a / b for integers, truncated; the lowest value by -1 wraps to itself. Refuses b
/// == 0.
template <typename T>
T checked_div(T a, T b) {
  if (b == 0) refuse();
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping_neg(a);
  }
  return static_cast<T>(a / b);
}

/// What is left of the truncated division, with a's sign. Refuses b == 0.
template <typename T>
T checked_rem(T a, T b) {
  if (b == 0) refuse();
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

}  // namespace grurun::engine
