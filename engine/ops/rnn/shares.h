// How threads share a product with the weights of a recurrent layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/kernels/gates/gate_panels.h"
#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/ops/rnn/weights.h"

namespace grurun::engine::rnn {

namespace tuning = kernels::tuning;

/// The first panel of part i of `parts` with about the same number of units.
template <typename Real>
std::int64_t first_panel(const kernels::GatePanels<Real>& weights, std::int64_t i, std::int64_t parts) {
  const std::int64_t units = weights.padded_size() * i / parts;
  std::int64_t panel = 0;
  while (panel < weights.panels() && 2 * weights.first_unit(panel) + weights.units(panel) <= 2 * units)
    ++panel;
  return panel;
}

/// Rows and panels of a product.
struct Share {
  std::int64_t first_row, rows;
  kernels::PanelRange panels;
};

/// Rows of which each thread must take as many, or the bits of what they become would change: a single step
/// multiplies both X and the state.
template <typename Real>
std::int64_t least_rows_alike(const BlockWeights<Real>& block) {
  return std::max(kernels::least_rows_alike(block.R), kernels::least_rows_alike(block.W));
}

/// Whether threads take rows instead of panels, each of them `least_rows` at least: where panels are few and
/// cannot be shared out evenly, and where weights are so few that reading all of them costs a thread less
/// than getting from others what they made of theirs; but for the tile registers, for which each thread would
/// split them.
template <typename Real>
bool share_rows(const kernels::GatePanels<Real>& weights, std::int64_t rows, std::int64_t parts,
                std::int64_t least_rows) {
  if (rows < parts * least_rows) return false;
  const std::int64_t bytes = weights.K() * weights.width() * static_cast<std::int64_t>(sizeof(Real));
  const std::int64_t cache = kernels::second_cache_bytes();
  const std::int64_t few_enough = rows < tuning::shared_weights_many_rows * parts
                                      ? cache / tuning::shared_weights_part_of_cache
                                      : tuning::shared_weights_second_caches * cache;
  if (!kernels::may_be_tiled(weights) && bytes <= few_enough) return true;
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t end = first_panel(weights, i + 1, parts);
    const std::int64_t units = end == weights.panels() ? weights.padded_size() : weights.first_unit(end);
    most = std::max(most, units - weights.first_unit(first_panel(weights, i, parts)));
  }
  return tuning::uneven_share.whole * most * parts > tuning::uneven_share.part * weights.padded_size();
}

/// Into how many pieces a thread's part of `operations` is cut, of which another thread that is done may take
/// some. Tiles (kernels::tile_registers) split the rows for each piece anew, which it would not make up for.
template <typename Real>
std::int64_t pieces_of_part(const kernels::GatePanels<Real>& weights, std::int64_t operations) {
  if (kernels::may_be_tiled(weights)) return 1;
  return std::clamp<std::int64_t>(operations / tuning::piece_operations, 1, tuning::most_pieces);
}

/// How many threads are worth waking for a product of weights with `rows` rows.
template <typename Real>
std::int64_t parts_of(const kernels::GatePanels<Real>& weights, std::int64_t rows) {
  return std::clamp<std::int64_t>(
      2 * rows * weights.K() * weights.width() / tuning::step_operations_of_thread, 1,
      kernels::threads_here());
}

/// The same for a step: as many as are worth waking for each block, since one reads what others made in the
/// block before.
template <typename Real>
std::int64_t step_parts(std::span<const BlockWeights<Real>> blocks, std::int64_t rows) {
  std::int64_t parts = kernels::threads_here();
  if (parts == 1) return 1;
  for (const BlockWeights<Real>& block : blocks) parts = std::min(parts, parts_of(block.R, rows));
  return parts;
}

/// The same for a projection. Few terms of a sum take less time to compute than to get from another thread,
/// which a step's only thread would have to.
template <typename Real>
std::int64_t projection_parts(const kernels::GatePanels<Real>& W, std::int64_t rows,
                              std::int64_t step_parts) {
  return W.K() < tuning::projection_few_terms && step_parts == 1 ? 1 : parts_of(W, rows);
}

/// Calls body(share) for shares of a product of weights with `rows` rows, on up to `parts` threads, each of
/// them with `least_rows` rows at least where it takes rows. A thread begins with the same panels at every
/// step, so that they stay in its cache, or has the same rows.
template <typename Real, typename Body>
void each_share(const kernels::GatePanels<Real>& weights, std::int64_t rows, std::int64_t parts,
                std::int64_t least_rows, bool descending, Body body) {
  if (parts == 1) return body(Share{0, rows, {0, weights.panels(), descending}});
  const kernels::PanelRange all{0, weights.panels(), descending};
  if (share_rows(weights, rows, parts, least_rows)) {
    const auto first_row = [rows, parts](std::int64_t part) { return rows * part / parts; };
    return kernels::parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      body(Share{first_row(begin), first_row(end) - first_row(begin), all});
    });
  }
  if (weights.panels() == 1) return body(Share{0, rows, all});
  const std::int64_t operations = 2 * rows * weights.K() * weights.width();
  const std::int64_t pieces = pieces_of_part(weights, operations / parts), count = parts * pieces;
  kernels::parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t piece = descending ? i / pieces * pieces + pieces - 1 - i % pieces : i;
      const std::int64_t first = first_panel(weights, piece, count),
                         last = first_panel(weights, piece + 1, count);
      if (first < last) body(Share{0, rows, {first, last, descending}});
    }
  });
}

}  // namespace grurun::engine::rnn
