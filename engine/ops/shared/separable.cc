#include "engine/ops/shared/separable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/shared/interpolation.h"
#include "engine/ops/shared/row_sums.h"
#include "tensor/dispatch.h"
#include "tensor/memory/memory.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t operations_per_piece = 16384;

// One axis at a time: [outer, taps->input, inner] -> [outer, taps->output, inner].
struct Pass {
  const AxisTaps* taps;
  std::int64_t outer, inner;
};

// The axes that change something, those that shrink most first, so that nothing in between is larger than
// both input and output. The innermost axis is the dear one: of equal axes it comes last where they shrink
// and first where they grow. tail counts elements behind the last axis.
ScratchVector<Pass> plan_passes(std::span<const AxisTaps> taps, std::int64_t tail) {
  ScratchVector<std::size_t> order(taps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t d) { return taps[d].is_identity(); });
  const auto growth = [&](std::size_t d) {
    return static_cast<double>(taps[d].output) / static_cast<double>(taps[d].input);
  };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (growth(a) != growth(b)) return growth(a) < growth(b);
    return growth(a) < 1 ? a < b : a > b;
  });
  ScratchVector<std::int64_t> dims;
  for (const AxisTaps& axis : taps) dims.push_back(axis.input);
  ScratchVector<Pass> passes;
  for (const std::size_t d : order) {
    const std::span<const std::int64_t> all(dims);
    passes.push_back(
        {&taps[d], checked_product(all.first(d)), checked_mul(checked_product(all.subspan(d + 1)), tail)});
    dims[d] = taps[d].output;
  }
  return passes;
}

Shape output_shape(std::span<const AxisTaps> taps) {
  Shape shape;
  for (const AxisTaps& axis : taps) shape.push_back(axis.output);
  return shape;
}

// Calls body(outer, begin, end) for all outputs of the axis, in pieces that have one place on the outer axes.
template <typename Body>
void for_each_piece(const Pass& pass, std::int64_t operations, Body&& body) {
  const std::int64_t output = pass.taps->output;
  const std::int64_t grain = operations_per_piece / std::max<std::int64_t>(1, operations) + 1;
  kernels::parallel_for(pass.outer * output, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t outer = begin / output; begin < end; ++outer) {
      const std::int64_t piece_end = std::min(end, (outer + 1) * output);
      body(outer, begin - outer * output, piece_end - outer * output);
      begin = piece_end;
    }
  });
}

template <typename C>
void sum_row(const C* x, const C* weights, std::int64_t count, std::int64_t inner, C* __restrict y) {
  if (count == 2) {
    const C a = weights[0], b = weights[1];
    for (std::int64_t i = 0; i < inner; ++i) y[i] = a * x[i] + b * x[i + inner];
    return;
  }
  for (std::int64_t i = 0; i < inner; ++i) y[i] = weights[0] * x[i];
  for (std::int64_t k = 1; k < count; ++k) {
    const C* from = x + k * inner;
    const C weight = weights[k];
    for (std::int64_t i = 0; i < inner; ++i) y[i] += weight * from[i];
  }
}

template <typename C>
void sum_pass(const Pass& pass, const C* x, C* y) {
  const AxisTaps& taps = *pass.taps;
  const ScratchVector<C> weights(taps.weights.begin(), taps.weights.end());
  const RowSums<C> sum_elements(taps, weights);
  const std::int64_t inner = pass.inner;
  const std::int64_t taps_per_output = taps.start.back() / taps.output + 1;
  for_each_piece(pass, inner * taps_per_output,
                 [&](std::int64_t outer, std::int64_t begin, std::int64_t end) {
                   const C* from = x + outer * taps.input * inner;
                   C* to = y + outer * taps.output * inner;
                   if (inner == 1) return sum_elements(from, begin, end, to + begin);
                   for (std::int64_t o = begin; o < end; ++o) {
                     sum_row(from + taps.first[o] * inner, weights.data() + taps.start[o],
                             taps.start[o + 1] - taps.start[o], inner, to + o * inner);
                   }
                 });
}

