#include "engine/ops/nn/convolution.h"

#include <algorithm>

#include "engine/kernels/gemm.h"
#include "engine/kernels/gemm_generic.h"
#include "engine/kernels/gemm_tile.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/nn/convolution_rows.h"
#include "engine/ops/wrapping.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

// Elements of input rows that a task keeps in cache, and those that one product reads while it stays in the
// first level.
constexpr std::int64_t block_elements = 64 * 1024;
constexpr std::int64_t panel_elements = 6 * 1024;

// Mixed-radix digits of number, the last axis fastest.
void digits(std::int64_t number, const std::vector<WindowAxis>& axes, std::int64_t WindowAxis::*radix,
            std::size_t count, std::int64_t* out) {
  for (std::size_t d = count; d-- > 0;) {
    out[d] = number % (axes[d].*radix);
    number /= axes[d].*radix;
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
void add_bias(T* y, std::int64_t rows, std::int64_t columns, const T* bias) {
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t i = 0; i < columns; ++i) y[m * columns + i] += bias[m];
  }
}

// C [rows, columns] = (C or bias) + A * B, row k of B beginning at B + offset[k].
template <typename T>
void multiply_rows(const kernels::GatheredProduct<T>& p) {
  if constexpr (std::is_floating_point_v<T>) {
    kernels::multiply_gathered(p);
  } else {
    for (std::int64_t m = 0; m < p.rows; ++m) {
      T* c = p.C + m * p.ldc;
      if (!p.epilogue.from_c) std::fill_n(c, p.columns, p.epilogue.row_bias ? p.epilogue.row_bias[m] : T(0));
      for (std::int64_t k = 0; k < p.K; ++k) {
        const T a = p.A[m * p.lda + k];
        const T* b = p.B + p.offset[k];
        for (std::int64_t i = 0; i < p.columns; ++i) c[i] = wrapping_add(c[i], wrapping_mul(a, b[i]));
      }
    }
  }
}

// One output row of one group: y [filters, places of the row], rows ldc apart.
template <typename T>
void convolve_row(const ConvShape& shape, const T* rows, const std::int64_t* offsets, const T* w,
                  const T* bias, T* y, std::int64_t ldc) {
  const std::int64_t filters = shape.filters / shape.group, channels = shape.channels / shape.group;
  const std::int64_t kernel_size = shape.kernel_size(), depth = channels * kernel_size;
  const std::int64_t width = shape.axes.back().output;
  const std::int64_t vectors = (width + kernels::kVectorColumns<T> - 1) / kernels::kVectorColumns<T>;
  const std::int64_t panels = (vectors + 2) / 3;  // a panel is three vectors
  const std::int64_t outer_taps = kernel_size / shape.axes.back().kernel;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, panel_elements / (outer_taps * kernels::kPanelColumns<T>)) * kernel_size;
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t begin = panel * vectors / panels * kernels::kVectorColumns<T>;
    const std::int64_t end = std::min(width, (panel + 1) * vectors / panels * kernels::kVectorColumns<T>);
    for (std::int64_t k = 0; k < depth; k += at_once) {
      kernels::Epilogue<T> epilogue;
      epilogue.row_bias = k == 0 ? bias : nullptr;
      epilogue.from_c = k > 0;
      multiply_rows<T>({filters, end - begin, std::min(at_once, depth - k), w + k, depth, rows + begin,
                        offsets + k, y + begin, ldc, epilogue});
    }
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
      const auto [first, end] = inner.places_of(tap[outer]);
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
  if (is_pointwise(shape)) {
    kernels::parallel_for(shape.batch * shape.group, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        const std::int64_t g = plane % shape.group;
        T* to = y + plane * filters * output_size;
        multiply(filters, output_size, depth, w + g * filters * depth, x + plane * channels * input_size,
                 input_size, to, output_size);
        if (bias) add_bias(to, filters, output_size, bias + g * filters);
      }
    });
    return;
  }
  const RowLayout layout = row_layout(shape.axes.back(), kernels::kVectorColumns<T>);
  const std::int64_t width = shape.axes.back().output;
  const std::int64_t rows = output_size / width;
  std::int64_t at_once =
      std::min(rows, BlockRows<T>(shape.axes, layout, channels).rows_within(block_elements));
  while (at_once > 1 && shape.batch * shape.group * (rows / at_once) < 2 * kernels::threads())
    at_once = (at_once + 1) / 2;
  const std::int64_t blocks = (rows + at_once - 1) / at_once;
  kernels::parallel_for(shape.batch * shape.group * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    BlockRows<T> block(shape.axes, layout, channels);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t plane = task / blocks;  // n * group + g
      const std::int64_t row = task % blocks * at_once, count = std::min(at_once, rows - row);
      const std::int64_t g = plane % shape.group;
      block.load(x + plane * channels * input_size, row, count);
      for (std::int64_t r = 0; r < count; ++r) {
        convolve_row(shape, block.data(), block.offsets(r), w + g * filters * depth,
                     bias ? bias + g * filters : nullptr,
                     y + plane * filters * output_size + (row + r) * width, output_size);
      }
    }
  });
}

template void convolve(const ConvShape&, const float*, const float*, const float*, float*);
template void convolve(const ConvShape&, const double*, const double*, const double*, double*);
template void convolve(const ConvShape&, const std::int32_t*, const std::int32_t*, const std::int32_t*,
                       std::int32_t*);

}  // namespace grurun::engine
