// ConvTranspose (ai.onnx 1, 11, 22).
//
//   Y[n, m, i * stride - pad_begin + k * dilation] += X[n, c, i] * W[c, m, k]     for all c of m's group, i,
//   k; then + B[m]
//
// X [N, C, D1...Dn], W [C, M/group, k1...kn], B [M] (optional), Y [N, M, O1...On] with
//   O = stride * (D - 1) + output_padding + (k - 1) * dilation + 1 - pad_begin - pad_end
// output_shape states O instead, auto_pad SAME_* makes it D * stride; the pads then follow, and may be
// negative, the odd one at the end for SAME_UPPER and at the begin otherwise (version 1's text has it the
// other way round). 16-bit floats are computed in float.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/float_compute.h"
#include "engine/ops/window.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t task_additions = 1 << 15;  // that are worth a thread's while

struct TransposeAttributes {
  WindowAttributes window;
  std::int64_t group;
  std::vector<std::int64_t> output_padding, output_shape;
  bool odd_pad_at_end;
};

// input and output are those of the transposed operator: place i of the input reaches i * stride - pad_begin
// + k * dilation.
WindowAxes transposed_axes(const TransposeAttributes& attributes, const Shape& x, const Shape& w) {
  const WindowAttributes& window = attributes.window;
  const std::size_t rank = x.rank() - 2;
  for (const auto* list : {&window.strides, &window.dilations, &attributes.output_padding}) {
    if (!list->empty() && list->size() != rank)
      fail_invalid("strides, dilations and output_padding need {} entries", rank);
  }
  if (!window.pads.empty() && window.pads.size() != 2 * rank) fail_invalid("pads needs {} entries", 2 * rank);
  // Some exporters put N and C before the spatial sizes.
  ScratchVector<std::int64_t> stated(attributes.output_shape.begin(), attributes.output_shape.end());
  if (stated.size() == rank + 2) stated.erase(stated.begin(), stated.begin() + 2);
  if (!stated.empty() && stated.size() != rank) fail_invalid("output_shape needs {} entries", rank);
  WindowAxes axes(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    WindowAxis& axis = axes[d];
    axis.input = x[d + 2];
    axis.kernel = w[d + 2];
    axis.stride = entry_or(window.strides, d, 1);
    axis.dilation = entry_or(window.dilations, d, 1);
    const std::int64_t full =
        checked_add(checked_mul(axis.stride, std::max<std::int64_t>(axis.input, 1) - 1),
                    entry_or(attributes.output_padding, d, 0) + (axis.kernel - 1) * axis.dilation + 1);
    const bool same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
    if (same || !stated.empty()) {
      axis.output = stated.empty() ? checked_mul(axis.input, axis.stride) : stated[d];
      // Below 0 where the output is longer than what the input reaches: the rest, at both ends, stays at the
      // bias. The odd one is then at the end, as in the official cases of output_shape.
      const std::int64_t total = full - axis.output;
      axis.pad_begin = attributes.odd_pad_at_end || total < 0 ? total / 2 : total - total / 2;
      axis.pad_end = total - axis.pad_begin;
    } else {
      axis.pad_begin = entry_or(window.pads, d, 0);
      axis.pad_end = entry_or(window.pads, d + rank, 0);
      axis.output = full - axis.pad_begin - axis.pad_end;
    }
    if (axis.output < 0) fail_invalid("pads remove more than spatial axis {} holds", d);
  }
  return axes;
}

std::int64_t product(const WindowAxes& axes, std::int64_t WindowAxis::*size) {
  std::int64_t out = 1;
  for (const WindowAxis& axis : axes) out = checked_mul(out, axis.*size);
  return out;
}

// Adds the products of one tap to a plane of Y: from [D1...Dn].
template <typename C>
void add_tap(const WindowAxes& axes, std::span<const std::int64_t> tap, std::size_t d, const C* from, C* to) {
  const WindowAxis& axis = axes[d];
  std::int64_t inner_from = 1, inner_to = 1;
  for (std::size_t i = d + 1; i < axes.size(); ++i) {
    inner_from *= axes[i].input;
    inner_to *= axes[i].output;
  }
  const std::int64_t stride = axis.stride, offset = tap[d] * axis.dilation - axis.pad_begin;
  const auto places_before = [&](std::int64_t o) {  // of the input, that reach less than output place o
    return std::clamp<std::int64_t>((o - offset + stride - 1) / stride, 0, axis.input);
  };
  const std::int64_t begin = offset >= 0 ? 0 : places_before(0);
  const std::int64_t end = offset >= axis.output ? 0 : places_before(axis.output);
  if (d + 1 < axes.size()) {
    for (std::int64_t i = begin; i < end; ++i)
      add_tap(axes, tap, d + 1, from + i * inner_from, to + (i * stride + offset) * inner_to);
  } else if (stride == 1) {
    for (std::int64_t i = begin; i < end; ++i) to[i + offset] += from[i];
  } else {
    for (std::int64_t i = begin; i < end; ++i) to[i * stride + offset] += from[i];
  }
}

