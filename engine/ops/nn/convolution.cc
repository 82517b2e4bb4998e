#include "engine/ops/nn/convolution.h"

#include <algorithm>

#include "engine/kernels/gemm.h"
#include "engine/kernels/gemm_generic.h"
#include "engine/kernels/parallel.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

// Output rows (runs along the innermost spatial axis) that are gathered and multiplied together: the patches
// stay in cache.
constexpr std::int64_t patch_elements = 128 * 1024;

// The places of the innermost output axis whose tap k lies inside the input: [first, end).
std::pair<std::int64_t, std::int64_t> inside(const WindowAxis& axis, std::int64_t k) {
  const std::int64_t offset = k * axis.dilation - axis.pad_begin;
  const std::int64_t first = offset >= 0 ? 0 : (-offset + axis.stride - 1) / axis.stride;
  const std::int64_t left = axis.input - offset;
  const std::int64_t end = left <= 0 ? 0 : (left + axis.stride - 1) / axis.stride;
  return {std::min(first, axis.output), std::clamp(end, std::min(first, axis.output), axis.output)};
}

// Mixed-radix digits of number, the last axis fastest.
void digits(std::int64_t number, const std::vector<WindowAxis>& axes, std::int64_t WindowAxis::*radix,
            std::size_t count, std::int64_t* out) {
  for (std::size_t d = count; d-- > 0;) {
    out[d] = number % (axes[d].*radix);
    number /= axes[d].*radix;
  }
}

// Patches of output rows [row, row + rows): columns[(c * kernel_size + k) * rows * width + r * width + o].
template <typename T>
void gather_patches(const ConvShape& shape, const T* x, std::int64_t channels, std::int64_t row,
                    std::int64_t rows, T* columns) {
  const std::vector<WindowAxis>& axes = shape.axes;
  const std::size_t outer = axes.size() - 1;
  const WindowAxis& inner = axes.back();
  const std::int64_t kernel_size = shape.kernel_size();
  const std::int64_t input_size = shape.input_size();
  std::vector<std::int64_t> tap(axes.size()), place(axes.size());
  for (std::int64_t k = 0; k < kernel_size; ++k) {
    digits(k, axes, &WindowAxis::kernel, axes.size(), tap.data());
    const auto [first, end] = inside(inner, tap[outer]);
    for (std::int64_t r = 0; r < rows; ++r) {
      digits(row + r, axes, &WindowAxis::output, outer, place.data());
      bool is_inside = true;
      std::int64_t from = 0;
      for (std::size_t d = 0; d < outer; ++d) {
        const std::int64_t at = axes[d].start(place[d]) + tap[d] * axes[d].dilation;
        is_inside = is_inside && at >= 0 && at < axes[d].input;
        from = from * axes[d].input + at;
      }
      from = from * inner.input + tap[outer] * inner.dilation - inner.pad_begin;
      for (std::int64_t c = 0; c < channels; ++c) {
        T* to = columns + ((c * kernel_size + k) * rows + r) * inner.output;
        if (!is_inside) {
          std::fill_n(to, inner.output, T(0));
          continue;
        }
        const T* source = x + c * input_size + from;
        std::fill_n(to, first, T(0));
        if (inner.stride == 1) {
          std::copy(source + first, source + end, to + first);
        } else {
          for (std::int64_t o = first; o < end; ++o) to[o] = source[o * inner.stride];
        }
        std::fill(to + end, to + inner.output, T(0));
      }
    }
  }
}

template <typename T>
void multiply(std::int64_t M, std::int64_t N, std::int64_t K, const T* a, const T* b, std::int64_t ldb, T* c,
              std::int64_t ldc) {
  if constexpr (std::is_floating_point_v<T>) {
    kernels::gemm<T>(M, N, K, T(1), {a, K}, {b, ldb}, T(0), c, ldc);
  } else {
    kernels::gemm_generic<T, T, T, T>(M, N, K, {a, K}, {b, ldb}, c, ldc);
  }
}

template <typename T>
void add_bias(T* y, std::int64_t rows, std::int64_t columns, std::int64_t ld, const T* bias) {
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t i = 0; i < columns; ++i) y[m * ld + i] += bias[m];
  }
}

// One channel in, one filter out: sums along the innermost axis, no patches.
template <typename T>
void convolve_plane(const ConvShape& shape, const T* x, const T* w, T bias, T* y) {
  const std::vector<WindowAxis>& axes = shape.axes;
  const std::size_t outer = axes.size() - 1;
  const WindowAxis& inner = axes.back();
  const std::int64_t rows = shape.output_size() / inner.output;
  const std::int64_t kernel_size = shape.kernel_size();
  std::vector<std::int64_t> tap(axes.size()), place(axes.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    T* to = y + r * inner.output;
    std::fill_n(to, inner.output, bias);
    digits(r, axes, &WindowAxis::output, outer, place.data());
    for (std::int64_t k = 0; k < kernel_size; ++k) {
      digits(k, axes, &WindowAxis::kernel, axes.size(), tap.data());
      bool is_inside = true;
      std::int64_t from = 0;
      for (std::size_t d = 0; d < outer; ++d) {
        const std::int64_t at = axes[d].start(place[d]) + tap[d] * axes[d].dilation;
        is_inside = is_inside && at >= 0 && at < axes[d].input;
        from = from * axes[d].input + at;
      }
      if (!is_inside) continue;
      const T* source = x + from * inner.input + tap[outer] * inner.dilation - inner.pad_begin;
      const auto [first, end] = inside(inner, tap[outer]);
      const T weight = w[k];
      if (inner.stride == 1) {
        for (std::int64_t o = first; o < end; ++o) to[o] += weight * source[o];
      } else {
        for (std::int64_t o = first; o < end; ++o) to[o] += weight * source[o * inner.stride];
      }
    }
  }
}

