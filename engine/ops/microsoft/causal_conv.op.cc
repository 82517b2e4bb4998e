// CausalConvWithState and VarlenCausalConvWithState (com.microsoft 1): CausalConvWithState of ai.onnx 27 with
// taps `dilation` places apart, and so longer states, of (k - 1) * dilation places.
//
//   output[t] = activation(bias + sum over j of weight[j] * padded[t + j * dilation]), padded: the state,
//   then input
//
// input [batch_size, channels, length] and states [batch_size, channels, state]; with channels_last
// [batch_size, length, channels...] and [batch_size, state, channels...]. Varlen: input [tokens, channels] of
// sequences that cumulative_sequence_length parts, and states [batch_size, channels, state]; state_update
// [batch_size, state_update_capacity, channels] holds the first capture_count tokens of each, and 0 behind
// them. All is computed in float.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

struct CausalConv {
  bool silu = false, channels_last = false;
  std::int64_t dilation = 1, capacity = 0;
};

// A row of one channel: places `step` elements apart.
struct Row {
  const float* at;
  std::int64_t step;

  float operator[](std::int64_t i) const { return at[i * step]; }
};

struct Taps {
  const float* weights;
  std::int64_t count, dilation;
  float bias;
  bool silu;

  std::int64_t state() const { return (count - 1) * dilation; }
};

/// before: the state, at nullptr for zeros. out and after are written at the steps of input and before.
void convolve_row(const Taps& taps, Row input, std::int64_t length, Row before, float* out, float* after) {
  const std::int64_t state = taps.state();
  const auto padded = [&](std::int64_t i) {
    if (i >= state) return input[i - state];
    return before.at == nullptr ? 0.0f : before[i];
  };
  for (std::int64_t t = 0; t < length; ++t) {
    float sum = taps.bias;
    for (std::int64_t j = 0; j < taps.count; ++j) sum += taps.weights[j] * padded(t + j * taps.dilation);
    out[t * input.step] = taps.silu ? sum / (1 + std::exp(-sum)) : sum;
  }
  for (std::int64_t i = 0; i < state; ++i) after[i * before.step] = padded(length + i);
}

std::int64_t taps_of(const Tensor& weight, std::int64_t channels) {
  if (weight.rank() != 3 || weight.dim(0) != channels || weight.dim(1) != 1 || weight.dim(2) < 1) {
    refuse();
  }
  return weight.dim(2);
}

Tensor bias_of(RunContext& run, std::size_t input, std::int64_t channels) {
  const Tensor* bias = run.optional_tensor(input);
  if (bias == nullptr) return Tensor::zeros(DType::float32, {channels});
  if (bias->rank() != 1 || bias->dim(0) != channels) refuse();
  return widened<float>(*bias);
}

void require_state(const Tensor& state, const Shape& shape) {
  if (!(state.shape() == shape)) refuse();
}

void convolve_batch(const CausalConv& op, RunContext& run) {
  const Tensor& input = run.tensor(0);
  if (op.channels_last ? input.rank() < 3 : input.rank() != 3) refuse();
  std::vector<std::int64_t> dims(input.shape().dims().begin(), input.shape().dims().end());
  const std::size_t time = op.channels_last ? 1 : 2;
  const std::int64_t batch = dims[0], length = dims[time];
  const std::int64_t channels = op.channels_last ? checked_product(std::span(dims).subspan(2)) : dims[1];
  const std::int64_t count = taps_of(run.tensor(1), channels), state = checked_mul(count - 1, op.dilation);
  dims[time] = state;
  const Shape state_shape(dims);
  const Tensor x = widened<float>(input), w = widened<float>(run.tensor(1)), bias = bias_of(run, 2, channels);
  const Tensor* past = run.optional_tensor(3);
  if (past != nullptr) require_state(*past, state_shape);
  const Tensor before = past == nullptr ? Tensor() : widened<float>(*past);
  Tensor made(DType::float32, input.shape()), present(DType::float32, state_shape);
  float *y = made.mutable_data<float>(), *after = present.mutable_data<float>();
  const std::int64_t step = op.channels_last ? channels : 1;
  const bool is_empty = made.size() == 0 && present.size() == 0;
  kernels::parallel_for(
      is_empty ? 0 : checked_mul(batch, channels), is_empty ? 1 : 16384 / (length * count + 1) + 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t b = i / channels, c = i % channels;
          const auto place = [&](std::int64_t size) {
            return op.channels_last ? b * size * channels + c : (b * channels + c) * size;
          };
          const Taps taps{w.data<float>() + c * count, count, op.dilation, bias.data<float>()[c], op.silu};
          convolve_row(taps, {x.data<float>() + place(length), step}, length,
                       {past == nullptr ? nullptr : before.data<float>() + place(state), step},
                       y + place(length), after + place(state));
        }
      });
  run.set_output(0, narrowed(made, input.dtype()));
  run.set_output(1, narrowed(present, input.dtype()));
}

