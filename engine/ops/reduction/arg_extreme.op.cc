// ArgMax, ArgMin: the index of the largest or smallest element along axis, int64; the first of several, or
// the last with select_last_index (version 12 on). A NaN counts as the extreme, as in numpy. keepdims leaves
// the axis with extent 1. An empty axis has no such index: Error(invalid_model), unless there is nothing to
// return.
#include <algorithm>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/copy_elements.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

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
    alignas(64) T best[strip];
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

template <typename T, bool largest>
T extreme_of(const T* x, std::int64_t n) {
  if constexpr (requires { kernels::reduce_max(x, n); }) {
    return largest ? kernels::reduce_max(x, n) : kernels::reduce_min(x, n);
  } else {
    T best = x[0];
    for (std::int64_t i = 1; i < n; ++i) best = largest ? std::max(best, x[i]) : std::min(best, x[i]);
    return best;
  }
}

// The first or last place of x where `holds`, which is somewhere. Blocks without one are passed by at the
// speed of vectors.
template <typename T, bool last, typename Holds>
std::int64_t place_where(const T* x, std::int64_t n, const Holds& holds) {
  constexpr std::int64_t block = 128;
  const std::int64_t blocks = (n + block - 1) / block;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t begin = (last ? blocks - 1 - b : b) * block, end = std::min(n, begin + block);
    std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t> found = 0;  // as wide as what is compared
    for (std::int64_t i = begin; i < end; ++i) found |= holds(x[i]) ? 1 : 0;
    if (found == 0) continue;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t at = last ? end - 1 - (i - begin) : i;
      if (holds(x[at])) return at;
    }
  }
  return 0;
}

// x [rows, n] -> y [rows]: the extreme of a row first, then where it is.
template <typename T, bool largest, bool last>
void find_in_rows(const T* x, std::int64_t rows, std::int64_t n, std::int64_t* y) {
  kernels::parallel_for(rows, 32768 / n + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* row = x + i * n;
      const T best = extreme_of<T, largest>(row, n);
      y[i] = best != best ? place_where<T, last>(row, n, [](T value) { return value != value; })
                          : place_where<T, last>(row, n, [best](T value) { return value == best; });
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
  if (n == 0 && !nothing) refuse();
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
    const auto find = [&]<bool last>() {
      if (inner == 1) return find_in_rows<T, largest, last>(data.data<T>(), outer, n, y);
      find_extremes<T, largest, last>(data.data<T>(), outer, n, inner, y);
    };
    return attributes.last ? find.template operator()<true>() : find.template operator()<false>();
  });
}

template <bool largest>
RunFunction prepare_arg_extreme(PrepareContext& node) {
  const ArgAttributes attributes{node.int_attribute("axis", 0), node.flag_attribute("keepdims", true),
                                 node.int_attribute("select_last_index", 0) != 0};
  return [attributes](RunContext& run) { run_arg<largest>(run, attributes); };
}

}  // namespace

std::vector<OpRow> op_rows_arg_extreme() {
  return {{"", "ArgMax", {1, 11, 12, 13}, prepare_arg_extreme<true>},
          {"", "ArgMin", {1, 11, 12, 13}, prepare_arg_extreme<false>}};
}

}  // namespace grurun::engine
