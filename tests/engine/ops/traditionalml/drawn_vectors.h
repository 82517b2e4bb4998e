// Support vectors and weights of random numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace grurun::engine::testing {

inline std::vector<float> normal_floats(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(static_cast<std::size_t>(n));
  for (float& value : out) value = normal(random);
  return out;
}

/// Every other vector stands beside the same one with nearly the opposite weight.
inline void cancel_vectors(std::vector<float>& features, std::vector<float>& weights, std::size_t width) {
  for (std::size_t v = 1; v < weights.size(); v += 2) {
    weights[v] = std::nextafter(-weights[v - 1], 0.0F);
    std::copy_n(&features[(v - 1) * width], width, &features[v * width]);
  }
}

}  // namespace grurun::engine::testing
