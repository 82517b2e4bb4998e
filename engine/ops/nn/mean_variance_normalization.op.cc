// MeanVarianceNormalization (ai.onnx 9, 13; experimental 1 and 8 of onnx 1.2 to 1.3).
//
//   Y = (X - mean) / (sqrt(variance) + 1e-9), moments taken along axes (default 0, 2, 3)
//
// Version 1 has no axes: moments are those of a plane [H, W], or of an image [C, H, W] with across_channels;
// without normalize_variance only the mean is subtracted. 16-bit floats are computed in float.
#include <algorithm>
#include <numeric>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/normalization.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

// Of the function body that versions 8 and later are defined by.
constexpr double epsilon = 1e-9;

// Axes in the order: those that stay apart, then those that moments are taken along.
std::vector<std::size_t> rows_first(std::size_t rank, const std::vector<bool>& reduced) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](std::size_t axis) { return !reduced[axis]; });
  return order;
}

Tensor permuted(const Tensor& x, const std::vector<std::size_t>& order) {
  const ScratchVector<std::int64_t> strides = row_major_strides(x.shape());
  ScratchVector<std::int64_t> dims, steps;
  for (const std::size_t axis : order) {
    dims.push_back(x.dim(axis));
    steps.push_back(strides[axis]);
  }
  return strided_copy(x, 0, Shape(dims), steps);
}

template <typename C>
Tensor normalized_rows(const Tensor& x, std::int64_t size, bool divide) {
  Tensor y(dtype_of<C>, x.shape());
  const C* from = x.data<C>();
  C* to = y.mutable_data<C>();
  const std::int64_t rows = size == 0 ? 0 : x.size() / size;
  kernels::parallel_for(rows, row_grain(size), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      C* line = to + row * size;
      const double deviation = std::sqrt(subtract_mean(from + row * size, size, line).variance) + epsilon;
      if (divide) kernels::vec_div(line, static_cast<C>(deviation), line, size);
    }
  });
  return y;
}

Tensor normalize(const Tensor& x, const std::vector<bool>& reduced, bool divide) {
  const std::vector<std::size_t> order = rows_first(x.rank(), reduced);
  std::vector<std::size_t> back(order.size());
  std::int64_t size = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[order[i]] = i;
    if (reduced[order[i]]) size *= x.dim(order[i]);
  }
  const bool in_place = std::is_sorted(order.begin(), order.end());
  return compute_in_float(x.dtype(), [&]<typename C>() {
    const Tensor wide = widened<C>(x);
    if (in_place) return normalized_rows<C>(wide, size, divide);
    return permuted(normalized_rows<C>(permuted(wide, order), size, divide), back);
  });
}

RunFunction prepare_mean_variance_normalization(PrepareContext& node) {
  const auto axes = node.ints_attribute("axes", {0, 2, 3});
  return [axes](RunContext& run) {
    const Tensor& x = run.tensor(0);
    std::vector<bool> reduced(x.rank(),
                              axes.empty());  // as the Reduce operators of the body: no axes means all
    for (const std::int64_t axis : axes)
      reduced[static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(x.rank())))] = true;
    run.set_output(0, normalize(x, reduced, true));
  };
}

RunFunction prepare_mean_variance_normalization_1(PrepareContext& node) {
  const bool across_channels = node.int_attribute("across_channels", 0) != 0;
  const bool divide = node.int_attribute("normalize_variance", 1) != 0;
  return [=](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() != 4) refuse();
    run.set_output(0, normalize(x, {false, across_channels, true, true}, divide));
  };
}

}  // namespace

std::vector<OpRow> op_rows_mean_variance_normalization() {
  return {{"", "MeanVarianceNormalization", {1}, prepare_mean_variance_normalization_1},
          {"", "MeanVarianceNormalization", {8, 9, 13}, prepare_mean_variance_normalization}};
}

}  // namespace grurun::engine
