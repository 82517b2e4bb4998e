// What operators draw.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

#include "engine/graph/op_context.h"
#include "tensor/dispatch.h"
#include "tensor/splitmix.h"

namespace grurun::engine {

/// Numbers from the bits of SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return splitmix(state_); }

  /// In [0, 1), 53 random bits.
  double uniform() { return unit_of(next()); }

  /// In [0, 1) with as many bits as T holds, so that rounding never reaches 1.
  template <typename T>
  double uniform_as() {
    constexpr int bits = std::is_same_v<T, double>     ? 53
                         : std::is_same_v<T, float>    ? 24
                         : std::is_same_v<T, BFloat16> ? 8
                                                       : 11;
    return std::ldexp(static_cast<double>(next() >> (64 - bits)), -bits);
  }

  /// Mean 0, standard deviation 1 (Box-Muller, one of the pair).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

/// The generator of a node with this attribute `seed`: the same values at every run of the node, or, without
/// one, others at each, as --seed has it.
inline Random node_random(std::optional<float> seed, RunContext& run) {
  return Random(seed ? std::bit_cast<std::uint32_t>(*seed) : run.random_seed());
}

}  // namespace grurun::engine
