// ConvTranspose (ai.onnx 1, 11, 22).
//
//   Y[n, m, i * stride - pad_begin + k * dilation] += X[n, c, i] * W[c, m, k]     for all c of m's group, i,
//   k; then + B[m]
//
// X [N, C, D1...Dn], W [C, M/group, k1...kn], B [M] (optional), Y [N, M, O1...On] with
//   O = stride * (D - 1) + output_padding + (k - 1) * dilation + 1 - pad_begin - pad_end
// output_shape states O instead, auto_pad SAME_* makes it D * stride; the pads then follow, and may be
// negative, the odd one at the end for SAME_UPPER and at the begin otherwise. With output_shape, version 1's
// equations have it the other way round; its auto_pad has not. 16-bit floats are computed in float.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/nn/convolution_parts.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/window.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t task_additions = 1 << 15;  // that are worth a thread's while

struct TransposeAttributes {
  WindowAttributes window;
  std::int64_t group;
  std::vector<std::int64_t> output_padding, output_shape;
  bool first_version;
};

// input and output are those of the transposed operator: place i of the input reaches i * stride - pad_begin
// + k * dilation.
WindowAxes transposed_axes(const TransposeAttributes& attributes, const Shape& x, const Shape& w) {
  const WindowAttributes& window = attributes.window;
  const std::size_t rank = x.rank() - 2;
  for (const auto* list : {&window.strides, &window.dilations, &attributes.output_padding}) {
    if (!list->empty() && list->size() != rank) refuse();
  }
  if (!window.pads.empty() && window.pads.size() != 2 * rank) refuse();
  // Some exporters put N and C before the spatial sizes, which only version 1 does not forbid.
  ScratchVector<std::int64_t> stated(attributes.output_shape.begin(), attributes.output_shape.end());
  if (attributes.first_version && stated.size() == rank + 2) stated.erase(stated.begin(), stated.begin() + 2);
  if (!stated.empty() && stated.size() != rank) refuse();
  WindowAxes axes(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    WindowAxis& axis = axes[d];
    axis.input = x[d + 2];
    axis.kernel = w[d + 2];
    axis.stride = entry_or(window.strides, d, 1);
    axis.dilation = entry_or(window.dilations, d, 1);
    const std::int64_t full =
        checked_add(checked_mul(axis.stride, axis.input - 1),
                    entry_or(attributes.output_padding, d, 0) + (axis.kernel - 1) * axis.dilation + 1);
    const bool same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
    if (same || !stated.empty()) {
      const bool upper = window.auto_pad == AutoPad::same_upper;
      const bool odd_pad_at_end = attributes.first_version && !stated.empty() ? !upper : upper;
      axis.output = stated.empty() ? checked_mul(axis.input, axis.stride) : stated[d];
      // Below 0 where the output is longer than what the input reaches: the rest, at both ends, stays at the
      // bias. The odd one is then at the end, as in the official cases of output_shape.
      const std::int64_t total = full - axis.output;
      axis.pad_begin = odd_pad_at_end || total < 0 ? total / 2 : total - total / 2;
      axis.pad_end = total - axis.pad_begin;
    } else {
      axis.pad_begin = entry_or(window.pads, d, 0);
      axis.pad_end = entry_or(window.pads, d + rank, 0);
      axis.output = full - axis.pad_begin - axis.pad_end;
    }
    if (axis.output < 0) refuse();
  }
  return axes;
}

std::int64_t product(const WindowAxes& axes, std::int64_t WindowAxis::*size) {
  std::int64_t out = 1;
  for (const WindowAxis& axis : axes) out = checked_mul(out, axis.*size);
  return out;
}

// Places of an axis of the input, from `first` on.
struct Places {
  std::int64_t first, count;
};

// Where the products of a tap go along an axis: place first + i of the input reaches `offset` + i * stride;
// of the places given, [begin, end) reach Y.
struct Reach {
  std::int64_t offset, begin, end;
};

Reach reach_of(const WindowAxis& axis, std::int64_t tap, const Places& places) {
  const std::int64_t offset = tap * axis.dilation - axis.pad_begin + places.first * axis.stride;
  const auto places_before = [&](std::int64_t o) {  // that reach less than output place o
    return o <= offset ? 0 : std::min((o - offset + axis.stride - 1) / axis.stride, places.count);
  };
  return {offset, places_before(0), places_before(axis.output)};
}

// Adds the products of one tap, [places, D2...Dn], to a plane of Y; or of two that are neighbours in the last
// axis, whose strides are 2 and 1: theirs go side by side. `next` is then the second one's.
template <typename C>
void add_tap(const WindowAxes& axes, std::span<const std::int64_t> tap, std::size_t d, const Places& places,
             const C* from, const C* next, C* to) {
  const WindowAxis& axis = axes[d];
  const auto [offset, begin, end] = reach_of(axis, tap[d], places);
  if (d + 1 < axes.size()) {
    std::int64_t inner_from = 1, inner_to = 1;
    for (std::size_t i = d + 1; i < axes.size(); ++i) {
      inner_from *= axes[i].input;
      inner_to *= axes[i].output;
    }
    for (std::int64_t i = begin; i < end; ++i)
      add_tap(axes, tap, d + 1, {0, axes[d + 1].input}, from + i * inner_from,
              next == nullptr ? nullptr : next + i * inner_from, to + (i * axis.stride + offset) * inner_to);
    return;
  }
  const auto add = [&](const C* products, std::int64_t at, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) to[i * axis.stride + at] += products[i];
  };
  if (next == nullptr) {
    if (axis.stride != 1) return add(from, offset, begin, end);
    for (std::int64_t i = begin; i < end; ++i) to[i + offset] += from[i];
    return;
  }
  const Reach of_next = reach_of(axis, tap[d] + 1, places);
  const std::int64_t first = std::max(begin, of_next.begin),
                     last = std::max(first, std::min(end, of_next.end));
  add(from, offset, begin, std::min(first, end));
  add(next, of_next.offset, of_next.begin, std::min(first, of_next.end));
  C* pair = to + first * 2 + offset;
