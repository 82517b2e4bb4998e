#include "tests/engine/ops/rnn/layer_case.h"

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

#include "tensor/dispatch.h"

namespace grurun::engine::testing {

const Precision& precision_of(DType dtype) {
  static const std::array<Precision, 4> table{{
      {DType::float32, 1e-5, 2e-6},
      {DType::float64, 1e-12, 1e-13},
      {DType::float16, 1e-3, 2e-6},   // half a unit in the last place is 2^-11 = 4.9e-4
      {DType::bfloat16, 5e-3, 2e-6},  // half a unit in the last place is 2^-8 = 3.9e-3
  }};
  for (const Precision& row : table) {
    if (row.dtype == dtype) return row;
  }
  throw std::logic_error("no tolerance for this type");
}

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype) {
  Tensor made(dtype, shape);
  if (static_cast<std::size_t>(made.size()) != values.size())
    throw std::logic_error("wrong number of elements");
  dispatch(Floats{}, dtype, [&]<typename T>() {
    T* to = made.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
  });
  return made;
}

std::vector<double> doubles_of(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.size()));
  dispatch(Floats{}, tensor.dtype(), [&]<typename T>() {
    const T* from = tensor.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(from[i]);
  });
  return values;
}

void fill_layer(oracle::Layer& layer, DType dtype, Present present, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto draw = [&](std::vector<double>& to, std::int64_t count, double range) {
    to.resize(static_cast<std::size_t>(count));
    // Not std::uniform_real_distribution: its values differ between libraries.
    for (double& value : to) value = (static_cast<double>(engine() >> 11) * 0x1p-53 * 2 - 1) * range;
    to = doubles_of(tensor_of(to, {count}, dtype));
  };
  const std::int64_t D = layer.directions(), H = layer.hidden_size, rows = layer.gates() * H;
  // Sums stay of size one, so that unbounded functions do not blow up over the steps.
  const double weight = 1.0 / std::sqrt(static_cast<double>(H + layer.input_size));
  draw(layer.X, std::int64_t{layer.seq_length} * layer.batch_size * layer.input_size, 2);
  draw(layer.W, D * rows * layer.input_size, weight);
  draw(layer.R, D * rows * H, weight);
  draw(layer.B, present.B ? D * 2 * rows : 0, 0.3);
  draw(layer.initial_h, present.initial_h ? D * layer.batch_size * H : 0, 1);
  draw(layer.initial_c, present.initial_c && layer.op == "LSTM" ? D * layer.batch_size * H : 0, 1);
  draw(layer.P, present.P && layer.op == "LSTM" ? D * 3 * H : 0, 0.5);
}

Shape shape_of_X(const oracle::Layer& l) {
  return l.layout == 1 ? Shape{l.batch_size, l.seq_length, l.input_size}
                       : Shape{l.seq_length, l.batch_size, l.input_size};
}
Shape shape_of_Y(const oracle::Layer& l) {
  return l.layout == 1 ? Shape{l.batch_size, l.seq_length, l.directions(), l.hidden_size}
                       : Shape{l.seq_length, l.directions(), l.batch_size, l.hidden_size};
}
Shape shape_of_state(const oracle::Layer& l) {
  return l.layout == 1 ? Shape{l.batch_size, l.directions(), l.hidden_size}
                       : Shape{l.directions(), l.batch_size, l.hidden_size};
}

OneNode node_of(const oracle::Layer& l, std::int64_t opset, DType dtype) {
  const std::int64_t D = l.directions(), H = l.hidden_size, rows = l.gates() * H;
  const auto optional = [&](const std::vector<double>& values, const Shape& shape) {
    return values.empty() ? Value{} : Value{tensor_of(values, shape, dtype)};
  };
  OneNode one{.op = l.op, .domain = "", .opset = opset, .inputs = {}, .attributes = {}};
  one.inputs = {tensor_of(l.X, shape_of_X(l), dtype),
                tensor_of(l.W, {D, rows, l.input_size}, dtype),
                tensor_of(l.R, {D, rows, H}, dtype),
                optional(l.B, {D, 2 * rows}),
                Value{},
                optional(l.initial_h, shape_of_state(l))};
  if (l.has_sequence_lens) {
    one.inputs[4] = Tensor::from(Shape{l.batch_size},
                                 std::vector<std::int32_t>(l.sequence_lens.begin(), l.sequence_lens.end()));
  }
  if (l.op == "LSTM") {
    one.inputs.push_back(optional(l.initial_c, shape_of_state(l)));
    one.inputs.push_back(optional(l.P, {D, 3 * H}));
  }
  while (one.inputs.back().empty()) one.inputs.pop_back();

  one.attributes = {attr("direction", l.direction.c_str()), attr("hidden_size", l.hidden_size)};
  if (l.layout == 1) one.attributes.push_back(attr("layout", 1));
  if (l.linear_before_reset) one.attributes.push_back(attr("linear_before_reset", 1));
  if (l.input_forget) one.attributes.push_back(attr("input_forget", 1));
  if (l.clip) one.attributes.push_back(attr("clip", *l.clip));
  if (!l.activations.empty()) one.attributes.push_back(attr("activations", l.activations));
  if (!l.activation_alpha.empty()) one.attributes.push_back(attr("activation_alpha", l.activation_alpha));
  if (!l.activation_beta.empty()) one.attributes.push_back(attr("activation_beta", l.activation_beta));
  one.outputs.assign(l.op == "LSTM" ? 3 : 2, true);
  return one;
}

oracle::Layer plain_layer(const std::string& op, std::uint64_t seed) {
  oracle::Layer l;
  l.op = op;
  l.seq_length = 7;
  l.batch_size = 2;
  l.input_size = 3;
  l.hidden_size = 5;
  fill_layer(l, DType::float32, {}, seed);
  return l;
}

std::vector<std::vector<double>> results(const oracle::Layer& layer) {
  std::vector<std::vector<double>> made;
  for (const Value& value : run_node(node_of(layer, 22, DType::float32)))
    made.push_back(doubles_of(value.tensor()));
  return made;
}

std::string difference(const char* name, const Tensor& actual, const std::vector<double>& expected,
                       const Shape& expected_shape) {
  if (!(actual.shape() == expected_shape)) {
    return fmt::format("{} has shape {}, expected {}", name, actual.shape().to_string(),
                       expected_shape.to_string());
  }
  const Precision& precision = precision_of(actual.dtype());
  const std::vector<double> values = doubles_of(actual);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double allowed = precision.atol + precision.rtol * std::fabs(expected[i]);
    if (std::isnan(values[i]) && std::isnan(expected[i])) continue;
    if (values[i] == expected[i] || std::fabs(values[i] - expected[i]) <= allowed) continue;
    return fmt::format("{}[{}] of {} is {}, expected {}", name, i, expected_shape.to_string(), values[i],
                       expected[i]);
  }
  return "";
}

}  // namespace grurun::engine::testing
