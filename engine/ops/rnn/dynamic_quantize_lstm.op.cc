// DynamicQuantizeLSTM (com.microsoft 1): the LSTM of ONNX whose products are those of 8-bit integers.
//
//   q(A) * w = A_scale * w_scale * ((quantized(A) - A_zero_point) * (w - w_zero_point))
//   it, ot, ft, ct, Ct, Ht as in LSTM-22, with q(Xt) * W for Xt*(W^T) and q(Ht-1) * R for Ht-1*(R^T)
//
// A is quantized to uint8 as DynamicQuantizeLinear does it. X [seq_length, batch_size, input_size], W
// [num_directions, input_size, 4*hidden_size], R [num_directions, hidden_size, 4*hidden_size], gates in the
// order i, o, f, c; B, sequence_lens, initial_h, initial_c, P and the outputs as LSTM has them; W_scale,
// W_zero_point, R_scale, R_zero_point [num_directions] or [num_directions, 4*hidden_size]. float32 only,
// weights int8 or uint8.
//
// The operator's page leaves open what is quantized together. Here it is what onnxruntime does with one
// thread: X as far as the longest row goes, whatever it holds beyond the others, and Ht-1 of the whole batch.
// The clip bounds what the functions of the gates see and not the argument of h, as there.
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer_inputs.h"
#include "engine/ops/rnn/recurrence.h"
#include "tensor/error.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_dynamic_quantize_lstm();

