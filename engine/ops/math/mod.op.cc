// Mod: C = A mod B, element by element.
// fmod = 0: the sign of the result is B's (Python's %); Mod-28 admits floats there, A - floor(A / B) * B.
// fmod = 1: C's fmod, the sign of the result is A's; versions 10 and 13 say it is for floats only, yet leave
// integers in their type constraint, and Mod-28 defines them: A - trunc(A / B) * B. A zero divisor of
// integers is an error.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/graph/refusal.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

// C's fmod. Of floats with a quotient below 2^28, in double: the nearest integer to the quotient times b is
// exact there, so is what is left of a, at most half of b, and what lacks to the other side of 0.
template <typename T>
T remainder_of(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    const double dividend = std::fabs(static_cast<double>(a)), divisor = std::fabs(static_cast<double>(b));
    const double quotient = dividend / divisor;
    if (quotient < 0x1p28 && divisor <= std::numeric_limits<float>::max()) {
      constexpr double to_integer = 0x1p52;
      const double rest = dividend - ((quotient + to_integer) - to_integer) * divisor;
      const double lacking = rest < 0 ? divisor : 0;  // no branch: nothing could foretell it
      return std::copysign(static_cast<float>(rest + lacking), a);
    }
  }
  return std::fmod(a, b);
}

struct Truncated {
  static constexpr bool divides = true;
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return checked_rem(a, b);
    } else {
      return remainder_of(a, b);
    }
  }
};

struct Floored {
  static constexpr bool divides = true;
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T rest = checked_rem(a, b);
      return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
    } else {
      const T rest = remainder_of(a, b);
      if (rest == 0) return std::copysign(rest, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
};

RunFunction prepare_mod(PrepareContext& node) {
  if (node.flag_attribute("fmod", false)) return binary_step<Truncated, Numbers>(node, Truncated{});
  const bool floats = node.since_version() >= 28;
  return [step = binary_step<Floored, Numbers>(node, Floored{}), floats](RunContext& run) {
    if (!floats && is_floating(run.tensor(0).dtype())) refuse();
    step(run);
  };
}

}  // namespace

std::vector<OpRow> op_rows_mod() {
  return {{"", "Mod", {10, 13, 28}, prepare_mod}};
}

}  // namespace grurun::engine
