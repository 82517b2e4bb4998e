// Walks of rows through trees, many at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dispatch.h"

namespace grurun::engine {

/// Walks of some rows of x, row_step apart, through some trees: number i is that of row i % rows through the
/// tree of roots[i / rows].
template <typename T>
struct Walks {
  const T* x;
  std::ptrdiff_t row_step;
  std::size_t rows;
  std::span<const std::uint32_t> roots;

  std::size_t count() const { return rows * roots.size(); }
};

constexpr std::size_t most_walks = 256;

/// leaves[i] = the node, of those from `branches` on, that walk i comes to, less `branches`. Each step waits
/// for the one before, and meanwhile other walks take theirs. Nothing branches on where a walk goes, which no
/// processor could foresee: all take as many steps as leaves are deep on an average, or some, a walk that has
/// ended staying where it is; then those that have not ended take some more. At most most_walks walks. `next`
/// gives the node behind one for a feature.
template <typename C, typename Node, typename T, typename Next>
void walk_all(const Node* nodes, std::uint32_t branches, std::size_t mean_depth, const Walks<T>& walks,
              std::uint32_t* leaves, const Next& next) {
  // As many as hide the wait; few where that many are not left.
  constexpr std::size_t many = 16, few = 4;
  constexpr std::size_t most_steps = 16, more_steps = 4;
  constexpr std::uint16_t ended = most_walks;  // a walk that fills up the last few
  std::uint32_t at[most_walks + 1];
  const T* rows[most_walks + 1];
  std::uint16_t under_way[most_walks + few];
  std::size_t left = 0;
  for (const std::uint32_t root : walks.roots) {
    const T* x = walks.x;
    for (std::size_t row = 0; row < walks.rows; ++row, x += walks.row_step) {
      at[left] = root;
      rows[left] = x;
      under_way[left] = static_cast<std::uint16_t>(left);
      ++left;
    }
  }
  at[ended] = branches;
  rows[ended] = walks.x;
  for (std::size_t steps = std::min(mean_depth, most_steps); left != 0; steps = more_steps) {
    for (std::size_t i = 0; i < few; ++i) under_way[left + i] = ended;
    std::size_t still = 0;
    const auto take_steps = [&]<std::size_t together>(const std::uint16_t* numbers) {
      std::uint32_t nodes_of[together];
      const T* rows_of[together];
#pragma GCC unroll 16
      for (std::size_t i = 0; i < together; ++i) {
        nodes_of[i] = at[numbers[i]];
        rows_of[i] = rows[numbers[i]];
      }
      for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < together; ++i) {
          const Node& node = nodes[nodes_of[i]];
          nodes_of[i] = next(node, static_cast<C>(static_cast<ComputeType<T>>(rows_of[i][node.feature])));
        }
      }
#pragma GCC unroll 16
      for (std::size_t i = 0; i < together; ++i) {
        const std::uint16_t number = numbers[i];
        at[number] = nodes_of[i];
        under_way[still] = number;
        still += nodes_of[i] < branches ? 1 : 0;
      }
    };
    std::size_t first = 0;
    for (; first + many <= left; first += many) take_steps.template operator()<many>(under_way + first);
    for (; first < left; first += few) take_steps.template operator()<few>(under_way + first);
    left = still;
  }
  const std::size_t count = walks.count();
  for (std::size_t i = 0; i < count; ++i) leaves[i] = at[i] - branches;
}

}  // namespace grurun::engine
