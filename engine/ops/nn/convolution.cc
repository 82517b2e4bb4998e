#include "engine/ops/nn/convolution.h"

#include <algorithm>
#include <optional>

#include "engine/graph/refusal.h"
#include "engine/kernels/gemm/dot_products.h"
#include "engine/kernels/gemm/gemm_tile.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/nn/convolution_planes.h"
#include "engine/ops/nn/convolution_product.h"
#include "engine/ops/nn/convolution_rows.h"
#include "engine/ops/nn/depthwise_convolution.h"
#include "engine/ops/nn/signal_batch.h"

namespace grurun::engine {

namespace {

// Elements of input rows or planes that a task keeps in cache, and those that one product reads while they
// stay in the first level.
constexpr std::int64_t block_elements = 64 * 1024;
constexpr std::int64_t plane_elements = 128 * 1024;
constexpr std::int64_t panel_elements = 6 * 1024;
constexpr std::int64_t task_operations = 1 << 18;
constexpr std::int64_t task_cycles = 10000;
// Up to so many places, of so many products at least, each sum is a product of two rows.
constexpr std::int64_t most_dots = 8, dots_depth = 32;

// Calls body(begin, end) for panels that cover [0, columns), of about the same number of vectors.
template <typename T, typename Body>
void for_each_panel(std::int64_t columns, const Body& body) {
  const std::int64_t vectors = (columns + kernels::columns_of_vector<T> - 1) / kernels::columns_of_vector<T>;
  const std::int64_t panels = (vectors + 2) / 3;  // a panel is three vectors
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t begin = panel * vectors / panels * kernels::columns_of_vector<T>;
    body(begin, std::min(columns, (panel + 1) * vectors / panels * kernels::columns_of_vector<T>));
  }
}

// One output row of one group: y [filters, places of the row], rows ldc apart.
template <typename T>
void convolve_row(const ConvShape& shape, const T* rows, const std::int64_t* offsets, const T* w,
                  const T* bias, T* y, std::int64_t ldc) {
  const std::int64_t filters = shape.filters / shape.group;
  const std::int64_t depth = shape.channels / shape.group * shape.kernel_size();
  const std::int64_t outer_taps = shape.kernel_size() / shape.axes.back().kernel;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, panel_elements / (outer_taps * kernels::columns_of_panel<T>)) *
      shape.kernel_size();
  for_each_panel<T>(shape.axes.back().output, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = 0; k < depth || k == 0; k += at_once) {
      kernels::Epilogue<T> epilogue;
      epilogue.row_bias = k == 0 ? bias : nullptr;
      epilogue.from_c = k > 0;
      kernels::multiply_gathered(
          kernels::GatheredProduct<T>{filters, end - begin, std::min(at_once, depth - k), w + k, depth,
                                      rows + begin, offsets + k, y + begin, ldc, epilogue});
    }
  });
}

// The planes of one image and group after the other: X [channels, D1, D2] -> Y [filters, O1, O2].
template <typename T>
class PlaneConvolution {
 public:
  PlaneConvolution(const ConvShape& shape, const PlaneLayout& layout, const T* x, const T* w, const T* bias,
                   T* y, const RowTail<T>& tail)
      : shape_(shape), layout_(layout), x_(x), w_(w), bias_(bias), y_(y), tail_(tail) {}

  void run() const {
    const PlaneParts parts = choose_parts(work_, kernels::threads());
    kernels::parallel_for(work_.planes * parts.filters * parts.places,
                          task_cycles / time_of(work_, work_.places, filters_) + 1,
                          [&](std::int64_t begin, std::int64_t end) { run(parts, begin, end); });
  }

 private:
  using Range = PlaneParts::Range;

