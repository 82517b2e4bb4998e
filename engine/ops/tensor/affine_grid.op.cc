// AffineGrid (ai.onnx 20): the places where an affine transformation of a sampling grid takes its samples
// from.
//
//   grid[n][d][h][w] = theta[n] * (x[w], y[h], z[d], 1)
//
// theta [N, 2, 3] or [N, 3, 4], size [N, C, H, W] or [N, C, D, H, W], grid [N, H, W, 2] or [N, D, H, W, 3].
// The positions of an axis of n places are evenly spaced: with align_corners from -1 to 1, -1 + 2 i / (n -
// 1), else at the centres of n equal parts of [-1, 1], -1 + (2 i + 1) / n. A single place with align_corners
// is at -1. 16-bit floats are computed in float.
#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/float_rows.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

Shape grid_shape(const Tensor& theta, std::span<const std::int64_t> size) {
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  if (axes != 2 && axes != 3) refuse();
  Shape shape{size[0]};
  for (std::size_t d = 2; d < size.size(); ++d) shape.push_back(size[d]);
  for (const std::int64_t length : size) {
    if (length < 0) refuse();
  }
  const Shape expected{size[0], axes, axes + 1};
  if (!(theta.shape() == expected)) refuse();
  shape.push_back(axes);
  return shape;
}

template <typename C>
C position(std::int64_t i, std::int64_t length, bool align_corners) {
  const auto n = static_cast<C>(length), at = static_cast<C>(i);
  if (align_corners) return length == 1 ? C(-1) : C(-1) + at * (2 / (n - 1));
  return (C(-1) + 1 / n) + at * (2 / n);
}

/// One row of the grid, [W, axes], whose outer coordinates are `outer`: y, or y and z.
template <typename C>
void fill_row(const C* theta, std::size_t axes, const C* x, std::int64_t width, const C* outer, C* to) {
  for (std::size_t c = 0; c < axes; ++c) {
    const C* row = theta + c * (axes + 1);
    C rest = row[axes];
    for (std::size_t k = 1; k < axes; ++k) rest += row[k] * outer[k - 1];
    for (std::int64_t w = 0; w < width; ++w)
      to[w * static_cast<std::int64_t>(axes) + static_cast<std::int64_t>(c)] = row[0] * x[w] + rest;
  }
}

template <typename C>
void fill_grid(const Tensor& theta, bool align_corners, Tensor& grid) {
  const Shape& shape = grid.shape();
  const std::size_t axes = shape.rank() - 2;
  const std::int64_t width = shape[axes], height = shape[axes - 1];
  const std::int64_t depth = axes == 3 ? shape[1] : 1, line = width * static_cast<std::int64_t>(axes);
  const Tensor wide = widened<C>(theta);
  const C* matrices = wide.data<C>();
  std::vector<C> x(static_cast<std::size_t>(width));
  for (std::int64_t w = 0; w < width; ++w)
    x[static_cast<std::size_t>(w)] = position<C>(w, width, align_corners);
  auto* to = static_cast<std::byte*>(grid.mutable_raw());
  const std::int64_t bytes = line * static_cast<std::int64_t>(dtype_size(grid.dtype()));
  kernels::parallel_for(shape[0] * depth * height, 4096 / (line + 1) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          std::vector<C> row(static_cast<std::size_t>(line));
                          for (std::int64_t i = begin; i < end; ++i) {
                            const C outer[] = {position<C>(i % height, height, align_corners),
                                               position<C>(i / height % depth, depth, align_corners)};
                            const std::int64_t n = i / height / depth;
                            fill_row(matrices + n * static_cast<std::int64_t>(axes * (axes + 1)), axes,
                                     x.data(), width, outer, row.data());
                            convert_floats(dtype_of<C>, row.data(), grid.dtype(), to + i * bytes, line);
                          }
                        });
}

RunFunction prepare_affine_grid(PrepareContext& node) {
  const bool align_corners = node.int_attribute("align_corners", 0) != 0;
  return [align_corners](RunContext& run) {
    const Tensor& theta = run.tensor(0);
    const Shape shape = grid_shape(theta, integer_list(run.tensor(1)));
    Tensor& grid = run.output(0, theta.dtype(), shape);
    if (grid.size() == 0) return;
    theta.dtype() == DType::float64 ? fill_grid<double>(theta, align_corners, grid)
                                    : fill_grid<float>(theta, align_corners, grid);
  };
}

}  // namespace

std::vector<OpRow> op_rows_affine_grid() {
  return {{"", "AffineGrid", {20}, prepare_affine_grid}};
}

}  // namespace grurun::engine
