#include "engine/ops/nn/convolution.h"

#include <algorithm>

#include "engine/kernels/gemm_tile.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/nn/convolution_planes.h"
#include "engine/ops/nn/convolution_rows.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

// Elements of input rows or planes that a task keeps in cache, and those that one product reads while they
// stay in the first level.
constexpr std::int64_t block_elements = 64 * 1024;
constexpr std::int64_t plane_elements = 128 * 1024;
constexpr std::int64_t panel_elements = 6 * 1024;
constexpr std::int64_t task_operations = 1 << 18;
constexpr std::int64_t sum_elements = 64 * 1024;  // that stay in cache while products are added to them
constexpr std::int64_t filters_at_least = 64;
// Up to so many places, of so many products at least, each sum is a product of two rows.
constexpr std::int64_t most_dots = 8, dots_depth = 32;
constexpr std::int64_t depth_at_once = 144;  // rows of a packed panel

std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Calls body(begin, end) for panels that cover [0, columns), of about the same number of vectors.
template <typename T, typename Body>
void for_each_panel(std::int64_t columns, const Body& body) {
  const std::int64_t vectors = (columns + kernels::kVectorColumns<T> - 1) / kernels::kVectorColumns<T>;
  const std::int64_t panels = (vectors + 2) / 3;  // a panel is three vectors
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    const std::int64_t begin = panel * vectors / panels * kernels::kVectorColumns<T>;
    body(begin, std::min(columns, (panel + 1) * vectors / panels * kernels::kVectorColumns<T>));
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
      std::max<std::int64_t>(1, panel_elements / (outer_taps * kernels::kPanelColumns<T>)) *
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

// Some filters over the rows of a loaded block.
template <typename T>
struct PlaneProduct {
  const ConvShape& shape;
  const PlaneLayout& layout;
  std::int64_t filters;
  const T* w;
  const T* bias;
  const RowTail<T>& tail;

  // y: the first of `count` rows of the first filter.
  void run(const PlaneBlock<T>& block, std::int64_t count, T* y, Tensor& workspace) const {
    const std::int64_t width = layout.column_axis.output, pitch = layout.pitch;
    const std::int64_t columns = (count - 1) * pitch + width, output_size = shape.output_size();
    if (pitch == width || count == 1) {
      multiply(block, columns, y, output_size);
      for (std::int64_t m = 0; tail && m < filters; ++m) tail(y + m * output_size, columns);
      return;
    }
    const std::int64_t ld = round_up(columns, kernels::kVectorColumns<T>);
    if (workspace.size() < filters * ld) workspace = Tensor(dtype_of<T>, Shape{filters * ld});
    T* sums = workspace.template mutable_data<T>();
    multiply(block, ld, sums, ld);
    for (std::int64_t m = 0; m < filters; ++m) {
      T* from = sums + m * ld;
      if (tail) tail(from, columns);
      for (std::int64_t r = 0; r < count; ++r)
        copy_run(from + r * pitch, width, y + m * output_size + r * width);
    }
  }

  // A panel is copied together before it is multiplied: sums of aligned, adjacent rows run at full speed.
  void multiply(const PlaneBlock<T>& block, std::int64_t columns, T* c, std::int64_t ldc) const {
    const std::int64_t depth = shape.channels / shape.group * shape.kernel_size();
    alignas(64) T packed[depth_at_once * kernels::kPanelColumns<T>];
    const std::int64_t parts = (depth + depth_at_once - 1) / depth_at_once;
    const std::int64_t at_once = parts > 1 ? (depth + parts - 1) / parts : depth_at_once;
    // Sums that several parts of the depth add to stay in cache.
    const std::int64_t most =
        parts > 1 ? round_up(std::max(filters_at_least, sum_elements / columns), 8) : filters;
    for (std::int64_t m = 0; m < filters; m += most)
      multiply(block, columns, m, std::min(filters, m + most), at_once, packed, c, ldc);
  }

  void multiply(const PlaneBlock<T>& block, std::int64_t columns, std::int64_t first, std::int64_t end_filter,
                std::int64_t at_once, T* packed, T* c, std::int64_t ldc) const {
    const std::int64_t depth = shape.channels / shape.group * shape.kernel_size();
    for (std::int64_t k = 0; k < depth || k == 0; k += at_once) {
      const std::int64_t rows = std::min(at_once, depth - k);
      kernels::Epilogue<T> epilogue;
      epilogue.row_bias = k == 0 && bias != nullptr ? bias + first : nullptr;
      epilogue.from_c = k > 0;
      for_each_panel<T>(columns, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t width = round_up(end - begin, kernels::kVectorColumns<T>);
        kernels::gather_panel(block.data() + begin, block.offsets() + k, rows, end - begin, packed);
        kernels::multiply_panel(kernels::PanelProduct<T>{end_filter - first, end - begin, rows,
                                                         w + first * depth + k, depth, packed, width,
                                                         c + first * ldc + begin, ldc, epilogue});
      });
    }
  }
};

