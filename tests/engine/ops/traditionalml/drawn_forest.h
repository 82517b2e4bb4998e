// Trees and rows by chance, the same in every run.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "engine/ops/traditionalml/compact_forest.h"
#include "tests/engine/ops/traditionalml/classic_trees.h"

namespace grurun::engine::testing {

inline constexpr std::uint32_t drawn_features = 5;

/// Trees of so many leaves each, split anywhere, with nodes as CompactForest has them.
struct DrawnForest {
  std::vector<Branch<float>> nodes;
  std::vector<std::uint32_t> roots;
  std::uint32_t branches = 0;

  explicit DrawnForest(const std::vector<int>& leaves) {
    for (const int count : leaves) branches += static_cast<std::uint32_t>(count) - 1;
    nodes.resize(branches);
    next_leaf_ = branches;
    for (const int count : leaves) roots.push_back(grow(count));
  }

  /// The nodes, and behind them those of leaves, from which a walk goes to itself.
  std::vector<Branch<float>> with_leaves() const {
    std::vector<Branch<float>> all = nodes;
    for (std::uint32_t leaf = branches; leaf < next_leaf_; ++leaf) all.push_back({0, 0, {leaf, leaf}});
    return all;
  }

  std::uint32_t walk(std::uint32_t root, const float* x, bool nan_holds) const {
    std::uint32_t at = root;
    while (at < branches) {
      const float value = x[nodes[at].feature];
      at = nodes[at].next[(nan_holds ? !(value > nodes[at].at) : value <= nodes[at].at) ? 1 : 0];
    }
    return at - branches;
  }

 private:
  std::uint32_t grow(int leaves) {
    if (leaves == 1) return next_leaf_++;
    const std::uint32_t place = next_branch_++;
    const int below = std::uniform_int_distribution<int>(1, leaves - 1)(random_);
    nodes[place].at = 0.25F * static_cast<float>(std::uniform_int_distribution<int>(-6, 6)(random_));
    nodes[place].feature = std::uniform_int_distribution<std::uint32_t>(0, drawn_features - 1)(random_);
    nodes[place].next[0] = grow(below);
    nodes[place].next[1] = grow(leaves - below);
    return place;
  }

  std::mt19937 random_{7};
  std::uint32_t next_branch_ = 0, next_leaf_ = 0;
};

/// Quarters, many of them where trees split; some NaN, some infinite.
inline std::vector<float> drawn_rows(std::int64_t count) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> quarters(-10, 10), kind(0, 30);
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i) {
    const int of = kind(random);
    x.push_back(of == 0   ? static_cast<float>(nan)
                : of == 1 ? static_cast<float>(inf)
                : of == 2 ? -static_cast<float>(inf)
                          : 0.25F * static_cast<float>(quarters(random)));
  }
  return x;
}

}  // namespace grurun::engine::testing
