#include "engine/ops/rnn/recurrence.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/ops/rnn/direction_run.h"
#include "engine/ops/rnn/shares.h"
#include "engine/ops/rnn/workspace.h"
#include "tensor/dispatch.h"

namespace grurun::engine::rnn {
namespace {

double operations_of_direction(const LayerForm& form, const Dimensions& dims) {
  return 2.0 * static_cast<double>(dims.seq_length) * static_cast<double>(dims.batch_size) *
         static_cast<double>(form.gates() * dims.hidden_size) *
         static_cast<double>(dims.input_size + dims.hidden_size);
}

/// Among how many of `threads` threads the rows of a direction are divided for all of its steps, so that they
/// have nothing to tell each other on the way.
template <typename Real>
std::int64_t row_parts(const LayerRun& layer, const LayerWeights<Real>& weights, std::int64_t threads) {
  const std::int64_t rows = layer.dims.batch_size;
  if (!layer.schedule.uniform() || weights.front().quantized) return 1;
  const auto worthwhile = static_cast<std::int64_t>(
      std::min(operations_of_direction(layer.form, layer.dims) / tuning::direction_operations_of_thread,
               static_cast<double>(threads)));
  if (worthwhile < 2) return 1;
  const auto divisible = [&](const BlockWeights<Real>& block) {
    return share_rows(block.R, rows, worthwhile, least_rows_alike(block));
  };
  for (const DirectionWeights<Real>& direction : weights)
    if (!std::ranges::all_of(direction.blocks, divisible)) return 1;
  return worthwhile;
}

// A thread for each direction needs no waiting for the other at every step; more threads than that do better
// by sharing the steps.
bool directions_side_by_side(const LayerForm& form, const Dimensions& dims) {
  const int threads = kernels::threads_here();
  return threads > 1 && threads <= tuning::most_threads_for_directions &&
         operations_of_direction(form, dims) >= tuning::direction_operations_alone;
}

}  // namespace

template <typename T, typename Real>
void run_directions(const LayerRun& layer, const LayerWeights<Real>& weights) {
  const std::int64_t directions = layer.dims.num_directions, rows = layer.dims.batch_size;
  const int threads = kernels::threads_here();
  const std::int64_t parts = threads > directions ? row_parts(layer, weights, threads / directions) : 1;
  const std::int64_t runs = directions * parts;
  const bool apart = runs > 1 && (parts > 1 || directions_side_by_side(layer.form, layer.dims));
  if (!apart) {
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      DirectionRun<T, Real> run(layer, direction, weights[static_cast<std::size_t>(direction)], {0, rows});
      with_workspace(run.workspace_bytes(), [&](std::byte* workspace) { run.run(workspace); });
    }
    return;
  }
  const auto run_of = [&](std::int64_t run) {
    const std::int64_t part = run % parts, first = rows * part / parts, last = rows * (part + 1) / parts;
    const auto direction = static_cast<std::size_t>(run / parts);
    return DirectionRun<T, Real>(layer, run / parts, weights[direction], {first, last - first});
  };
  // One workspace, so that a thread meets the same memory in every run: that of another thread's last run
  // would have to come from there. The first part has the fewest rows, the last one the most, and what is
  // projected at a time may be more of either.
  const std::size_t bytes = std::max(run_of(0).workspace_bytes(), run_of(parts - 1).workspace_bytes());
  with_workspace(static_cast<std::size_t>(runs) * bytes, [&](std::byte* workspace) {
    kernels::parallel_for(runs, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        run_of(i).run(workspace + static_cast<std::size_t>(i) * bytes);
    });
  });
}

template void run_directions<float, float>(const LayerRun&, const LayerWeights<float>&);
template void run_directions<double, double>(const LayerRun&, const LayerWeights<double>&);
template void run_directions<Float16, float>(const LayerRun&, const LayerWeights<float>&);
template void run_directions<BFloat16, float>(const LayerRun&, const LayerWeights<float>&);

}  // namespace grurun::engine::rnn
