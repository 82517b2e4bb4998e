// Softmax:    y = e^x / sum(e^x)            over the elements of a set
// LogSoftmax: y = x - log(sum(e^x))
// Hardmax:    y = 1 for the first largest x, 0 for the others
// From version 13 on a set is what lies along axis (default -1). Versions 1 and 11 make a matrix of the
// input, [a_0 ... a_(axis-1), a_axis ... a_(n-1)] (default axis 1), and a set is a row of it.
#include "engine/ops/math/softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/kernels/vec/vec_softmax.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/float_rows.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

// Each on n contiguous elements; y may be x. scratch holds n elements. Some also take many rows at once, or
// columns [n, width] of rows that are `step` apart.
struct Softmax {
  static void rows(const float* x, float* y, std::int64_t count, std::int64_t n) {
    kernels::vec_softmax(x, y, count, n);
  }
  static void columns(const float* x, float* y, std::int64_t n, std::int64_t width, std::int64_t step) {
    kernels::vec_softmax_columns(x, y, n, width, step);
  }
  static void row(const float* x, float* y, float*, std::int64_t n) { rows(x, y, 1, n); }
  static void row(const double* x, double* y, double*, std::int64_t n) {
    kernels::vec_sub(x, kernels::reduce_max(x, n), y, n);
    kernels::vec_exp(y, y, n);
    kernels::vec_div(y, kernels::reduce_sum(y, n), y, n);
  }
};
// Softmax-13 has a function body, each of whose steps gives its result in the element type; ONNX's cases for
// float16 tell whether the powers and their sum were rounded.
template <typename Half>
struct StepwiseSoftmax {
  static void round(float* x, std::int64_t n) {
    constexpr std::int64_t block = 256;
    alignas(64) Half rounded[block];
    for (std::int64_t i = 0; i < n; i += block) {
      const std::int64_t m = std::min(block, n - i);
      kernels::vec_convert(x + i, rounded, m);
      kernels::vec_convert(rounded, x + i, m);
    }
  }
  static void row(const float* x, float* y, float*, std::int64_t n) {
    kernels::vec_sub(x, kernels::reduce_max(x, n), y, n);
    round(y, n);
    kernels::vec_exp(y, y, n);
    round(y, n);
    auto sum = static_cast<float>(kernels::reduce_sum(y, n));
    round(&sum, 1);
    kernels::vec_div(y, sum, y, n);
  }
};
struct LogSoftmax {
  static void rows(const float* x, float* y, std::int64_t count, std::int64_t n) {
    kernels::vec_log_softmax(x, y, count, n);
  }
  static void columns(const float* x, float* y, std::int64_t n, std::int64_t width, std::int64_t step) {
    kernels::vec_log_softmax_columns(x, y, n, width, step);
  }
  static void row(const float* x, float* y, float*, std::int64_t n) { rows(x, y, 1, n); }
  static void row(const double* x, double* y, double* scratch, std::int64_t n) {
    kernels::vec_sub(x, kernels::reduce_max(x, n), y, n);
    kernels::vec_exp(y, scratch, n);
    kernels::vec_sub(y, std::log(kernels::reduce_sum(scratch, n)), y, n);
  }
};
struct Hardmax {
  // A NaN is larger than nothing, and nothing than a NaN that comes first.
  template <typename T>
  static std::int64_t first_largest(const T* x, std::int64_t n) {
    if (const T most = kernels::reduce_max(x, n); most == most) return std::find(x, x + n, most) - x;
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < n; ++i) {
      if (x[i] > x[best]) best = i;
    }
    return best;
  }
  template <typename T>
  static void row(const T* x, T* y, T*, std::int64_t n) {
    const std::int64_t best = first_largest(x, n);
    std::fill_n(y, n, T{0});
    y[best] = 1;
  }
};

template <typename Function, typename T>
void each_row(const T* x, T* y, T* scratch, std::int64_t count, std::int64_t n) {
  if constexpr (requires { Function::rows(x, y, count, n); }) {
    Function::rows(x, y, count, n);
  } else {
    for (std::int64_t i = 0; i < count; ++i) Function::row(x + i * n, y + i * n, scratch, n);
  }
}

template <typename Function, typename T>
void rows(const T* x, std::int64_t count, std::int64_t n, T* y) {
  kernels::parallel_for(count, 8192 / n + 1, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<T> scratch(static_cast<std::size_t>(n));
    each_row<Function>(x + begin * n, y + begin * n, scratch.data(), end - begin, n);
  });
}

// Calls body(start, width) for strips of neighbouring sets that are not contiguous, [n, width] with rows
// `inner` apart.
template <typename Body>
void for_each_strip(std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t strip, Body&& body) {
  const std::int64_t strips = (inner + strip - 1) / strip;
  const std::int64_t grain = elements_per_piece / (strip * n) + 1;
  kernels::parallel_for(outer * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % strips * strip;
      body(i / strips * n * inner + column, std::min(strip, inner - column));
    }
  });
}