// Copies along the innermost axis. To twice the length, as most that enlarge go, without looking places up.
template <typename T>
class RowCopy {
 public:
  explicit RowCopy(const AxisTaps& taps) : taps_(taps), doubles_(taps.output == 2 * taps.input) {
    for (std::int64_t o = 0; doubles_ && o < taps.output; ++o) doubles_ = taps.first[o] == o / 2;
  }
  void operator()(const T* x, T* __restrict y) const {
    if (!doubles_) return part(x, 0, taps_.output, y);
    for (std::int64_t i = 0; i < taps_.input; ++i) y[2 * i] = y[2 * i + 1] = x[i];
  }
  void part(const T* x, std::int64_t begin, std::int64_t end, T* __restrict y) const {
    for (std::int64_t o = begin; o < end; ++o) y[o] = x[taps_.first[o]];
  }

 private:
  const AxisTaps& taps_;
  bool doubles_;
};

template <typename T>
void copy_pass(const Pass& pass, const T* x, T* y) {
  const AxisTaps& taps = *pass.taps;
  const std::int64_t inner = pass.inner;
  const RowCopy<T> copy_row(taps);
  for_each_piece(pass, inner, [&](std::int64_t outer, std::int64_t begin, std::int64_t end) {
    const T* from = x + outer * taps.input * inner;
    T* to = y + outer * taps.output * inner;
    if (inner == 1 && end - begin == taps.output) {
      copy_row(from, to);
    } else if (inner == 1) {
      copy_row.part(from, begin, end, to);
    } else {
      for (std::int64_t o = begin; o < end; ++o)
        std::copy_n(from + taps.first[o] * inner, inner, to + o * inner);
    }
  });
}

// A pass along the innermost axis and one along the axis before it, row by row, without memory between them.
// A row that is taken again is copied from where it was put.
bool are_rows(const Pass& rows, const Pass& inner) {
  return inner.inner == 1 && rows.inner == inner.taps->output && inner.outer == rows.outer * rows.taps->input;
}
template <typename T>
void copy_rows(const Pass& rows, const Pass& inner, const T* x, T* y) {
  const AxisTaps& taps = *rows.taps;
  const std::int64_t length = inner.taps->input, made = inner.taps->output;
  const RowCopy<T> copy_row(*inner.taps);
  for_each_piece(rows, made, [&](std::int64_t outer, std::int64_t begin, std::int64_t end) {
    T* to = y + (outer * taps.output + begin) * made;
    for (std::int64_t o = begin; o < end; ++o, to += made) {
      if (o > begin && taps.first[o] == taps.first[o - 1]) {
        std::copy_n(to - made, made, to);
      } else {
        copy_row(x + (outer * taps.input + taps.first[o]) * length, to);
      }
    }
  });
}

// Memory between two passes, counted as tensors are, for types that no tensor holds too.
template <typename C>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : block_(static_cast<std::size_t>(checked_mul(count, sizeof(C)))),
        data_(static_cast<C*>(block_.data())) {}
  C* data() { return data_; }

 private:
  memory::Block block_;
  C* data_;
};

std::int64_t output_count(const Pass& pass) {
  return checked_mul(checked_mul(pass.outer, pass.taps->output), pass.inner);
}

// All passes from x to y, both of the type that sums are taken in.
template <typename C>
void sum_passes(std::span<const Pass> passes, const C* x, C* y) {
  std::optional<Scratch<C>> between[2];  // what one pass wrote is read by the next
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const bool last = p + 1 == passes.size();
    std::optional<Scratch<C>>& next = between[p % 2];
    if (last) {
      next.reset();
    } else {
      next.emplace(output_count(passes[p]));
    }
    C* to = last ? y : next->data();
    sum_pass(passes[p], x, to);
    x = to;
  }
}

