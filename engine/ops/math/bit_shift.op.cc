// BitShift: Z = X << Y (direction LEFT) or X >> Y (RIGHT), element by element.
// BitShift-28 adds signed integers: the right shift fills with the sign bit, the left one drops what leaves
// the type. An amount that is negative or not below the width leaves only the fill: -1 for a right shift of a
// negative X, else 0.
#include <limits>
#include <vector>

#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

template <typename T>
bool within_width(T amount) {
  return amount >= 0 && static_cast<std::uint64_t>(amount) < sizeof(T) * 8;
}

struct ShiftLeft {
  template <typename T>
  T operator()(T x, T amount) const {
    return within_width(amount) ? static_cast<T>(static_cast<std::uint64_t>(x) << amount) : T{0};
  }
};
struct ShiftRight {
  template <typename T>
  T operator()(T x, T amount) const {
    if (within_width(amount)) return static_cast<T>(x >> amount);
    return x < 0 ? static_cast<T>(-1) : T{0};
  }
};

RunFunction prepare_bit_shift(PrepareContext& node) {
  if (node.string_attribute("direction") == "LEFT")
    return binary_step<ShiftLeft, Integers>(node, ShiftLeft{});
  return binary_step<ShiftRight, Integers>(node, ShiftRight{});
}

}  // namespace

std::vector<OpRow> op_rows_bit_shift() {
  return {{"", "BitShift", {11, 28}, prepare_bit_shift}};
}

}  // namespace grurun::engine