// A plane of Y, `outputs` elements: the bias and the products of every tap, [taps, inputs].
template <typename C>
void add_taps(const WindowAxes& axes, std::int64_t taps, const C* products, std::int64_t inputs, C bias,
              C* to, std::int64_t outputs) {
  std::fill_n(to, outputs, bias);
  if (outputs == 0) return;
  ScratchVector<std::int64_t> tap(axes.size(), 0);
  for (std::int64_t k = 0; k < taps; ++k) {
    add_tap(axes, tap, 0, products + k * inputs, to);
    for (std::size_t d = axes.size(); d-- > 0;) {
      if (++tap[d] < axes[d].kernel) break;
      tap[d] = 0;
    }
  }
}

template <typename C>
Tensor transposed(const Tensor& x, const Tensor& w, const Tensor* b, const WindowAxes& axes,
                  std::int64_t group) {
  const std::int64_t channels = x.dim(1) / group, filters = w.dim(1);
  const std::int64_t inputs = product(axes, &WindowAxis::input), outputs = product(axes, &WindowAxis::output);
  const std::int64_t taps = product(axes, &WindowAxis::kernel);
  Shape shape{x.dim(0), filters * group};
  for (const WindowAxis& axis : axes) shape.push_back(axis.output);
  Tensor y(dtype_of<C>, shape);
  Tensor products(dtype_of<C>, Shape{filters * taps, inputs});
  const C* bias = b ? b->data<C>() : nullptr;
  C* out = y.mutable_data<C>();
  C* columns = products.mutable_data<C>();
  for (std::int64_t plane = 0; plane < x.dim(0) * group; ++plane) {
    const std::int64_t g = plane % group;
    kernels::gemm<C>(filters * taps, inputs, channels, C(1),
                     {w.data<C>() + g * channels * filters * taps, filters * taps, true},
                     {x.data<C>() + plane * channels * inputs, inputs}, C(0), columns, inputs);
    kernels::parallel_for(filters, task_additions / (taps * inputs + 1) + 1,
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t m = begin; m < end; ++m) {
                              add_taps(axes, taps, columns + m * taps * inputs, inputs,
                                       bias != nullptr ? bias[g * filters + m] : C(0),
                                       out + (plane * filters + m) * outputs, outputs);
                            }
                          });
  }
  return y;
}

void check_shapes(const Tensor& x, const Tensor& w, const Tensor* b, const TransposeAttributes& attributes) {
  const std::int64_t group = attributes.group;
  if (x.rank() < 3 || w.rank() != x.rank() || group < 1 || x.dim(1) % group != 0 || w.dim(0) != x.dim(1)) {
    fail_invalid("X {} must be [N,C,D1...] and W {} [C,M/group,k1...], with C divisible by group {}",
                 x.shape().to_string(), w.shape().to_string(), group);
  }
  const auto kernel = w.shape().dims().subspan(2);
  if (!attributes.window.kernel_shape.empty() &&
      !std::ranges::equal(attributes.window.kernel_shape, kernel)) {
    fail_invalid("kernel_shape {} is not that of W {}", Shape(attributes.window.kernel_shape).to_string(),
                 w.shape().to_string());
  }
  if (std::ranges::any_of(kernel, [](std::int64_t size) { return size < 1; })) {
    fail_invalid("W {} has an empty kernel", w.shape().to_string());
  }
  if (b && !(b->shape() == Shape{w.dim(1) * group})) {
    fail_invalid("B must have shape [{}], but has {}", w.dim(1) * group, b->shape().to_string());
  }
}

RunFunction prepare_conv_transpose(PrepareContext& node) {
  TransposeAttributes attributes;
  attributes.window = window_attributes(node, {});
  attributes.group = node.int_attribute("group", 1);
  attributes.odd_pad_at_end =
      (attributes.window.auto_pad == AutoPad::same_upper) == (node.since_version() > 1);
  attributes.output_padding = node.ints_attribute("output_padding");
  attributes.output_shape = node.ints_attribute("output_shape");
  require_lengths(attributes.output_padding, 0, "output_padding");
  require_lengths(attributes.output_shape, 0, "output_shape");
  return [attributes](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& w = run.tensor(1);
    const Tensor* b = run.optional_tensor(2);
    check_shapes(x, w, b, attributes);
    const WindowAxes axes = transposed_axes(attributes, x.shape(), w.shape());
    run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                     const Tensor bias = b ? widened<C>(*b) : Tensor();
                     return transposed<C>(widened<C>(x), widened<C>(w), b ? &bias : nullptr, axes,
                                          attributes.group);
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_conv_transpose() {
  return {{"", "ConvTranspose", {1, 11, 22}, prepare_conv_transpose}};
}

}  // namespace grurun::engine
