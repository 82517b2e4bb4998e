// ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare: one result for each set of elements
// that differ only along the axes. keepdims leaves those dimensions with extent 1. axes is an attribute in
// the early versions and an input from ReduceSum-13, ReduceX-18 on. Without axes all dimensions are reduced;
// with noop_with_empty_axes each element is a set of its own, to which the function still applies. An empty
// set: 0 for sums, 1 for Prod, -infinity or the lowest value for Max (LogSum and LogSumExp alike), the
// opposite for Min. 16-bit floats are reduced as float and rounded once.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/reduction/reduce_kernels.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/reduction.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using SumTypes = TypeList<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
using OrderedTypes = Join<SumTypes, TypeList<std::int8_t, std::uint8_t, bool>>;

using Reducer = Tensor (*)(const Tensor& x, const ReductionShape& shape);

// LogSumExp over contiguous sets, by whole-array functions.
void log_sum_exp_rows(const float* x, std::int64_t rows, std::int64_t n, float* y) {
  kernels::parallel_for(rows, 8192 / n + 1, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<float> powers(static_cast<std::size_t>(n));
    for (std::int64_t i = begin; i < end; ++i) {
      const float highest = kernels::reduce_max(x + i * n, n);
      y[i] = highest;
      if (!std::isfinite(highest)) continue;
      kernels::vec_sub(x + i * n, highest, powers.data(), n);
      kernels::vec_exp(powers.data(), powers.data(), n);
      y[i] = static_cast<float>(highest + std::log(kernels::reduce_sum(powers.data(), n)));
    }
  });
}

template <template <typename> typename Kernel, typename T>
void reduce_elements(const ReductionShape& shape, const T* x, T* y) {
  if constexpr (std::is_same_v<Kernel<T>, reduce_kernels::LogSumExp<float>>) {
    if (shape.count > 1 && shape.inner_reduced && shape.reduced.size() == 1 && shape.kept.size() <= 1) {
      return log_sum_exp_rows(x, shape.output.element_count(), shape.count, y);
    }
  }
  reduce(shape, Kernel<T>{}, x, y);
}

template <template <typename> typename Kernel, typename List>
Tensor reduce_tensor(const Tensor& x, const ReductionShape& shape) {
  Tensor y(x.dtype(), shape.output);
  if (x.dtype() == DType::float16 || x.dtype() == DType::bfloat16) {
    if constexpr (detail::sums_floats<Kernel<float>, float> || detail::orders<Kernel<float>, float>) {
      dispatch(TypeList<Float16, BFloat16>{}, x.dtype(),
               [&]<typename T>() { reduce(shape, Kernel<float>{}, x.data<T>(), y.mutable_data<T>()); });
      return y;
    }
    return cast_tensor(reduce_tensor<Kernel, List>(cast_tensor(x, DType::float32), shape), x.dtype());
  }
  dispatch(List{}, x.dtype(),
           [&]<typename T>() { reduce_elements<Kernel, T>(shape, x.data<T>(), y.mutable_data<T>()); });
  return y;
}

ReductionShape shape_for(const Tensor& x, std::span<const std::int64_t> given, bool keepdims, bool noop) {
  if (x.rank() == 0) {  // an axis of it: opset/pages/forms.h
    if (std::ranges::any_of(given, [](std::int64_t axis) { return axis < -1 || axis > 0; })) refuse();
    return reduction_shape(x.shape(), {}, keepdims);
  }
  // Nothing forbids to name one twice.
  ScratchVector<std::int64_t> axes = distinct_axes(given, static_cast<std::int64_t>(x.rank()));
  if (given.empty() && !noop) {
    axes.resize(x.rank());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return reduction_shape(x.shape(), axes, keepdims);
}

template <Reducer reducer>
RunFunction prepare_axes_attribute(PrepareContext& node) {
  const bool keepdims = node.flag_attribute("keepdims", true);
  return [keepdims, axes = node.ints_attribute("axes")](RunContext& run) {
    const Tensor& x = run.tensor(0);
    run.set_output(0, reducer(x, shape_for(x, axes, keepdims, false)));
  };
}

template <Reducer reducer>
RunFunction prepare_axes_input(PrepareContext& node) {
  const bool keepdims = node.flag_attribute("keepdims", true);
  const bool noop = node.flag_attribute("noop_with_empty_axes", false);
  return [keepdims, noop](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor* given = run.optional_tensor(1);
    ScratchVector<std::int64_t> axes;
    if (given != nullptr) axes = integer_list(*given);
    run.set_output(0, reducer(x, shape_for(x, axes, keepdims, noop)));
  };
}

template <template <typename> typename Kernel, typename List = SumTypes>
void add_rows(std::vector<OpRow>& rows, const char* type, std::vector<int> attribute_versions,
              std::vector<int> input_versions) {
  constexpr Reducer reducer = reduce_tensor<Kernel, List>;
  rows.push_back({"", type, std::move(attribute_versions), prepare_axes_attribute<reducer>});
  rows.push_back({"", type, std::move(input_versions), prepare_axes_input<reducer>});
}

}  // namespace

std::vector<OpRow> op_rows_reduce() {
  std::vector<OpRow> rows;
  add_rows<reduce_kernels::Sum>(rows, "ReduceSum", {1, 11}, {13});
  add_rows<reduce_kernels::Mean>(rows, "ReduceMean", {1, 11, 13}, {18});
  add_rows<reduce_kernels::Max, OrderedTypes>(rows, "ReduceMax", {1, 11, 12, 13}, {18, 20});
  add_rows<reduce_kernels::Min, OrderedTypes>(rows, "ReduceMin", {1, 11, 12, 13}, {18, 20});
  add_rows<reduce_kernels::Prod>(rows, "ReduceProd", {1, 11, 13}, {18});
  add_rows<reduce_kernels::L1>(rows, "ReduceL1", {1, 11, 13}, {18});
  add_rows<reduce_kernels::L2>(rows, "ReduceL2", {1, 11, 13}, {18});
  add_rows<reduce_kernels::LogSum>(rows, "ReduceLogSum", {1, 11, 13}, {18, 28});
  add_rows<reduce_kernels::LogSumExp>(rows, "ReduceLogSumExp", {1, 11, 13}, {18, 28});
  add_rows<reduce_kernels::SumSquare>(rows, "ReduceSumSquare", {1, 11, 13}, {18});
  return rows;
}

}  // namespace grurun::engine
