// Batches of signals of few places: taken together they fill vectors that each of them alone does not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/kernels/gemm/gemm_tile.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/convolution.h"

namespace grurun::engine {

/// Whether there are enough of them, X [N, C, D] -> Y [N, M, O], to be taken together, and sums of so many
/// products that copying X and Y takes no time beside them.
template <typename T>
bool is_signal_batch(const ConvShape& shape) {
  constexpr std::int64_t vector = kernels::columns_of_vector<T>, least_filters = 8, least_depth = 32;
  return shape.axes.size() == 1 && shape.output_size() < vector &&
         shape.batch * shape.output_size() >= vector && shape.filters / shape.group >= least_filters &&
         shape.channels / shape.group * shape.kernel_size() >= least_depth;
}

/// The same as one image X [1, C, N, D] -> Y [1, M, N, O], whose rows are the signals.
inline ConvShape signals_as_image(const ConvShape& shape) {
  ConvShape image = shape;
  image.batch = 1;
  image.axes = {WindowAxis{.input = shape.batch, .output = shape.batch}, shape.axes.front()};
  return image;
}

/// to [m, n, row] = from [n, m, row]; then done(j) for each j < m, on any thread.
template <typename T, typename Done>
void swap_outer_axes(const T* from, std::int64_t n, std::int64_t m, std::int64_t row, T* to,
                     const Done& done) {
  constexpr std::int64_t chunk = 16 / static_cast<std::int64_t>(sizeof(T));  // a call takes longer than a row
  constexpr std::int64_t worth_a_thread = 1 << 14;
  const std::int64_t of_line = std::max<std::int64_t>(1, 4 * chunk / std::max<std::int64_t>(1, row));
  const auto copy_row = [=](std::int64_t i, std::int64_t j) {
    const T* const source = from + (i * m + j) * row;
    T* const target = to + (j * n + i) * row;
    std::int64_t k = 0;
    for (; k + chunk <= row; k += chunk) std::memcpy(target + k, source + k, chunk * sizeof(T));
    for (; k < row; ++k) target[k] = source[k];
  };
  kernels::parallel_for(m, worth_a_thread / (n * row + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    // A cache line of rows that lie side by side at a time.
    for (std::int64_t first = begin; first < end; first += of_line) {
      const std::int64_t last = std::min(end, first + of_line);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = first; j < last; ++j) copy_row(i, j);
      }
      for (std::int64_t j = first; j < last; ++j) done(j);
    }
  });
}

}  // namespace grurun::engine
