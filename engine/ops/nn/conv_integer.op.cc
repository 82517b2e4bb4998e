// ConvInteger (ai.onnx 10) and QLinearConv (ai.onnx 10).
//
//   ConvInteger: y = conv(x - x_zero_point, w - w_zero_point) in int32
//   QLinearConv: y = saturate(round_half_to_even((conv(x - x_zero_point, w - w_zero_point) + B) * x_scale *
//   w_scale / y_scale)
//                             + y_zero_point)
//
// x and its zero point have one type, w and its own another, of int8 and uint8. Zero points and scales of x
// and y are scalars, those of w scalars or lists [M]. B is int32 [M].
#include <limits>
#include <memory>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/nn/integer_convolution.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Bytes = TypeList<std::int8_t, std::uint8_t>;

const Tensor* scalar(const Tensor* tensor) {
  if (tensor && (tensor->size() != 1 || tensor->rank() > 1)) refuse();
  return tensor;
}

/// Inputs `w` and `zero`, its zero point, arranged once where they are constant; nullptr where they are not.
std::shared_ptr<const IntegerFilters> constant_filters(PrepareContext& node, std::size_t w, std::size_t zero,
                                                       std::int64_t group) {
  const Tensor* weights = node.constant_input(w);
  const Tensor* zero_point = node.has_input(zero) ? node.constant_input(zero) : nullptr;
  if (weights == nullptr || (node.has_input(zero) && zero_point == nullptr)) return nullptr;
  // Other types are refused by the executor.
  if (zero_point != nullptr && zero_point->dtype() != weights->dtype()) return nullptr;
  return node.arrangements().get<IntegerFilters>({weights, zero_point}, {group}, [&] {
    return std::make_shared<IntegerFilters>(integer_filters(*weights, zero_point, group));
  });
}

RunFunction prepare_integer(PrepareContext& node) {
  const WindowAttributes attributes = window_attributes(node, {});
  const std::int64_t group = node.int_attribute("group", 1);
  return [=, filters = constant_filters(node, 1, 3, group)](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& w = run.tensor(1);
    const Tensor* x_zero = scalar(run.optional_tensor(2));
    const Tensor* w_zero = run.optional_tensor(3);
    const ConvShape shape = conv_shape(x.shape(), w.shape(), group, attributes);
    run.set_output(0, integer_convolution(shape, x, x_zero,
                                          filters ? *filters : integer_filters(w, w_zero, group), nullptr));
  };
}

/// x_scale * w_scale / y_scale for each of the filters, or once for all.
ScratchVector<double> output_factors(const Tensor& x_scale, const Tensor& w_scale, const Tensor& y_scale,
                                     std::int64_t filters) {
  const bool one = w_scale.size() == 1 && w_scale.rank() <= 1;
  if (!one && !(w_scale.shape() == Shape{filters})) refuse();
  ScratchVector<double> factors;
  for (const float w : w_scale.span<float>()) {
    factors.push_back(static_cast<double>(*x_scale.data<float>()) * static_cast<double>(w) /
                      static_cast<double>(*y_scale.data<float>()));
  }
  return factors;
}

RunFunction prepare_qlinear(PrepareContext& node) {
  const WindowAttributes attributes = window_attributes(node, {});
  const std::int64_t group = node.int_attribute("group", 1);
  return [=, filters = constant_filters(node, 3, 5, group)](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& w = run.tensor(3);
    for (const std::size_t i : {1u, 2u, 6u, 7u}) scalar(&run.tensor(i));
    const ConvShape shape = conv_shape(x.shape(), w.shape(), group, attributes);
    const Tensor* bias = run.optional_tensor(8);
    if (bias && !(bias->shape() == Shape{shape.filters})) refuse();
    const Tensor& w_zero = run.tensor(5);
    const ScratchVector<double> factors =
        output_factors(run.tensor(1), run.tensor(4), run.tensor(6), shape.filters);
    const Tensor& y_zero = run.tensor(7);
    run.set_output(0, dispatch(Bytes{}, y_zero.dtype(), [&]<typename T>() {
                     const kernels::Requantization by{.factors = factors.data(),
                                                      .step = factors.size() == 1 ? 0 : 1,
                                                      .scale = 1,
                                                      .zero_point = *y_zero.data<T>(),
                                                      .least = std::numeric_limits<T>::min(),
                                                      .addends = bias ? bias->data<std::int32_t>() : nullptr};
                     return quantized_convolution(shape, x, &run.tensor(2),
                                                  filters ? *filters : integer_filters(w, &w_zero, group), by,
                                                  dtype_of<T>);
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_conv_integer() {
  return {{"", "ConvInteger", {10}, prepare_integer}, {"", "QLinearConv", {10}, prepare_qlinear}};
}

}  // namespace grurun::engine
