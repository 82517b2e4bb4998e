// One query of an attention whose keys and values lie in caches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace grurun::engine {

inline float dot(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Softmax in place. Scores of minus infinity count as 0, all of them where there is no other.
inline void softmax(std::vector<float>& scores) {
  if (scores.empty()) return;
  const float most = *std::ranges::max_element(scores);
  float sum = 0;
  for (float& score : scores) {
    score = most == -std::numeric_limits<float>::infinity() ? 0 : std::exp(score - most);
    sum += score;
  }
  for (float& score : scores) score = sum == 0 ? 0 : score / sum;
}

/// out [size] = the rows times weights.
template <typename RowOf>
void weighted_sum(const std::vector<float>& weights, std::int64_t size, float* out, const RowOf& row_of) {
  std::fill_n(out, size, 0.0f);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float* row = row_of(static_cast<std::int64_t>(i));
    for (std::int64_t j = 0; weights[i] != 0 && j < size; ++j) out[j] += weights[i] * row[j];
  }
}

}  // namespace grurun::engine