template <typename T>
void convolve_planes(const ConvShape& shape, const PlaneLayout& layout, const T* x, const T* w, const T* bias,
                     T* y, const RowTail<T>& tail) {
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  const std::int64_t depth = channels * shape.kernel_size(), output_size = shape.output_size();
  const std::int64_t rows = layout.row_axis.output, width = layout.column_axis.output;
  const std::int64_t planes = shape.batch * shape.group;
  const std::int64_t most = PlaneBlock<T>(layout, channels).rows_within(plane_elements);
  const std::int64_t blocks = (rows + most - 1) / most, at_once = (rows + blocks - 1) / blocks;
  // Filters are shared out where there are too few blocks: each thread then loads a block for itself.
  const std::int64_t wanted = kernels::threads() > 1 ? 4 * kernels::threads() : 1;
  const std::int64_t parts = std::clamp<std::int64_t>(wanted / (planes * blocks), 1, (filters + 31) / 32);
  const std::int64_t operations = 2 * filters / parts * depth * at_once * width + 1;
  kernels::parallel_for(
      planes * blocks * parts, task_operations / operations + 1, [&](std::int64_t begin, std::int64_t end) {
        PlaneBlock<T> block(layout, channels);
        Tensor workspace;
        std::int64_t loaded = -1;
        for (std::int64_t task = begin; task < end; ++task) {
          const std::int64_t place = task / parts, part = task % parts;
          const std::int64_t plane = place / blocks;  // n * group + g
          const std::int64_t row = place % blocks * at_once, count = std::min(at_once, rows - row);
          if (count <= 0) continue;
          if (place != loaded)
            block.load(x + plane * channels * layout.row_axis.input * layout.column_axis.input, row, count);
          loaded = place;
          const std::int64_t first = part * filters / parts, last = (part + 1) * filters / parts;
          const std::int64_t m = plane % shape.group * filters + first;
          PlaneProduct<T>{shape, layout, last - first, w + m * depth, bias ? bias + m : nullptr, tail}.run(
              block, count, y + (plane * filters + first) * output_size + row * width, workspace);
        }
      });
}

template <typename T>
void convolve_rows(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y) {
  const std::int64_t channels = shape.channels / shape.group, filters = shape.filters / shape.group;
  const std::int64_t depth = channels * shape.kernel_size();
  const std::int64_t input_size = shape.input_size(), output_size = shape.output_size();
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

// patches [output places, depth]: what each place of X [channels, D1...Dn] reads, 0 outside.
template <typename T>
void load_patches(const ConvShape& shape, const T* x, T* patches) {
  const std::vector<WindowAxis>& axes = shape.axes;
  const std::int64_t channels = shape.channels / shape.group, kernel_size = shape.kernel_size();
  const std::int64_t depth = channels * kernel_size, input_size = shape.input_size();
  std::vector<std::int64_t> from(static_cast<std::size_t>(kernel_size));  // of each tap; -1: outside
  for (std::int64_t o = 0; o < shape.output_size(); ++o) {
    for (std::int64_t k = 0; k < kernel_size; ++k) {
      std::int64_t place = o, tap = k, stride = 1, at = 0;
      for (std::size_t d = axes.size(); d-- > 0;) {
        const std::int64_t i =
            axes[d].start(place % axes[d].output) + tap % axes[d].kernel * axes[d].dilation;
        if (i < 0 || i >= axes[d].input || at < 0) {
          at = -1;
        } else {
          at += i * stride;
        }
        place /= axes[d].output;
        tap /= axes[d].kernel;
        stride *= axes[d].input;
      }
      from[static_cast<std::size_t>(k)] = at;
    }
    T* to = patches + o * depth;
    for (std::int64_t c = 0; c < channels; ++c) {
      for (const std::int64_t at : from) *to++ = at < 0 ? T(0) : x[c * input_size + at];
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
          if (tail) tail(c, (end - begin) * output_size);
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
void convolve(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y, const RowTail<T>& tail) {
  const std::int64_t output_size = shape.output_size();
  if (shape.batch == 0 || shape.filters == 0 || output_size == 0) return;
  const std::int64_t depth = shape.channels / shape.group * shape.kernel_size();
  if (output_size <= most_dots && depth >= dots_depth) return convolve_dots(shape, x, w, bias, y, tail);
  if (const auto planes = plane_layout(shape.axes))
    return convolve_planes(shape, *planes, x, w, bias, y, tail);
  convolve_rows(shape, x, w, bias, y);
  if (tail) tail(y, shape.batch * shape.filters * output_size);
}

template void convolve(const ConvShape&, const float*, const float*, const float*, float*,
                       const RowTail<float>&);
template void convolve(const ConvShape&, const double*, const double*, const double*, double*,
                       const RowTail<double>&);

}  // namespace grurun::engine