#pragma GCC ivdep
  for (std::int64_t i = first; i < last; ++i, pair += 2) {
    pair[0] += from[i];
    pair[1] += next[i];
  }
  add(from, offset, std::max(begin, last), end);
  add(next, of_next.offset, std::max(of_next.begin, last), of_next.end);
}

// Adds the products of every tap, [taps, places, D2...Dn], to a plane of Y.
template <typename C>
void add_taps(const WindowAxes& axes, std::int64_t taps, const Places& places, const C* products,
              std::int64_t inputs, C* to) {
  const WindowAxis& columns = axes.back();
  const bool in_pairs = columns.stride == 2 && columns.dilation == 1;
  ScratchVector<std::int64_t> tap(axes.size(), 0);
  for (std::int64_t k = 0; k < taps;) {
    const bool pair = in_pairs && tap.back() + 1 < columns.kernel;
    add_tap(axes, tap, 0, places, products + k * inputs, pair ? products + (k + 1) * inputs : nullptr, to);
    k += pair ? 2 : 1;
    tap.back() += pair ? 2 : 1;
    for (std::size_t d = axes.size() - 1; tap[d] == axes[d].kernel && d > 0; ++tap[--d]) tap[d] = 0;
  }
}

template <typename C>
Tensor transposed(const Tensor& x, const Tensor& w, const Tensor* b, const WindowAxes& axes,
                  std::int64_t group) {
  constexpr std::int64_t product_bytes = 512 * 1024;  // that stay in the second level of cache
  const std::int64_t channels = x.dim(1) / group, filters = w.dim(1);
  const std::int64_t inputs = product(axes, &WindowAxis::input), outputs = product(axes, &WindowAxis::output);
  const std::int64_t taps = product(axes, &WindowAxis::kernel);
  Shape shape{x.dim(0), filters * group};
  for (const WindowAxis& axis : axes) shape.push_back(axis.output);
  Tensor y(dtype_of<C>, shape);
  C* out = y.mutable_data<C>();
  const C* bias = b ? b->data<C>() : nullptr;
  for (std::int64_t m = 0; m < x.dim(0) * filters * group; ++m)
    std::fill_n(out + m * outputs, outputs, bias != nullptr ? bias[m % (filters * group)] : C(0));
  if (inputs == 0 || outputs == 0) return y;
  // As many places of the first axis at a time as fit.
  const std::int64_t first_axis = axes[0].input, inner = inputs / first_axis;
  const std::int64_t most =
      product_bytes / static_cast<std::int64_t>(sizeof(C)) / (filters * taps * inner + 1);
  const std::int64_t steps = ceil_div(first_axis, std::max<std::int64_t>(1, most));
  const std::int64_t step = ceil_div(first_axis, steps);
  Tensor products(dtype_of<C>, Shape{filters * taps, step * inner});
  C* rows = products.mutable_data<C>();
  for (std::int64_t plane = 0; plane < x.dim(0) * group; ++plane) {
    const C* weights = w.data<C>() + plane % group * channels * filters * taps;
    for (std::int64_t first = 0; first < first_axis; first += step) {
      const Places places{first, std::min(step, first_axis - first)};
      const std::int64_t width = places.count * inner;
      kernels::gemm<C>(filters * taps, width, channels, C(1), {weights, filters * taps, true},
                       {x.data<C>() + plane * channels * inputs + first * inner, inputs}, C(0), rows, width);
      kernels::parallel_for(filters, task_additions / (taps * width + 1) + 1,
                            [&](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t m = begin; m < end; ++m) {
                                add_taps(axes, taps, places, rows + m * taps * width, width,
                                         out + (plane * filters + m) * outputs);
                              }
                            });
    }
  }
  return y;
}

void check_shapes(const Tensor& x, const Tensor& w, const Tensor* b, const TransposeAttributes& attributes) {
  const std::int64_t group = attributes.group;
  if (x.rank() < 3 || w.rank() != x.rank() || group < 1 || x.dim(1) % group != 0 || w.dim(0) != x.dim(1))
    refuse();
  const auto kernel = w.shape().dims().subspan(2);
  if (!attributes.window.kernel_shape.empty() && !std::ranges::equal(attributes.window.kernel_shape, kernel))
    refuse();
  if (std::ranges::any_of(kernel, [](std::int64_t size) { return size < 1; })) refuse();
  if (b && !(b->shape() == Shape{w.dim(1) * group})) refuse();
}

RunFunction prepare_conv_transpose(PrepareContext& node) {
  TransposeAttributes attributes;
  attributes.window = window_attributes(node, {});
  attributes.group = node.int_attribute("group", 1);
  attributes.first_version = node.since_version() == 1;
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
