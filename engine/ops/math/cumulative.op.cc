// CumSum, CumProd: y_j = the sum (product) of x_0 ... x_j along axis; exclusive leaves out x_j, reverse runs
// from the end. axis is an input, a scalar. Integers wrap; floats are accumulated in double, 16-bit floats
// rounded only when written.
#include <algorithm>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_cumulate.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Cumulation {
  bool exclusive;
  bool reverse;
};

// The elements of some rows of n neighbours, `step` apart.
template <bool product, bool exclusive, typename T, typename Accumulator>
void add_rows(const T* x, std::int64_t rows, std::int64_t step, Accumulator* so_far, T* y, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    if (n > 1) {
      return product ? kernels::vec_multiply_up(x, rows, step, exclusive, so_far, y, n)
                     : kernels::vec_add_up(x, rows, step, exclusive, so_far, y, n);
    }
  }
  for (std::int64_t k = 0; k < rows; ++k, x += step, y += step) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) {
      const Accumulator before = so_far[j];
      const auto element = static_cast<Accumulator>(x[j]);
      so_far[j] = product ? wrapping_mul(before, element) : wrapping_add(before, element);
      y[j] = static_cast<T>(exclusive ? before : so_far[j]);
    }
  }
}

// x, y [outer, n, inner]; strips of neighbours run side by side, wide ones, since memory is read best in long
// runs.
template <bool product, bool exclusive, typename T>
void accumulate(bool reverse, const T* x, std::int64_t outer, std::int64_t n, std::int64_t inner, T* y) {
  using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  constexpr std::int64_t strip = 1024;
  const std::int64_t strips = (inner + strip - 1) / strip;
  const std::int64_t work = n * std::min(inner, strip) + 1;
  kernels::parallel_for(outer * strips, 32768 / work + 1, [&](std::int64_t begin, std::int64_t end) {
    Accumulator so_far[strip];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % strips * strip;
      const std::int64_t width = std::min(strip, inner - column);
      const std::int64_t first = i / strips * n * inner + column + (reverse ? (n - 1) * inner : 0);
      const std::int64_t step = reverse ? -inner : inner;
      std::fill_n(so_far, width, Accumulator{product});
      add_rows<product, exclusive>(x + first, n, step, so_far, y + first, width);
    }
  });
}

template <bool product>
Tensor cumulate(const Cumulation& how, const Tensor& x, std::int64_t axis_input) {
  if (x.dtype() == DType::float16 || x.dtype() == DType::bfloat16) {
    return cast_tensor(cumulate<product>(how, cast_tensor(x, DType::float32), axis_input), x.dtype());
  }
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto axis = static_cast<std::size_t>(normalized_axis(axis_input, rank));
  Tensor y(x.dtype(), x.shape());
  if (x.size() == 0) return y;
  using Types = TypeList<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  dispatch(Types{}, x.dtype(), [&]<typename T>() {
    const auto along = how.exclusive ? accumulate<product, true, T> : accumulate<product, false, T>;
    along(how.reverse, x.data<T>(), x.shape().count(0, axis), x.dim(axis),
          x.shape().count(axis + 1, x.rank()), y.mutable_data<T>());
  });
  return y;
}

template <bool product>
RunFunction prepare_cumulative(PrepareContext& node) {
  const Cumulation how{node.int_attribute("exclusive", 0) != 0, node.int_attribute("reverse", 0) != 0};
  return [how](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const ScratchVector<std::int64_t> axis = integer_list(run.tensor(1));
    if (axis.size() != 1) refuse();
    run.set_output(0, cumulate<product>(how, x, axis[0]));
  };
}

}  // namespace

std::vector<OpRow> op_rows_cumulative() {
  return {{"", "CumSum", {11, 14}, prepare_cumulative<false>},
          {"", "CumProd", {26}, prepare_cumulative<true>}};
}

}  // namespace grurun::engine