namespace rnn {
namespace {

enum Input {
  X,
  W,
  R,
  B,
  sequence_lens,
  initial_h,
  initial_c,
  P,
  W_scale,
  W_zero_point,
  R_scale,
  R_zero_point
};
constexpr std::array input_names = {"X",         "W",           "R", "B",       "sequence_lens",
                                    "initial_h", "initial_c",   "P", "W_scale", "W_zero_point",
                                    "R_scale",   "R_zero_point"};
constexpr std::array required_inputs = {X, W, R, W_scale, W_zero_point, R_scale, R_zero_point};
using Inputs = std::array<const Tensor*, input_names.size()>;

struct DynamicLayer {
  LayerForm form;
  LayerAttributes attributes;
  std::optional<LayerWeights<float>> packed;  // when all weights are constant
};

void require_type(const Inputs& inputs, Input which, DType dtype) {
  if (inputs[which] == nullptr || inputs[which]->dtype() == dtype) return;
  fail_invalid("{} is tensor({}); it must be tensor({})", input_names[which],
               dtype_name(inputs[which]->dtype()), dtype_name(dtype));
}

void require_shape(const Inputs& inputs, Input which, const Shape& shape, const char* rule) {
  if (inputs[which] == nullptr || inputs[which]->shape() == shape) return;
  fail_invalid("{} is {}; it must be {}, here {}", input_names[which], inputs[which]->shape().to_string(),
               rule, shape.to_string());
}

// A scale and the zero point that follows it, of weights that have been checked.
void check_parameters(const Inputs& inputs, Input weights, Input scale) {
  const Shape& shape = inputs[weights]->shape();
  const bool by_column = inputs[scale]->rank() == 2;
  const Shape wanted = by_column ? Shape{shape[0], shape[2]} : Shape{shape[0]};
  const auto zero_point = static_cast<Input>(scale + 1);
  require_type(inputs, scale, DType::float32);
  require_shape(inputs, scale, wanted, "[num_directions] or [num_directions, 4*hidden_size]");
  require_type(inputs, zero_point, inputs[weights]->dtype());
  require_shape(inputs, zero_point, wanted, "of its scale's shape");
}

void check_weights(const Inputs& inputs, const LayerAttributes& attributes) {
  const DType dtype = inputs[W]->dtype();
  if (dtype != DType::int8 && dtype != DType::uint8)
    fail_invalid("W is tensor({}); it must be tensor(int8) or tensor(uint8)", dtype_name(dtype));
  require_type(inputs, R, dtype);
  const char* const rule_of_W = "[num_directions, input_size, 4*hidden_size]";
  const char* const rule_of_R = "[num_directions, hidden_size, 4*hidden_size]";
  for (const auto& [which, rule] : {std::pair{W, rule_of_W}, std::pair{R, rule_of_R}}) {
    if (inputs[which]->rank() != 3)
      fail_invalid("{} is {}; it must be {}", input_names[which], inputs[which]->shape().to_string(), rule);
  }
  const std::int64_t D = attributes.num_directions(), hidden_size = inputs[R]->dim(1);
  if (attributes.hidden_size && *attributes.hidden_size != hidden_size) {
    fail_invalid("attribute hidden_size is {}, but R is {}: its second dimension is hidden_size",
                 *attributes.hidden_size, inputs[R]->shape().to_string());
  }
  const std::int64_t columns = checked_mul(4, hidden_size);
  require_shape(inputs, W, {D, inputs[W]->dim(1), columns}, rule_of_W);
  require_shape(inputs, R, {D, hidden_size, columns}, rule_of_R);
  check_parameters(inputs, W, W_scale);
  check_parameters(inputs, R, R_scale);
  require_type(inputs, B, DType::float32);
  require_type(inputs, P, DType::float32);
  require_shape(inputs, B, {D, checked_mul(2, columns)}, "[num_directions, 8*hidden_size]");
  require_shape(inputs, P, {D, checked_mul(3, hidden_size)}, "[num_directions, 3*hidden_size]");
}

LayerInputs float_inputs(const Inputs& inputs) {
  LayerInputs out;
  out.X = inputs[X];
  out.B = inputs[B];
  out.sequence_lens = inputs[sequence_lens];
  out.initial_h = inputs[initial_h];
  out.initial_c = inputs[initial_c];
  out.P = inputs[P];
  return out;
}

LayerWeights<float> pack(const Inputs& inputs, const LayerForm& form) {
  LayerWeights<float> weights =
      pack_without_products(float_inputs(inputs), form, inputs[R]->dim(0), inputs[R]->dim(1));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto direction = static_cast<std::int64_t>(i);
    const auto gates = [&](Input which, Input scale) {
      return QuantizedWeights(*inputs[which], *inputs[scale], *inputs[scale + 1], direction,
                              weights[i].blocks.front().R);
    };
    weights[i].quantized.emplace(QuantizedGates{gates(W, W_scale), gates(R, R_scale)});
  }
  return weights;
}

std::optional<LayerWeights<float>> pack_constant_weights(PrepareContext& node, const DynamicLayer& layer) {
  Inputs inputs{};
  for (const Input which : {W, R, B, P, W_scale, W_zero_point, R_scale, R_zero_point}) {
    if (!node.has_input(which)) continue;
    inputs[which] = node.constant_input(which);
    if (inputs[which] == nullptr) return std::nullopt;
  }
  check_weights(inputs, layer.attributes);
  return pack(inputs, layer.form);
}

void run_layer(const DynamicLayer& layer, RunContext& run) {
  Inputs inputs{};
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = run.optional_tensor(i);
  check_weights(inputs, layer.attributes);
  require_type(inputs, X, DType::float32);
  const LayerInputs floats = float_inputs(inputs);
  const Dimensions dims = check_sequence(floats, layer.attributes, inputs[W]->dim(1), inputs[R]->dim(1));
  const LayerOutputs outputs = make_outputs(run, floats, layer.form, dims, false);
  if (dims.batch_size == 0 || dims.hidden_size == 0) return;  // the outputs have no elements
  const LayerRun layer_run(run, floats, outputs, layer.form, dims, layer.attributes);
  LayerWeights<float> packed_now;
  if (!layer.packed) packed_now = pack(inputs, layer.form);
  const LayerWeights<float>& weights = layer.packed ? *layer.packed : packed_now;
  run_directions<float, float>(layer_run, weights);
}

// ONNX's schemas know nothing of the domain; the executor cannot count for it.
void check_counts(const PrepareContext& node) {
  if (node.input_count() != input_names.size() || node.output_count() > 3) {
    fail_invalid(
        "{} inputs and {} outputs; it has 12 inputs, of which B to P may be omitted, and up to 3 outputs",
        node.input_count(), node.output_count());
  }
  for (const Input which : required_inputs) {
    if (!node.has_input(which))
      fail_invalid("input {} ({}) is required", static_cast<int>(which), input_names[which]);
  }
}

RunFunction prepare_dynamic_quantize_lstm(PrepareContext& node) {
  check_counts(node);
  if (node.has_attribute("output_sequence")) fail_unsupported("attribute output_sequence is not known");
  const auto layer = std::make_shared<DynamicLayer>();
  layer->form = lstm_form(node, false);
  layer->attributes = read_layer_attributes(node, layer->form);
  layer->packed = pack_constant_weights(node, *layer);
  return [layer](RunContext& run) { run_layer(*layer, run); };
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_dynamic_quantize_lstm() {
  return {{"com.microsoft", "DynamicQuantizeLSTM", {1}, rnn::prepare_dynamic_quantize_lstm}};
}

}  // namespace grurun::engine
