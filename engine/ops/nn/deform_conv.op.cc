// DeformConv (ai.onnx 19; 22, which adds bfloat16).
//
//   Y[n, m, o...] = B[m] + sum over c, k of W[m, c, k] * mask[n, q, k, o] *
//                   X[n, g * C/group + c] at (o * stride - pad + k * dilation + offset[n, q, k, :, o])
//
// X [N, C, D1...Dr], W [M, C/group, k1...kr], offset [N, offset_group * K * r, O1...Or] with K = k1 * ... *
// kr places of the kernel, B [M] and mask [N, offset_group * K, O1...Or] optional, Y [N, M, O1...Or]; g is
// the group of m, q the offset group of the channel. Between elements X is linear, outside it 0.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/convolution.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/point_sampler.h"

namespace grurun::engine {

namespace {

// Elements of X gathered for one product: they stay in cache.
constexpr std::int64_t patch_elements = 128 * 1024;

struct Deformed {
  ConvShape conv;
  std::int64_t offset_groups;
  std::int64_t input_size, output_size, kernel_size;
};

template <typename C>
struct Operands {
  const C *x, *w, *offset, *bias, *mask;  // bias and mask may be nullptr
};

void digits(std::int64_t number, const WindowAxes& axes, std::int64_t WindowAxis::*radix, std::int64_t* out) {
  for (std::size_t d = axes.size(); d-- > 0;) {
    out[d] = number % (axes[d].*radix);
    number /= axes[d].*radix;
  }
}

// columns[(c * K + k) * count + i] is what place k of the kernel sees of channel c at output place first + i.
template <typename C>
void gather(const Deformed& shape, const Operands<C>& of, std::int64_t n, std::int64_t first,
            std::int64_t count, PointSampler<C>& sampler, C* columns) {
  const WindowAxes& axes = shape.conv.axes;
  const auto r = static_cast<std::int64_t>(axes.size());
  const std::int64_t channels = shape.conv.channels / shape.offset_groups;
  std::vector<std::int64_t> tap(axes.size()), place(axes.size());
  std::vector<C> at(axes.size());
  for (std::int64_t q = 0; q < shape.offset_groups; ++q) {
    const C* x = of.x + (n * shape.conv.channels + q * channels) * shape.input_size;
    for (std::int64_t k = 0; k < shape.kernel_size; ++k) {
      digits(k, axes, &WindowAxis::kernel, tap.data());
      const std::int64_t row = (n * shape.offset_groups + q) * shape.kernel_size + k;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t o = first + i;
        digits(o, axes, &WindowAxis::output, place.data());
        for (std::int64_t d = 0; d < r; ++d) {
          const WindowAxis& axis = axes[static_cast<std::size_t>(d)];
          const std::int64_t on_grid = axis.start(place[static_cast<std::size_t>(d)]) +
                                       tap[static_cast<std::size_t>(d)] * axis.dilation;
          at[static_cast<std::size_t>(d)] =
              static_cast<C>(on_grid) + of.offset[(row * r + d) * shape.output_size + o];
        }
        const std::span<const Tap<C>> taps = sampler.taps(at.data());
        const C scale = of.mask ? of.mask[row * shape.output_size + o] : C(1);
        for (std::int64_t c = 0; c < channels; ++c) {
          C sum = 0;
          for (const Tap<C>& t : taps) sum += t.weight * x[c * shape.input_size + t.offset];
          columns[((q * channels + c) * shape.kernel_size + k) * count + i] = sum * scale;
        }
      }
    }
  }
}

template <typename C>
void multiply(const Deformed& shape, const Operands<C>& of, std::int64_t count, const C* columns, C* y) {
  const ConvShape& conv = shape.conv;
  const std::int64_t filters = conv.filters / conv.group;
  const std::int64_t depth = conv.channels / conv.group * shape.kernel_size;
  for (std::int64_t g = 0; g < conv.group; ++g) {
    C* to = y + g * filters * shape.output_size;
    for (std::int64_t m = 0; of.bias && m < filters; ++m)
      std::fill_n(to + m * shape.output_size, count, of.bias[g * filters + m]);
    kernels::gemm<C>(filters, count, depth, C(1), {of.w + g * filters * depth, depth},
                     {columns + g * depth * count, count}, of.bias ? C(1) : C(0), to, shape.output_size);
  }
}

template <typename C>
void convolve_deformed(const Deformed& shape, const Operands<C>& of, C* y) {
  const ConvShape& conv = shape.conv;
  const std::int64_t depth = checked_mul(conv.channels, shape.kernel_size);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(patch_elements / std::max<std::int64_t>(1, depth), 1, shape.output_size);
  const std::int64_t blocks = (shape.output_size + at_once - 1) / at_once;
  std::vector<std::int64_t> dims;
  for (const WindowAxis& axis : conv.axes) dims.push_back(axis.input);
  kernels::parallel_for(conv.batch * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    PointSampler<C> sampler(dims, SampleMode::linear, Padding::zeros, true);
    Tensor columns(dtype_of<C>, Shape{depth, at_once});
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t n = task / blocks, first = task % blocks * at_once;
      const std::int64_t count = std::min(at_once, shape.output_size - first);
      gather(shape, of, n, first, count, sampler, columns.template mutable_data<C>());
      multiply(shape, of, count, columns.template data<C>(),
               y + n * conv.filters * shape.output_size + first);
    }
  });
}