  void run(const PlaneParts& parts, std::int64_t begin, std::int64_t end) const {
    PlaneBlock<T> block(layout_, channels_);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t plane = i / parts.places / parts.filters;  // n * group + g
      const Range filters = parts.filters_of(work_, i / parts.places % parts.filters);
      const Range places = parts.places_of(work_, i % parts.places);
      if (filters.begin < filters.end && places.begin < places.end) run(block, plane, filters, places);
    }
  }

  // Blocks of rows that stay in cache, one after the other.
  void run(PlaneBlock<T>& block, std::int64_t plane, Range filters, Range places) const {
    const std::int64_t width = layout_.column_axis.output, all = places.end - places.begin;
    const std::int64_t most = layout_.is_plain ? all : block.rows_within(plane_elements) * width;
    const std::int64_t blocks = (all + most - 1) / most;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const Range some = PlaneParts::share(all, work_.vector, i, blocks);
      const std::int64_t begin = places.begin + some.begin, end = places.begin + some.end;
      const std::int64_t row = begin / width;
      if (begin == end) continue;
      block.load(x_ + plane * channels_ * layout_.row_axis.input * layout_.column_axis.input, row,
                 (end - 1) / width + 1 - row);
      product(block, plane, row).run(filters.begin, filters.end, begin - row * width, end - row * width);
    }
  }

  PlaneWork work() const {
    const kernels::PanelTile tile = kernels::panel_tile();
    PlaneWork work{.planes = shape_.batch * shape_.group,
                   .places = shape_.output_size(),
                   .width = layout_.column_axis.output,
                   .vector = kernels::columns_of_vector<T>,
                   .filters = filters_,
                   .tile = form_.is_split ? 32 : tile.rows,
                   .tile_cycles = form_.is_split ? 8 : tile.cycles,
                   .depth = depth_,
                   .copied = 0,
                   .copied_beside = 0};
    if (!layout_.is_plain) {
      const auto variants =
          static_cast<std::int64_t>(layout_.rows.first.size() * layout_.columns.first.size());
      work.copied = channels_ * variants * layout_.pitch;
      work.copied_beside = work.copied * (layout_.rows.width - layout_.row_axis.output + 1);
    }
    return work;
  }

  BlockProduct<T> product(const PlaneBlock<T>& block, std::int64_t plane, std::int64_t row) const {
    const std::int64_t output_size = shape_.output_size(), m = plane % shape_.group * filters_;
    return {block,
            m,
            form_,
            depth_,
            w_ + m * depth_,
            bias_ ? bias_ + m : nullptr,
            y_ + plane * filters_ * output_size + row * layout_.column_axis.output,
            output_size,
            tail_};
  }

  const ConvShape& shape_;
  const PlaneLayout& layout_;
  const T *x_, *w_, *bias_;
  T* y_;
  const RowTail<T>& tail_;
  const std::int64_t channels_ = shape_.channels / shape_.group, filters_ = shape_.filters / shape_.group;
  const std::int64_t depth_ = channels_ * shape_.kernel_size();
  const ProductForm form_ = ProductForm::of<T>(filters_, depth_);
  const PlaneWork work_ = work();
};

template <typename T>
void convolve_rows(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y) {
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  const std::int64_t depth = channels * shape.kernel_size();
  const std::int64_t input_size = shape.input_size(), output_size = shape.output_size();
  const RowLayout layout = row_layout(shape.axes.back(), kernels::columns_of_vector<T>);
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

// Where in the input the innermost row begins that tap k (without the innermost axis) of output place o
// (likewise) reads; nowhere, if that is outside.
std::optional<std::int64_t> row_of_tap(const WindowAxes& axes, std::int64_t o, std::int64_t k) {
  std::int64_t at = 0, stride = axes.back().input;
  for (std::size_t d = axes.size() - 1; d-- > 0;) {
    const WindowAxis& axis = axes[d];
    const std::int64_t i = axis.start(o % axis.output) + k % axis.kernel * axis.dilation;
    if (i < 0 || i >= axis.input) return std::nullopt;
    at += i * stride;
    o /= axis.output;
    k /= axis.kernel;
    stride *= axis.input;
  }
  return at;
}

// patches [output places, depth]: what each place of X [channels, D1...Dn] reads, 0 outside.
template <typename T>
void load_patches(const ConvShape& shape, const T* x, T* patches) {
  const WindowAxis& inner = shape.axes.back();
  const std::int64_t channels = shape.channels / shape.group, kernel_size = shape.kernel_size();
  const std::int64_t rows = kernel_size / inner.kernel, input_size = shape.input_size();
  for (std::int64_t o = 0; o < shape.output_size(); ++o, patches += channels * kernel_size) {
    const std::int64_t place = o % inner.output;
    const std::int64_t end = inner.end_tap(place), begin = std::min(inner.first_tap(place), end);
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::optional<std::int64_t> row = row_of_tap(shape.axes, o / inner.output, k);
      for (std::int64_t c = 0; c < channels; ++c) {
        T* to = patches + c * kernel_size + k * inner.kernel;
        if (!row || begin == end) {
          std::fill_n(to, inner.kernel, T(0));
          continue;
        }
        const T* from = x + c * input_size + *row + inner.start(place) + begin * inner.dilation;
        to = std::fill_n(to, begin, T(0));
        for (std::int64_t tap = begin; tap < end; ++tap, from += inner.dilation) *to++ = *from;
        std::fill_n(to, inner.kernel - end, T(0));
      }
    }
  }
}

