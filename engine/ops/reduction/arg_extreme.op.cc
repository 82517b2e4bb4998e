// ArgMax, ArgMin: the index of the largest or smallest element along axis, int64; the first of several, or
// the last with select_last_index (version 12 on). A NaN counts as the extreme, as in numpy. keepdims leaves
// the axis with extent 1. An empty axis has no such index: Error(invalid_model), unless there is nothing to
// return.
#include <algorithm>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/cast.h"
#include "engine/ops/copy_elements.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_arg_extreme();

namespace {

struct ArgAttributes {
  std::int64_t axis;
  bool keepdims;
  bool last;
};

// Whether x takes the place of an earlier best.
template <typename T, bool largest, bool last>
bool displaces(T x, T best) {
  if (best != best) return last && x != x;
  if (x != x) return true;
  if constexpr (last) return largest ? x >= best : x <= best;
  return largest ? x > best : x < best;
}

// x [outer, n, inner] -> y [outer, inner]. Strips of neighbours are compared side by side.
template <typename T, bool largest, bool last>
void find_extremes(const T* x, std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t* y) {
  constexpr std::int64_t strip = 256;
  const std::int64_t strips = (inner + strip - 1) / strip;
  const std::int64_t work = n * std::min(inner, strip) + 1;
  kernels::parallel_for(outer * strips, 32768 / work + 1, [&](std::int64_t begin, std::int64_t end) {
    T best[strip];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % strips * strip;
      const std::int64_t width = std::min(strip, inner - column);
      const T* row = x + i / strips * n * inner + column;
      std::int64_t* index = y + i / strips * inner + column;
      std::copy_n(row, width, best);
      std::fill_n(index, width, 0);
      for (std::int64_t k = 1; k < n; ++k) {
        row += inner;
        for (std::int64_t j = 0; j < width; ++j) {
          const bool better = displaces<T, largest, last>(row[j], best[j]);
          best[j] = better ? row[j] : best[j];
          index[j] = better ? k : index[j];
        }
      }
    }
  });
}

template <bool largest>
void run_arg(RunContext& run, const ArgAttributes& attributes) {
  const Tensor& given = run.tensor(0);
  const bool half = given.dtype() == DType::float16 || given.dtype() == DType::bfloat16;
  const Tensor data = half ? cast_tensor(given, DType::float32) : given;
  const auto rank = static_cast<std::int64_t>(data.rank());
  const auto axis = static_cast<std::size_t>(normalized_axis(attributes.axis, rank));
  const std::int64_t n = data.dim(axis);
  const std::int64_t outer = data.shape().count(0, axis);
  const std::int64_t inner = data.shape().count(axis + 1, data.rank());
  const bool nothing = outer == 0 || inner == 0;
  if (n == 0 && !nothing) fail_invalid("no extreme along axis {} of {}", axis, data.shape().to_string());
  Shape shape = data.shape();
  if (attributes.keepdims) {
    shape[axis] = 1;
  } else {
    shape.erase(axis);
  }
  std::int64_t* y = run.output(0, DType::int64, shape).mutable_data<std::int64_t>();
  if (nothing) return;
  using Types = Join<TypeList<float, double>, Integers>;
  dispatch(Types{}, data.dtype(), [&]<typename T>() {
    if (attributes.last) {
      find_extremes<T, largest, true>(data.data<T>(), outer, n, inner, y);
    } else {
      find_extremes<T, largest, false>(data.data<T>(), outer, n, inner, y);
    }
  });
}

template <bool largest>
RunFunction prepare_arg_extreme(PrepareContext& node) {
  const ArgAttributes attributes{node.int_attribute("axis", 0), node.int_attribute("keepdims", 1) != 0,
                                 node.int_attribute("select_last_index", 0) != 0};
  return [attributes](RunContext& run) { run_arg<largest>(run, attributes); };
}

}  // namespace

std::vector<OpRow> op_rows_arg_extreme() {
  return {{"", "ArgMax", {1, 11, 12, 13}, prepare_arg_extreme<true>},
          {"", "ArgMin", {1, 11, 12, 13}, prepare_arg_extreme<false>}};
}

}  // namespace grurun::engine