template <typename Function, typename T>
void columns(const T* x, std::int64_t outer, std::int64_t n, std::int64_t inner, T* y) {
  if constexpr (requires { Function::columns(x, y, n, n, inner); }) {
    for_each_strip(outer, n, inner, 256, [&](std::int64_t start, std::int64_t width) {
      Function::columns(x + start, y + start, n, width, inner);
    });
  } else {
    constexpr std::int64_t strip = 16;  // sets that are brought side by side
    for_each_strip(outer, n, inner, strip, [&](std::int64_t start, std::int64_t width) {
      ScratchVector<T> sets(static_cast<std::size_t>((width + 1) * n));
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t j = 0; j < width; ++j) sets[j * n + k] = x[start + k * inner + j];
      }
      each_row<Function>(sets.data(), sets.data(), sets.data() + width * n, width, n);
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t j = 0; j < width; ++j) y[start + k * inner + j] = sets[j * n + k];
      }
    });
  }
}

template <typename Function>
struct RowTypes {
  using type = TypeList<float, double>;
};
template <typename Half>
struct RowTypes<StepwiseSoftmax<Half>> {
  using type = TypeList<float>;
};

template <typename Function>
Tensor apply(const Tensor& x, std::int64_t axis_attribute, bool coerced) {
  if (x.dtype() == DType::float16 || x.dtype() == DType::bfloat16) {
    const Tensor wide = cast_tensor(x, DType::float32);
    const bool stepwise = std::is_same_v<Function, Softmax> && !coerced;
    const Tensor y = !stepwise ? apply<Function>(wide, axis_attribute, coerced)
                     : x.dtype() == DType::float16
                         ? apply<StepwiseSoftmax<Float16>>(wide, axis_attribute, coerced)
                         : apply<StepwiseSoftmax<BFloat16>>(wide, axis_attribute, coerced);
    return cast_tensor(y, x.dtype());
  }
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto axis = static_cast<std::size_t>(normalized_axis(axis_attribute, rank));
  const std::int64_t outer = x.shape().count(0, axis);
  const std::int64_t n = coerced ? x.shape().count(axis, x.rank()) : x.dim(axis);
  const std::int64_t inner = coerced ? 1 : x.shape().count(axis + 1, x.rank());
  Tensor y(x.dtype(), x.shape());
  if (x.size() == 0) return y;
  dispatch(typename RowTypes<Function>::type{}, x.dtype(), [&]<typename T>() {
    if (inner == 1) {
      rows<Function>(x.data<T>(), outer, n, y.mutable_data<T>());
    } else {
      columns<Function>(x.data<T>(), outer, n, inner, y.mutable_data<T>());
    }
  });
  return y;
}

// The row in the type that `precision` computes in, and back.
template <typename C>
void row_in(DType precision, C* x, std::int64_t n) {
  const DType computed = precision == DType::float64 ? DType::float64 : DType::float32;
  if (computed != dtype_of<C>) {
    Tensor other(computed, Shape{n});
    convert_floats(dtype_of<C>, x, computed, other.mutable_raw(), n);
    computed == DType::float64 ? row_in(precision, other.mutable_data<double>(), n)
                               : row_in(precision, other.mutable_data<float>(), n);
    convert_floats(computed, other.raw(), dtype_of<C>, x, n);
  } else if constexpr (std::is_same_v<C, float>) {
    round_floats(precision, x, n);
    if (precision == DType::float16) return StepwiseSoftmax<Float16>::row(x, x, nullptr, n);
    if (precision == DType::bfloat16) return StepwiseSoftmax<BFloat16>::row(x, x, nullptr, n);
    Softmax::row(x, x, nullptr, n);
  } else {
    Softmax::row(x, x, nullptr, n);
  }
}

template <typename Function>
RunFunction prepare_softmax(PrepareContext& node) {
  const bool coerced = node.since_version() < 13;
  const std::int64_t axis = node.int_attribute("axis", coerced ? 1 : -1);
  return
      [axis, coerced](RunContext& run) { run.set_output(0, apply<Function>(run.tensor(0), axis, coerced)); };
}

}  // namespace

Tensor softmax(const Tensor& x, std::int64_t axis) {
  return apply<Softmax>(x, axis, false);
}

void softmax_rows(DType precision, float* x, std::int64_t rows, std::int64_t n) {
  if (precision == DType::float32) return kernels::vec_softmax(x, x, rows, n);
  for (std::int64_t r = 0; r < rows; ++r) row_in(precision, x + r * n, n);
}

void softmax_rows(DType precision, double* x, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r) row_in(precision, x + r * n, n);
}

Tensor log_softmax(const Tensor& x, std::int64_t axis) {
  return apply<LogSoftmax>(x, axis, false);
}

std::vector<OpRow> op_rows_softmax() {
  return {{"", "Softmax", {1, 11, 13}, prepare_softmax<Softmax>},
          {"", "LogSoftmax", {1, 11, 13}, prepare_softmax<LogSoftmax>},
          {"", "Hardmax", {1, 11, 13}, prepare_softmax<Hardmax>}};
}

}  // namespace grurun::engine
