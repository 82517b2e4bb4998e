// DynamicTimeWarping (com.microsoft 1): the cheapest path from the first place of input [M, N], or [1, M, N],
// to the last one, each step going on by one row, one column, or both.
//
//   cost(i, j) = input[i, j] + the least of cost(i-1, j-1), cost(i-1, j) and cost(i, j-1)
//
// output [2, steps] of int32: rows and columns of the path. Of equal costs, one step along a row wins.
#include <algorithm>
#include <limits>
#include <vector>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

enum class Step : signed char { both, row, column };

void warp(RunContext& run) {
  const Tensor& input = run.tensor(0);
  const std::size_t rank = input.rank();
  if (rank < 2 || rank > 3 || (rank == 3 && input.dim(0) != 1)) refuse();
  const std::int64_t rows = input.dim(rank - 2), columns = input.dim(rank - 1);
  if (input.size() == 0) return run.set_output(0, Tensor(DType::int32, {2, 0}));
  const float* own = input.data<float>();
  // Costs of one row and the one before it, with a place before the first.
  const auto width = static_cast<std::size_t>(columns) + 1;
  std::vector<float> before(width, std::numeric_limits<float>::infinity()), cost(before);
  std::vector<Step> steps(static_cast<std::size_t>(input.size()));
  before[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    run.check_limits();
    cost[0] = std::numeric_limits<float>::infinity();
    for (std::size_t j = 1; j < width; ++j) {
      const float both = before[j - 1], row = before[j], column = cost[j - 1];
      Step step = Step::column;
      if (both < row && both < column) step = Step::both;
      if (row < both && row < column) step = Step::row;
      const float least = step == Step::both ? both : step == Step::row ? row : column;
      const auto at = static_cast<std::size_t>(i) * (width - 1) + j - 1;
      cost[j] = least + own[at];
      steps[at] = step;
    }
    before.swap(cost);
  }
  std::vector<std::int32_t> path_rows, path_columns;
  std::int64_t i = rows - 1, j = columns - 1;
  while (i >= 0 && j >= 0) {
    path_rows.push_back(static_cast<std::int32_t>(i));
    path_columns.push_back(static_cast<std::int32_t>(j));
    const Step step = steps[static_cast<std::size_t>(i * columns + j)];
    if (step != Step::column) --i;
    if (step != Step::row) --j;
  }
  const auto length = static_cast<std::int64_t>(path_rows.size());
  std::ranges::reverse(path_rows);
  path_rows.insert(path_rows.end(), path_columns.rbegin(), path_columns.rend());
  run.set_output(0, Tensor::from<std::int32_t>({2, length}, path_rows));
}

}  // namespace

std::vector<OpRow> op_rows_dynamic_time_warping() {
  return {{"com.microsoft", "DynamicTimeWarping", {1}, [](PrepareContext&) -> RunFunction { return warp; }}};
}

}  // namespace grurun::engine
