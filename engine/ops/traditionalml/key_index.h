// Where a value stands in a list of keys: the lookup of the operators of ai.onnx.ml that map values.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace grurun::engine {

/// How floating keys are equal: bits alike (so that 0 is not -0, and a NaN equals the same NaN), or as
/// numbers, with NaN equal to every NaN.
enum class FloatEquality { bits, numbers };

/// Places of keys, 0, 1, 2, ...; of a key that is listed twice, the last.
template <typename T>
class KeyIndex {
 public:
  explicit KeyIndex(std::span<const T> keys, FloatEquality equality = FloatEquality::numbers)
      : equality_(equality) {
    std::int64_t place = 0;
    for (const T& key : keys) places_[stored(key)] = place++;
  }

  /// The place of the key, or -1.
  std::int64_t find(const T& key) const {
    const auto found = places_.find(stored(key));
    return found == places_.end() ? -1 : found->second;
  }

 private:
  // Floats are kept as bits, which hash and compare without surprises.
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Stored = std::conditional_t<std::is_floating_point_v<T>, Bits, T>;

  decltype(auto) stored(const T& key) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (equality_ == FloatEquality::numbers && std::isnan(key)) return ~Bits{0};
      return std::bit_cast<Bits>(equality_ == FloatEquality::numbers && key == 0 ? T{0} : key);
    } else {
      return key;
    }
  }

  FloatEquality equality_;
  std::unordered_map<Stored, std::int64_t> places_;
};

}  // namespace grurun::engine
