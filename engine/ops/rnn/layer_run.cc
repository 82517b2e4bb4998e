#include "engine/ops/rnn/layer_run.h"

namespace grurun::engine::rnn {
namespace {

// Checked, since an X without elements may have any size in its other dimensions.
Strides x_strides(const Dimensions& dims, bool batch_first) {
  const std::int64_t size = dims.input_size;
  if (batch_first) return {.time = size, .row = checked_mul(dims.seq_length, size)};
  return {.time = checked_mul(dims.batch_size, size), .row = size};
}

Strides y_strides(const Dimensions& dims, bool batch_first) {
  const std::int64_t size = dims.hidden_size;
  if (batch_first) {
    const std::int64_t time = checked_mul(dims.num_directions, size);
    return {.time = time, .row = checked_mul(dims.seq_length, time), .direction = size};
  }
  const std::int64_t direction = checked_mul(dims.batch_size, size);
  return {.time = checked_mul(dims.num_directions, direction), .row = size, .direction = direction};
}

Strides state_strides(const Dimensions& dims, bool batch_first) {
  const std::int64_t size = dims.hidden_size;
  if (batch_first) return {.row = checked_mul(dims.num_directions, size), .direction = size};
  return {.row = size, .direction = checked_mul(dims.batch_size, size)};
}

}  // namespace

LayerOutputs make_outputs(RunContext& run, const LayerInputs& inputs, const LayerForm& form,
                          const Dimensions& dims, bool batch_first) {
  const Shape all = opset::recurrent_output_shape<Shape>(opset::output_Y, batch_first, dims);
  const Shape last = opset::recurrent_output_shape<Shape>(opset::output_Y_h, batch_first, dims);
  const DType dtype = inputs[opset::input_X]->dtype();
  LayerOutputs outputs;
  if (run.has_output(0)) outputs.Y = &run.output(0, dtype, all);
  for (int state = 0; state < form.states(); ++state) {
    const auto index = static_cast<std::size_t>(state);
    if (run.has_output(index + 1)) outputs.last[index] = &run.output(index + 1, dtype, last);
  }
  return outputs;
}

LayerRun::LayerRun(RunContext& context, const LayerInputs& inputs, const LayerOutputs& outputs,
                   const LayerForm& form, const Dimensions& dims, const LayerAttributes& attributes)
    : context(context),
      inputs(inputs),
      outputs(outputs),
      form(form),
      dims(dims),
      attributes(attributes),
      schedule(inputs[opset::input_sequence_lens], dims),
      x(x_strides(dims, attributes.batch_first)),
      y(y_strides(dims, attributes.batch_first)),
      state(state_strides(dims, attributes.batch_first)) {}

}  // namespace grurun::engine::rnn