// How far sums may be from what they would be with exact weights. Places of the input, and so weights, are as
// exact as double makes a number of the axis' length. Where elements are too large for halves to be told,
// nothing is gained by more.
template <typename T>
double rounding_error(std::span<const Pass> passes, const T* x, std::int64_t count) {
  double most = static_cast<double>(std::numeric_limits<T>::max());
  if constexpr (sizeof(T) > 2) {
    most = 0;
    for (std::int64_t i = 0; i < count; ++i) most = std::max(most, std::fabs(static_cast<double>(x[i])));
  }
  double lengths = 0;
  for (const Pass& pass : passes) lengths += static_cast<double>(pass.taps->input);
  return std::min(most * lengths * 0x1p-50, 0x1p-10);
}

// Brings sums that are within `error` of a multiple of 1/2 onto it, so that no rounding of weights decides to
// which side a half goes.
template <typename C>
void snap_to_halves(C* sums, std::int64_t n, double error) {
  constexpr std::int64_t block = 512;
  C halves[block];
  for (; n > 0; n -= block, sums += block) {
    const std::int64_t taken = std::min(block, n);
    for (std::int64_t i = 0; i < taken; ++i) halves[i] = 2 * sums[i];
    if constexpr (std::is_same_v<C, double>) {
      kernels::vec_round(halves, halves, taken);
    } else {
      for (std::int64_t i = 0; i < taken; ++i) halves[i] = std::nearbyint(halves[i]);
    }
    for (std::int64_t i = 0; i < taken; ++i) {
      const C half = halves[i] / 2;
      sums[i] = std::fabs(sums[i] - half) <= static_cast<C>(error) ? half : sums[i];
    }
  }
}

template <typename T>
void weigh(std::span<const Pass> passes, const T* x, std::int64_t x_count, T* y, std::int64_t y_count) {
  using C = InterpolationType<T>;
  if constexpr (std::is_same_v<T, C>) {
    sum_passes(passes, x, y);
  } else {
    Scratch<C> wide_x(x_count), wide_y(y_count);
    C* from = wide_x.data();
    kernels::parallel_for(x_count, operations_per_piece, [&](std::int64_t begin, std::int64_t end) {
      if constexpr (requires { kernels::vec_convert(x, from, end); }) {
        kernels::vec_convert(x + begin, from + begin, end - begin);
      } else {
        for (std::int64_t i = begin; i < end; ++i) from[i] = static_cast<C>(x[i]);
      }
    });
    sum_passes<C>(passes, from, wide_y.data());
    C* const sums = wide_y.data();
    double error = 0;
    if constexpr (std::is_integral_v<T>) error = rounding_error(passes, x, x_count);
    kernels::parallel_for(y_count, operations_per_piece, [&](std::int64_t begin, std::int64_t end) {
      if constexpr (requires { kernels::vec_convert(sums, y, end); }) {
        kernels::vec_convert(sums + begin, y + begin, end - begin);
        return;
      }
      if constexpr (std::is_integral_v<T>) snap_to_halves(sums + begin, end - begin, error);
      if constexpr (std::is_same_v<C, double> && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        kernels::vec_round(sums + begin, sums + begin, end - begin);
        for (std::int64_t i = begin; i < end; ++i) y[i] = detail::saturated<T>(sums[i]);
      } else {
        for (std::int64_t i = begin; i < end; ++i) y[i] = rounded_to<T>(sums[i]);
      }
    });
  }
}

// Calls body(first, count) for every run of elements that is outside on one axis.
template <typename Body>
void for_each_outside_run(std::span<const AxisTaps> taps, Body&& body) {
  const Shape shape = output_shape(taps);
  for (std::size_t d = 0; d < taps.size(); ++d) {
    const std::int64_t outer = shape.count(0, d), inner = shape.count(d + 1, shape.rank());
    for (std::int64_t i = 0; i < outer; ++i) {
      for (const std::int64_t o : taps[d].outside) body((i * taps[d].output + o) * inner, inner);
    }
  }
}

}  // namespace

