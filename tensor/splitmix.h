// The generator of all random numbers: the same on every machine for the same seed.
#pragma once

#include <cstdint>

namespace grurun {

/// What the state of SplitMix64 grows by at each draw.
inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15u;

/// The next 64 bits of SplitMix64, whose state is one number; every seed begins a sequence of its own, and
/// those of neighbours have nothing in common.
constexpr std::uint64_t splitmix(std::uint64_t& state) {
  state += splitmix_step;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

/// In [0, 1): the upper 53 of 64 random bits.
constexpr double unit_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace grurun
