// CausalConvWithState (ai.onnx 27): a depthwise convolution that looks at the current and past positions
// only.
//
//   padded = past_state, or k - 1 zeros, before input, along the last axis
//   output[b][c][t] = activation(bias[c] + sum over j of weight[c][0][j] * padded[b][c][t + j])
//   present_state = the last k - 1 of padded
//
// input and output [batch_size, channels, length], weight [channels, 1, k], bias [channels], the states
// [batch_size, channels, k - 1]. activation: none, or silu, of which swish is another name: x * sigmoid(x).
// 16-bit floats are computed in float; the sum is rounded to them before the activation, as in the function
// body.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_fused.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

struct Sizes {
  std::int64_t batch, channels, length, taps;
};

void require_shape(const Tensor* tensor, const Shape& shape) {
  if (tensor != nullptr && !(tensor->shape() == shape)) refuse();
}

Sizes read_sizes(const Tensor& input, const Tensor& weight, const Tensor* bias, const Tensor* past) {
  if (input.rank() != 3 || weight.rank() != 3) refuse();
  const Sizes sizes{input.dim(0), input.dim(1), input.dim(2), weight.dim(2)};
  if (sizes.taps < 1) refuse();
  require_shape(&weight, {sizes.channels, 1, sizes.taps});
  require_shape(bias, {sizes.channels});
  require_shape(past, {sizes.batch, sizes.channels, sizes.taps - 1});
  return sizes;
}

/// One row of the output from padded [taps - 1 + length]; rounded to dtype where that has 16 bits.
void convolve(const Sizes& sizes, const float* padded, const float* taps, float bias, bool silu, DType dtype,
              float* scratch, float* y) {
  kernels::vec_filter(padded, taps, sizes.taps, bias, y, sizes.length);
  round_floats(dtype, y, sizes.length);
  if (!silu) return;
  kernels::vec_sigmoid(y, scratch, sizes.length);
  kernels::vec_mul(y, scratch, y, sizes.length);
}

void run_rows(RunContext& run, bool silu) {
  const Tensor& input = run.tensor(0);
  const Tensor* bias = run.optional_tensor(2);
  const Tensor* past = run.optional_tensor(3);
  const Sizes sizes = read_sizes(input, run.tensor(1), bias, past);
  const DType dtype = input.dtype();
  const Tensor weight = widened<float>(run.tensor(1));
  const Tensor biases = bias == nullptr ? Tensor() : widened<float>(*bias);
  const std::int64_t state = sizes.taps - 1, rows = sizes.batch * sizes.channels;
  const auto bytes = static_cast<std::int64_t>(dtype_size(dtype));
  auto* out = static_cast<std::byte*>(run.output(0, dtype, input.shape()).mutable_raw());
  Tensor present;
  if (run.has_output(1)) present = Tensor(dtype, Shape{sizes.batch, sizes.channels, state});
  auto* next = run.has_output(1) ? static_cast<std::byte*>(present.mutable_raw()) : nullptr;
  const auto* in = static_cast<const std::byte*>(input.raw());
  const auto* before = past == nullptr ? nullptr : static_cast<const std::byte*>(past->raw());
  const float* taps = weight.data<float>();
  const float* offsets = bias == nullptr ? nullptr : biases.data<float>();
  kernels::parallel_for(
      rows, 16384 / (sizes.length * sizes.taps + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
        Tensor buffer(DType::float32, Shape{state + 3 * sizes.length});
        float* padded = buffer.mutable_data<float>();
        float *y = padded + state + sizes.length, *scratch = y + sizes.length;
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t c = row % sizes.channels;
          if (before == nullptr) {
            std::fill_n(padded, state, 0.0f);
          } else {
            convert_floats(dtype, before + row * state * bytes, DType::float32, padded, state);
          }
          convert_floats(dtype, in + row * sizes.length * bytes, DType::float32, padded + state,
                         sizes.length);
          convolve(sizes, padded, taps + c * sizes.taps, offsets == nullptr ? 0.0f : offsets[c], silu, dtype,
                   scratch, y);
          convert_floats(DType::float32, y, dtype, out + row * sizes.length * bytes, sizes.length);
          if (next == nullptr) continue;
          convert_floats(DType::float32, padded + sizes.length, dtype, next + row * state * bytes, state);
        }
      });
  if (run.has_output(1)) run.set_output(1, present);
}

RunFunction prepare_causal_conv_with_state(PrepareContext& node) {
  const std::string activation = node.string_attribute("activation", "none");
  const bool silu = activation == "silu" || activation == "swish";
  return [silu](RunContext& run) { run_rows(run, silu); };
}

}  // namespace

std::vector<OpRow> op_rows_causal_conv_with_state() {
  return {{"", "CausalConvWithState", {27}, prepare_causal_conv_with_state}};
}

}  // namespace grurun::engine