bool AxisTaps::is_identity() const {
  if (input != output || !outside.empty() || weights.size() != first.size()) return false;
  for (std::size_t o = 0; o < first.size(); ++o) {
    if (first[o] != static_cast<std::int64_t>(o) || weights[o] != 1) return false;
  }
  return true;
}

AxisTaps identity_taps(std::int64_t length) {
  AxisTaps taps{length, length, {}, {}, {}, {}};
  taps.first.resize(static_cast<std::size_t>(length));
  taps.start.resize(static_cast<std::size_t>(length) + 1);
  std::iota(taps.first.begin(), taps.first.end(), std::int64_t{0});
  std::iota(taps.start.begin(), taps.start.end(), std::int64_t{0});
  taps.weights.assign(static_cast<std::size_t>(length), 1.0);
  return taps;
}

Tensor weighted_sums(const Tensor& x, std::span<const AxisTaps> taps) {
  if (x.dtype() == DType::string) {
    fail_unsupported("strings cannot be interpolated; of the modes, nearest alone has a meaning for them");
  }
  // A complex number is interpolated as the two reals it is made of.
  const std::int64_t tail = is_complex(x.dtype()) ? 2 : 1;
  const ScratchVector<Pass> passes = plan_passes(taps, tail);
  if (passes.empty()) return x;
  Tensor y(x.dtype(), output_shape(taps));
  if (y.size() == 0) return y;
  const auto weigh_as = [&]<typename T>() {
    weigh(passes, static_cast<const T*>(x.raw()), x.size() * tail, static_cast<T*>(y.mutable_raw()),
          y.size() * tail);
  };
  if (x.dtype() == DType::complex64) {
    weigh_as.operator()<float>();
  } else if (x.dtype() == DType::complex128) {
    weigh_as.operator()<double>();
  } else {
    dispatch(Join<Numbers, TypeList<bool>>{}, x.dtype(), weigh_as);
  }
  return y;
}

Tensor taken_elements(const Tensor& x, std::span<const AxisTaps> taps) {
  const ScratchVector<Pass> passes = plan_passes(taps, 1);
  if (passes.empty()) return x;
  const Shape shape = output_shape(taps);
  if (shape.element_count() == 0) return {x.dtype(), shape};
  Tensor from = x;
  dispatch_width(x.dtype(), [&]<typename T>() {
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const bool two = p + 1 < passes.size() && are_rows(passes[p + 1], passes[p]);
      Tensor to(x.dtype(), Shape{output_count(passes[p + two])});
      const T* const elements = static_cast<const T*>(from.raw());
      if (two) {
        copy_rows(passes[p + 1], passes[p], elements, static_cast<T*>(to.mutable_raw()));
        ++p;
      } else {
        copy_pass(passes[p], elements, static_cast<T*>(to.mutable_raw()));
      }
      from = std::move(to);
    }
  });
  return from.reshaped(shape);
}

void fill_outside(Tensor& y, std::span<const AxisTaps> taps, float value) {
  if (y.size() == 0 || std::ranges::all_of(taps, [](const AxisTaps& axis) { return axis.outside.empty(); })) {
    return;
  }
  if (y.dtype() == DType::string) {
    fail_unsupported("a place outside X takes extrapolation_value, a number, but X holds strings");
  }
  dispatch(Join<Numbers, Complexes, TypeList<bool>>{}, y.dtype(), [&]<typename T>() {
    T* to = y.mutable_data<T>();
    T fill;
    if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
      fill = T(value, 0);
    } else {
      fill = rounded_to<T>(value);
    }
    for_each_outside_run(
        taps, [&](std::int64_t first, std::int64_t count) { std::fill_n(to + first, count, fill); });
  });
}

}  // namespace grurun::engine