void convolve_packed(const CausalConv& op, RunContext& run) {
  const Tensor &input = run.tensor(0), &ends = run.tensor(2);
  if (input.rank() != 2 || ends.rank() != 1 || ends.size() < 1) refuse();
  const std::int64_t channels = input.dim(1), batch = ends.size() - 1;
  const auto* at = ends.data<std::int32_t>();
  if (at[0] != 0 || at[batch] != input.dim(0) || !std::is_sorted(at, at + batch + 1)) {
    refuse();
  }
  const std::int64_t count = taps_of(run.tensor(1), channels), state = checked_mul(count - 1, op.dilation);
  const Shape state_shape{batch, channels, state};
  require_state(run.tensor(4), state_shape);
  const Tensor* captured = run.optional_tensor(5);
  if ((captured != nullptr) != (op.capacity > 0)) refuse();
  if (captured != nullptr && captured->size() != batch) refuse();
  const Tensor x = widened<float>(input), w = widened<float>(run.tensor(1)), bias = bias_of(run, 3, channels);
  const Tensor before = widened<float>(run.tensor(4));
  Tensor made(DType::float32, input.shape()), present(DType::float32, state_shape);
  Tensor update = Tensor::zeros(DType::float32, {batch, op.capacity, channels});
  float *y = made.mutable_data<float>(), *after = present.mutable_data<float>(),
        *kept = update.mutable_data<float>();
  for (std::int64_t b = 0; b < batch; ++b) {
    run.check_limits();
    const std::int64_t begin = at[b] * channels, length = at[b + 1] - at[b];
    for (std::int64_t c = 0; c < channels; ++c) {
      const Taps taps{w.data<float>() + c * count, count, op.dilation, bias.data<float>()[c], op.silu};
      const std::int64_t row = (b * channels + c) * state;
      convolve_row(taps, {x.data<float>() + begin + c, channels}, length, {before.data<float>() + row, 1},
                   y + begin + c, after + row);
    }
    const std::int64_t seen =
        captured == nullptr
            ? 0
            : std::clamp<std::int64_t>(captured->data<std::int32_t>()[b], 0, std::min(op.capacity, length));
    std::copy_n(x.data<float>() + begin, seen * channels, kept + b * op.capacity * channels);
  }
  run.set_output(0, narrowed(made, input.dtype()));
  run.set_output(1, narrowed(present, input.dtype()));
  run.set_output(2, narrowed(update, input.dtype()));
}

// Attributes that only other providers than the CPU's know.
void require_int(PrepareContext& node, const char* name, std::int64_t value) {
  if (node.int_attribute(name, value) != value)
    fail_unsupported("{} with another {} than {}", node.op_type(), name, value);
}

CausalConv read_causal_conv(PrepareContext& node) {
  CausalConv op;
  op.silu = node.string_attribute("activation", "none") != "none";
  op.dilation = node.int_attribute("dilation", 1);
  if (op.dilation < 1) refuse();
  return op;
}

RunFunction prepare_causal_conv(PrepareContext& node) {
  CausalConv op = read_causal_conv(node);
  op.channels_last = node.flag_attribute("channels_last", false);
  require_int(node, "ndim", 1), require_int(node, "state_window", 0), require_int(node, "state_length", 0);
  require_int(node, "state_update_capacity", 0), require_int(node, "input_channels", 0);
  require_int(node, "input_channel_offset", 0), require_int(node, "state_channels_last", -1);
  return [op](RunContext& run) { convolve_batch(op, run); };
}

RunFunction prepare_packed_causal_conv(PrepareContext& node) {
  CausalConv op = read_causal_conv(node);
  op.capacity = node.int_attribute("state_update_capacity", 0);
  if (op.capacity < 0 || op.capacity > 8) refuse();
  require_int(node, "delta_offset", 0), require_int(node, "group_size", 1);
  for (const std::size_t i : {6, 7})
    if (node.has_input(i)) fail_unsupported("VarlenCausalConvWithState with kernel_delta and previous_mask");
  return [op](RunContext& run) { convolve_packed(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_causal_conv() {
  return {{"com.microsoft", "CausalConvWithState", {1}, prepare_causal_conv},
          {"com.microsoft", "VarlenCausalConvWithState", {1}, prepare_packed_causal_conv}};
}

}  // namespace grurun::engine
