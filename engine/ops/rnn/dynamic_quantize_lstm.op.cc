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
#include <memory>
#include <optional>

#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer_inputs.h"
#include "engine/ops/rnn/recurrence.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace rnn {
namespace {

struct DynamicLayer {
  LayerForm form;
  LayerAttributes attributes;
  std::optional<LayerWeights<float>> packed;  // when all weights are constant
  std::optional<Dimensions> of_weights;       // of those that are packed
};

LayerWeights<float> pack(const LayerInputs& inputs, const LayerForm& form) {
  LayerInputs floats = inputs;
  floats[opset::input_W] = floats[opset::input_R] = nullptr;
  const Tensor& R = *inputs[opset::input_R];
  LayerWeights<float> weights = pack_without_products(floats, form, R.dim(0), R.dim(1));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto direction = static_cast<std::int64_t>(i);
    const auto gates = [&](std::size_t which, std::size_t scale) {
      return QuantizedWeights(*inputs[which], *inputs[scale], *inputs[scale + 1], direction,
                              weights[i].blocks.front().R);
    };
    weights[i].quantized.emplace(QuantizedGates{gates(opset::input_W, opset::input_W_scale),
                                                gates(opset::input_R, opset::input_R_scale)});
  }
  return weights;
}

void run_layer(const DynamicLayer& layer, RunContext& run) {
  const LayerInputs inputs = read_inputs(run);
  const Dimensions dims =
      check_inputs(inputs, layer.form, layer.attributes, layer.of_weights ? &*layer.of_weights : nullptr);
  const LayerOutputs outputs = make_outputs(run, inputs, layer.form, dims, false);
  if (dims.batch_size == 0 || dims.hidden_size == 0) return;  // the outputs have no elements
  const LayerRun layer_run(run, inputs, outputs, layer.form, dims, layer.attributes);
  LayerWeights<float> packed_now;
  if (!layer.packed) packed_now = pack(inputs, layer.form);
  const LayerWeights<float>& weights = layer.packed ? *layer.packed : packed_now;
  run_directions<float, float>(layer_run, weights);
}

RunFunction prepare_dynamic_quantize_lstm(PrepareContext& node) {
  const auto layer = std::make_shared<DynamicLayer>();
  layer->form = lstm_form(node, opset::quantized_lstm_form(), false);
  layer->attributes = read_layer_attributes(node, layer->form);
  if (const auto weights = constant_weights(node)) {
    layer->of_weights = check_inputs(*weights, layer->form, layer->attributes);
    layer->packed = pack(*weights, layer->form);
  }
  return [layer](RunContext& run) { run_layer(*layer, run); };
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_dynamic_quantize_lstm() {
  return {{"com.microsoft", "DynamicQuantizeLSTM", {1}, rnn::prepare_dynamic_quantize_lstm}};
}

}  // namespace grurun::engine
