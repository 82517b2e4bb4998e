// Softmax:    y = e^x / sum(e^x)            over the elements of a set
// LogSoftmax: y = x - log(sum(e^x))
// Hardmax:    y = 1 for the first largest x, 0 for the others; a NaN counts as the largest, as for ArgMax
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
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/float_pieces.h"
#include "engine/ops/shared/float_rows.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

// Each on rows of n contiguous elements; y may be x. scratch holds n elements. For floats some also take many
// rows at once, or columns [n, width] of rows that are `step` apart.
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
  static void rows(const float* x, float* y, std::int64_t count, std::int64_t n) {
    kernels::vec_softmax_in_steps<Half>(x, y, count, n);
  }
  static void columns(const float* x, float* y, std::int64_t n, std::int64_t width, std::int64_t step) {
    kernels::vec_softmax_columns_in_steps<Half>(x, y, n, width, step);
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
  // The first NaN counts as the largest, as it does for ArgMax.
  template <typename T>
  static std::int64_t first_largest(const T* x, std::int64_t n) {
    const T most = kernels::reduce_max(x, n);
    if (most != most) return std::find_if(x, x + n, [](T value) { return value != value; }) - x;
    return std::find(x, x + n, most) - x;
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

// 16-bit floats are converted some rows at a time.
template <typename Function, typename T>
void rows(const T* x, std::int64_t count, std::int64_t n, T* y) {
  const std::int64_t together = sizeof(T) == 2 ? 4096 / n + 1 : count;
  kernels::parallel_for(count, 8192 / n + 1, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<ComputeType<T>> scratch(static_cast<std::size_t>(n));
    PieceReader<T> reader(x);
    PieceWriter<T> writer(y);
    for (std::int64_t row = begin; row < end; row += together) {
      const std::int64_t taken = std::min(together, end - row);
      const auto* from = reader.read(row * n, taken * n);
      each_row<Function>(from, writer.begin(row * n, taken * n), scratch.data(), taken, n);
      writer.end();
    }
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

// A strip [n, width] of 16-bit floats, and the columns in it.
template <typename Function, typename T>
void convert_columns(const T* x, std::int64_t n, std::int64_t width, std::int64_t step, T* y) {
  ScratchVector<float> wide(static_cast<std::size_t>(n * width));
  for (std::int64_t k = 0; k < n; ++k) kernels::vec_convert(x + k * step, wide.data() + k * width, width);
  Function::columns(wide.data(), wide.data(), n, width, width);
  for (std::int64_t k = 0; k < n; ++k) kernels::vec_convert(wide.data() + k * width, y + k * step, width);
}

template <typename Function, typename T>
void columns(const T* x, std::int64_t outer, std::int64_t n, std::int64_t inner, T* y) {
  if constexpr (sizeof(T) == 2 && requires(float* wide) { Function::columns(wide, wide, n, n, inner); }) {
    const std::int64_t strip = std::clamp<std::int64_t>(8192 / n, 32, 256);
    for_each_strip(outer, n, inner, strip, [&](std::int64_t start, std::int64_t width) {
      convert_columns<Function>(x + start, n, width, inner, y + start);
    });
  } else if constexpr (requires { Function::columns(x, y, n, n, inner); }) {
    for_each_strip(outer, n, inner, 256, [&](std::int64_t start, std::int64_t width) {
      Function::columns(x + start, y + start, n, width, inner);
    });
  } else {
    constexpr std::int64_t strip = sizeof(T) == 2 ? 64 : 16;  // sets that are brought side by side
    for_each_strip(outer, n, inner, strip, [&](std::int64_t start, std::int64_t width) {
      ScratchVector<ComputeType<T>> sets(static_cast<std::size_t>((width + 1) * n));
      PieceReader<T> reader(x);
      PieceWriter<T> writer(y);
      for (std::int64_t k = 0; k < n; ++k) {
        const auto* from = reader.read(start + k * inner, width);
        for (std::int64_t j = 0; j < width; ++j) sets[j * n + k] = from[j];
      }
      each_row<Function>(sets.data(), sets.data(), sets.data() + width * n, width, n);
      for (std::int64_t k = 0; k < n; ++k) {
        auto* to = writer.begin(start + k * inner, width);
        for (std::int64_t j = 0; j < width; ++j) to[j] = sets[j * n + k];
        writer.end();
      }
    });
  }
}

template <typename Function>
Tensor apply(const Tensor& x, std::int64_t axis_attribute, bool coerced) {
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto axis = static_cast<std::size_t>(normalized_axis(axis_attribute, rank));
  const std::int64_t outer = x.shape().count(0, axis);
  const std::int64_t n = coerced ? x.shape().count(axis, x.rank()) : x.dim(axis);
  const std::int64_t inner = coerced ? 1 : x.shape().count(axis + 1, x.rank());
  Tensor y(x.dtype(), x.shape());
  if (x.size() == 0) return y;
  dispatch(Floats{}, x.dtype(), [&]<typename T>() {
    const auto all = [&]<typename Of>() {
      if (inner == 1) {
        rows<Of>(x.data<T>(), outer, n, y.mutable_data<T>());
      } else {
        columns<Of>(x.data<T>(), outer, n, inner, y.mutable_data<T>());
      }
    };
    if constexpr (sizeof(T) == 2 && std::is_same_v<Function, Softmax>) {
      if (!coerced) return all.template operator()<StepwiseSoftmax<T>>();
    }
    all.template operator()<Function>();
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
    if (precision == DType::float16) return StepwiseSoftmax<Float16>::rows(x, x, 1, n);
    if (precision == DType::bfloat16) return StepwiseSoftmax<BFloat16>::rows(x, x, 1, n);
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
