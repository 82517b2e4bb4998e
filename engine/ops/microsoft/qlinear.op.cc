// QLinearAdd, QLinearMul, QLinearLeakyRelu and QLinearSigmoid (com.microsoft 1), of 8-bit integers:
//
//   dequantize(x) = (x - x_zero_point) * x_scale
//   quantize(y) = saturate(round_half_to_even(y / y_scale) + y_zero_point)
//   Y = quantize(f(dequantize(X)))
//   C = quantize(dequantize(A) op dequantize(B)), A and B broadcast to each other
//
// Scales and zero points are of whole tensors. Each bit is what DequantizeLinear, the operator and
// QuantizeLinear give one after the other, without their tensors between: a function of one number is a table
// of 256.
#include "engine/kernels/vec/vec_combine_quantized.h"
#include "engine/kernels/vec/vec_look_up.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/microsoft/quantized_input.h"
#include "engine/ops/shared/broadcast.h"

namespace grurun::engine {

namespace {

struct QuantizedSigmoid {
  void run(float* values, std::int64_t n) const { kernels::vec_sigmoid(values, values, n); }
};

struct QuantizedLeakyRelu {
  float alpha;
  void run(float* values, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) values[i] = values[i] < 0 ? alpha * values[i] : values[i];
  }
};

template <typename T, typename Function>
void apply_quantized(RunContext& run, const Function& function) {
  const Tensor& x = run.tensor(0);
  const auto from = quantization_of<T>(run, 1), to = quantization_of<T>(run, 3);
  const auto compute = [&](const T* numbers, T* results, std::int64_t n) {
    requantize(numbers, from, to, results, n,
               [&](float* values, std::int64_t count) { function.run(values, count); });
  };
  Tensor& y = run.output(0, dtype_of<T>, x.shape());
  alignas(16) ByteTable<T> table;
  if (x.size() <= std::ssize(table)) return compute(x.data<T>(), y.mutable_data<T>(), x.size());
  compute(all_numbers<T>().data(), table.data(), all_bytes);
  const auto* entries = reinterpret_cast<const std::uint8_t*>(table.data());
  const auto* from_bytes = static_cast<const std::uint8_t*>(x.raw());
  auto* to_bytes = static_cast<std::uint8_t*>(y.mutable_raw());
  kernels::parallel_for(x.size(), elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    kernels::vec_look_up(entries, from_bytes + begin, to_bytes + begin, end - begin);
  });
}

struct QuantizedSum {
  static void run(const auto&... operands) { kernels::vec_add_quantized(operands...); }
};

struct QuantizedProduct {
  static void run(const auto&... operands) { kernels::vec_mul_quantized(operands...); }
};

template <typename T, typename Op>
void combine_quantized(RunContext& run) {
  const Tensor &a = run.tensor(0), &b = run.tensor(3);
  if (b.dtype() != a.dtype()) refuse();
  const kernels::QuantizedPair<T> by(quantization_of<T>(run, 1), quantization_of<T>(run, 4),
                                     quantization_of<T>(run, 6));
  const Shape shape = broadcast_shape(a.shape(), b.shape());
  const BroadcastWalk walk(shape, {&a.shape(), &b.shape()});
  const T *from_a = a.data<T>(), *from_b = b.data<T>();
  T* to = run.output(0, dtype_of<T>, shape).template mutable_data<T>();
  walk.parallel(
      elements_per_piece, [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
        Op::run(by, from_a + offsets[0], walk.steps(0), from_b + offsets[1], walk.steps(1), to + begin, n);
      });
}

template <typename Op>
RunFunction prepare_quantized_pair(PrepareContext&) {
  return [](RunContext& run) {
    dispatch(EightBits{}, run.tensor(0).dtype(), [&]<typename T>() { combine_quantized<T, Op>(run); });
  };
}

template <typename Function>
RunFunction quantized_function(Function function) {
  return [function](RunContext& run) {
    dispatch(EightBits{}, run.tensor(0).dtype(), [&]<typename T>() { apply_quantized<T>(run, function); });
  };
}

RunFunction prepare_quantized_leaky_relu(PrepareContext& node) {
  return quantized_function(QuantizedLeakyRelu{node.float_attribute("alpha", 0.01F)});
}

RunFunction prepare_quantized_sigmoid(PrepareContext&) {
  return quantized_function(QuantizedSigmoid{});
}

}  // namespace

std::vector<OpRow> op_rows_qlinear() {
  return {{"com.microsoft", "QLinearAdd", {1}, prepare_quantized_pair<QuantizedSum>},
          {"com.microsoft", "QLinearMul", {1}, prepare_quantized_pair<QuantizedProduct>},
          {"com.microsoft", "QLinearLeakyRelu", {1}, prepare_quantized_leaky_relu},
          {"com.microsoft", "QLinearSigmoid", {1}, prepare_quantized_sigmoid}};
}

}  // namespace grurun::engine