// Few places: every sum is the product of a filter's row and a patch.
template <typename T>
void convolve_dots(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y,
                   const RowTail<T>& tail) {
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  const std::int64_t depth = channels * shape.kernel_size(), output_size = shape.output_size();
  Tensor patches(dtype_of<T>, Shape{output_size, depth});
  for (std::int64_t plane = 0; plane < shape.batch * shape.group; ++plane) {
    load_patches(shape, x + plane * channels * shape.input_size(), patches.template mutable_data<T>());
    const T* b = patches.template data<T>();
    const std::int64_t first = plane % shape.group * filters;
    kernels::parallel_for(
        filters, task_operations / (2 * depth * output_size) + 1, [&](std::int64_t begin, std::int64_t end) {
          T* c = y + (plane * filters + begin) * output_size;
          for (std::int64_t m = begin; m < end; ++m)
            std::fill_n(y + (plane * filters + m) * output_size, output_size, bias ? bias[first + m] : T(0));
          kernels::multiply_dots(kernels::DotProducts<T>{end - begin, output_size, depth,
                                                         w + (first + begin) * depth, depth, b, depth, c,
                                                         output_size, T(1), T(1)});
          if (tail) tail(c, (end - begin) * output_size, {first + begin, output_size});
        });
  }
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
  if (x.rank() < 3 || w.rank() != x.rank()) refuse();
  if (group < 1 || x[1] % group != 0 || w[0] % group != 0 || w[1] != x[1] / group) refuse();
  const auto kernel = w.dims().subspan(2);
  if (!attributes.kernel_shape.empty() && !std::ranges::equal(attributes.kernel_shape, kernel)) refuse();
  if (std::ranges::any_of(kernel, [](std::int64_t size) { return size < 1; })) refuse();
  return {x[0], x[1], w[0], group, window_axes(attributes, x.dims().subspan(2), kernel)};
}

// Sums without terms: there are no channels, however large the kernel is.
template <typename T>
void fill_with_bias(const ConvShape& shape, const T* bias, T* y, const RowTail<T>& tail) {
  const std::int64_t size = shape.output_size(), planes = shape.batch * shape.filters;
  for (std::int64_t i = 0; i < planes; ++i)
    std::fill_n(y + i * size, size, bias != nullptr ? bias[i % shape.filters] : T(0));
  for (std::int64_t n = 0; tail && n < shape.batch; ++n)
    tail(y + n * shape.filters * size, shape.filters * size, {0, size});
}

/// Kernels as wide as the input move along the axis before the last alone: of the two axes one becomes.
ConvShape without_full_width(ConvShape shape) {
  if (shape.axes.size() < 2) return shape;
  const WindowAxis last = shape.axes.back();
  WindowAxis& axis = shape.axes[shape.axes.size() - 2];
  const bool is_full =
      last.kernel == last.input && last.output == 1 && last.pad_begin == 0 && last.dilation == 1;
  if (!is_full || last.kernel == 1 || (axis.dilation != 1 && axis.kernel != 1)) return shape;
  axis.dilation = 1;
  for (std::int64_t* size : {&axis.input, &axis.kernel, &axis.stride, &axis.pad_begin, &axis.pad_end})
    *size *= last.input;
  shape.axes.pop_back();
  return shape;
}

template <typename T>
void convolve_signals(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y,
                      const RowTail<T>& tail) {
  const std::int64_t batch = shape.batch, input_size = shape.input_size(),
                     of_signal = shape.filters * shape.output_size();
  Tensor together(dtype_of<T>, Shape{shape.channels == 1 ? 0 : shape.channels * batch * input_size}),
      sums(dtype_of<T>, Shape{of_signal * batch});
  if (shape.channels != 1) {
    swap_outer_axes(x, batch, shape.channels, input_size, together.template mutable_data<T>(),
                    [](std::int64_t) {});
    x = together.template data<T>();
  }
  convolve(signals_as_image(shape), x, w, bias, sums.template mutable_data<T>());
  swap_outer_axes(sums.template data<T>(), shape.filters, batch, shape.output_size(), y, [&](std::int64_t n) {
    if (tail) tail(y + n * of_signal, of_signal, {0, shape.output_size()});
  });
}

template <typename T>
void convolve(const ConvShape& given, const T* x, const T* w, const T* bias, T* y, const RowTail<T>& tail) {
  const ConvShape shape = without_full_width(given);
  const std::int64_t output_size = shape.output_size();
  if (shape.batch == 0 || shape.filters == 0 || output_size == 0) return;
  const std::int64_t depth = shape.channels / shape.group * shape.kernel_size();
  if (depth == 0) return fill_with_bias(shape, bias, y, tail);
  if (is_signal_batch<T>(shape)) return convolve_signals(shape, x, w, bias, y, tail);
  if (output_size <= most_dots && depth >= dots_depth) return convolve_dots(shape, x, w, bias, y, tail);
  if (const auto planes = plane_layout(shape.axes)) {
    if (is_depthwise(shape, *planes)) return convolve_depthwise(shape, *planes, x, w, bias, y, tail);
    return PlaneConvolution<T>(shape, *planes, x, w, bias, y, tail).run();
  }
  convolve_rows(shape, x, w, bias, y);
  const std::int64_t of_image = shape.filters * output_size;
  for (std::int64_t n = 0; tail && n < shape.batch; ++n) tail(y + n * of_image, of_image, {0, output_size});
}

template void convolve(const ConvShape&, const float*, const float*, const float*, float*,
                       const RowTail<float>&);
template void convolve(const ConvShape&, const double*, const double*, const double*, double*,
                       const RowTail<double>&);

}  // namespace grurun::engine