bool is_pointwise(const ConvShape& shape) {
  return std::ranges::all_of(shape.axes, [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
  });
}

}  // namespace

std::int64_t ConvShape::input_size() const {
  std::int64_t size = 1;
  for (const WindowAxis& axis : axes) size = checked_mul(size, axis.input);
  return size;
}

std::int64_t ConvShape::output_size() const {
  std::int64_t size = 1;
  for (const WindowAxis& axis : axes) size = checked_mul(size, axis.output);
  return size;
}

std::int64_t ConvShape::kernel_size() const {
  std::int64_t size = 1;
  for (const WindowAxis& axis : axes) size = checked_mul(size, axis.kernel);
  return size;
}

Shape ConvShape::output_shape() const {
  Shape shape{batch, filters};
  for (const WindowAxis& axis : axes) shape.push_back(axis.output);
  return shape;
}

ConvShape conv_shape(const Shape& x, const Shape& w, std::int64_t group, const WindowAttributes& attributes) {
  if (x.rank() < 3 || w.rank() != x.rank()) {
    fail_invalid("X {} and W {} must have one rank of at least 3: [N,C,D1...] and [M,C/group,k1...]",
                 x.to_string(), w.to_string());
  }
  if (group < 1 || x[1] % group != 0 || w[0] % group != 0 || w[1] != x[1] / group) {
    fail_invalid(
        "group {} does not fit X {} and W {}: C and M must divide by it, and W's second dimension be C/group",
        group, x.to_string(), w.to_string());
  }
  const auto kernel = w.dims().subspan(2);
  if (!attributes.kernel_shape.empty() && !std::ranges::equal(attributes.kernel_shape, kernel)) {
    fail_invalid("kernel_shape {} is not that of W {}", Shape(attributes.kernel_shape).to_string(),
                 w.to_string());
  }
  if (std::ranges::any_of(kernel, [](std::int64_t size) { return size < 1; })) {
    fail_invalid("W {} has an empty kernel", w.to_string());
  }
  return {x[0], x[1], w[0], group, window_axes(attributes, x.dims().subspan(2), kernel)};
}

template <typename T>
void convolve(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y) {
  const std::int64_t output_size = shape.output_size();
  if (shape.batch == 0 || shape.filters == 0 || output_size == 0) return;
  const std::int64_t channels = shape.channels / shape.group;
  const std::int64_t filters = shape.filters / shape.group;
  const std::int64_t depth = channels * shape.kernel_size();
  const std::int64_t input_size = shape.input_size();
  if (channels == 1 && filters == 1) {
    kernels::parallel_for(shape.batch * shape.group, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        const std::int64_t g = plane % shape.group;
        convolve_plane(shape, x + plane * input_size, w + g * depth, bias ? bias[g] : T(0),
                       y + plane * output_size);
      }
    });
    return;
  }
  const std::int64_t width = shape.axes.back().output;
  const std::int64_t rows = output_size / width;
  const bool pointwise = is_pointwise(shape);
  const std::int64_t rows_at_once =
      pointwise
          ? rows
          : std::clamp<std::int64_t>(patch_elements / std::max<std::int64_t>(1, depth * width), 1, rows);
  const std::int64_t blocks = (rows + rows_at_once - 1) / rows_at_once;
  kernels::parallel_for(shape.batch * shape.group * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    Tensor patches(dtype_of<T>, Shape{pointwise ? 0 : depth * rows_at_once * width});
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t plane = task / blocks;  // n * group + g
      const std::int64_t row = task % blocks * rows_at_once;
      const std::int64_t count = std::min(rows_at_once, rows - row);
      const std::int64_t g = plane % shape.group;
      const T* from = x + plane * channels * input_size;
      T* to = y + plane * filters * output_size + row * width;
      const T* columns = from;
      if (!pointwise) {
        gather_patches(shape, from, channels, row, count, patches.template mutable_data<T>());
        columns = patches.template data<T>();
      }
      const std::int64_t ld = pointwise ? input_size : count * width;
      multiply(filters, count * width, depth, w + g * filters * depth, columns, ld, to, output_size);
      if (bias) add_bias(to, filters, count * width, output_size, bias + g * filters);
    }
  });
}

template void convolve(const ConvShape&, const float*, const float*, const float*, float*);
template void convolve(const ConvShape&, const double*, const double*, const double*, double*);
template void convolve(const ConvShape&, const std::int32_t*, const std::int32_t*, const std::int32_t*,
                       std::int32_t*);

}  // namespace grurun::engine