void require_shape(const Tensor& tensor, Shape wanted, const Shape& y) {
  for (std::size_t d = 2; d < y.rank(); ++d) wanted.push_back(y[d]);
  if (!(tensor.shape() == wanted)) refuse();
}

Deformed read_shapes(RunContext& run, const WindowAttributes& window, std::int64_t group,
                     std::int64_t offset_groups) {
  const Tensor& x = run.tensor(0);
  Deformed shape{conv_shape(x.shape(), run.tensor(1).shape(), group, window), offset_groups, 0, 0, 0};
  if (offset_groups < 1 || shape.conv.channels % offset_groups != 0) refuse();
  shape.input_size = shape.conv.input_size();
  shape.output_size = shape.conv.output_size();
  shape.kernel_size = shape.conv.kernel_size();
  const Shape y = shape.conv.output_shape();
  const std::int64_t rows = checked_mul(offset_groups, shape.kernel_size);
  const auto r = static_cast<std::int64_t>(shape.conv.axes.size());
  require_shape(run.tensor(2), {x.dim(0), checked_mul(rows, r)}, y);
  if (const Tensor* b = run.optional_tensor(3); b && !(b->shape() == Shape{shape.conv.filters})) refuse();
  if (const Tensor* mask = run.optional_tensor(4)) require_shape(*mask, {x.dim(0), rows}, y);
  return shape;
}

RunFunction prepare_deform_conv(PrepareContext& node) {
  const WindowAttributes window = window_attributes(node, {.auto_pad = false});
  const std::int64_t group = node.int_attribute("group", 1);
  const std::int64_t offset_groups = node.int_attribute("offset_group", 1);
  return [=](RunContext& run) {
    const Deformed shape = read_shapes(run, window, group, offset_groups);
    run.set_output(0, compute_in_float(run.tensor(0).dtype(), [&]<typename C>() {
                     const auto wide = [&](std::size_t index) {
                       const Tensor* tensor = run.optional_tensor(index);
                       return tensor ? widened<C>(*tensor) : Tensor();
                     };
                     const Tensor x = wide(0), w = wide(1), offset = wide(2), bias = wide(3), mask = wide(4);
                     Tensor y(dtype_of<C>, shape.conv.output_shape());
                     if (y.size() == 0) return y;
                     const Operands<C> of{x.template data<C>(), w.template data<C>(),
                                          offset.template data<C>(),
                                          bias.defined() ? bias.template data<C>() : nullptr,
                                          mask.defined() ? mask.template data<C>() : nullptr};
                     convolve_deformed(shape, of, y.template mutable_data<C>());
                     return y;
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_deform_conv() {
  return {{"", "DeformConv", {19, 22}, prepare_deform_conv}};
}

}  // namespace grurun::engine
