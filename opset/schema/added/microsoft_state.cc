// Convolutions and attentions that hand a state on, as kernels compute them.
#include <algorithm>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

// Shapes of an input, or nullptr.
const TensorShapeProto* known_shape(InferenceContext& context, std::size_t input, int least_rank) {
  if (!onnx::hasInputShape(context, input)) return nullptr;
  const TensorShapeProto& shape = onnx::getInputShape(context, input);
  return shape.dim_size() >= least_rank ? &shape : nullptr;
}

void same_types(InferenceContext& context, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, context.getNumOutputs()); ++i)
    onnx::propagateElemTypeFromInputToOutput(context, 0, i);
}

void set_product(onnx::TensorShapeProto_Dimension& dim, const onnx::TensorShapeProto_Dimension& size,
                 std::int64_t divisor, std::int64_t factor) {
  if (size.has_dim_value() && divisor > 0 && size.dim_value() % divisor == 0)
    dim.set_dim_value(size.dim_value() / divisor * factor);
}

// output [B, T, max(q_num_heads, kv_num_heads) * d_v], present_state [B, kv_num_heads, d_k, d_v].
void infer_linear_attention(InferenceContext& context) {
  same_types(context, 2);
  const std::int64_t q_heads = onnx::getAttribute(context, "q_num_heads", 0);
  const std::int64_t kv_heads = onnx::getAttribute(context, "kv_num_heads", 0);
  const std::int64_t window = onnx::getAttribute(context, "state_window", 0);
  constexpr std::int64_t most = 1 << 20;
  if (q_heads < 1 || kv_heads < 1 || q_heads > most || kv_heads > most) return;
  const auto *query = known_shape(context, 0, 3), *value = known_shape(context, 2, 3);
  if (query == nullptr) return;
  TensorShapeProto output, state;
  *output.add_dim() = query->dim(0), *output.add_dim() = query->dim(1);
  if (window > 0) state.add_dim()->set_dim_value(window);
  *state.add_dim() = query->dim(0);
  state.add_dim()->set_dim_value(kv_heads);
  auto &width = *output.add_dim(), &keys = *state.add_dim(), &values = *state.add_dim();
  set_product(keys, query->dim(2), q_heads, 1);
  if (value != nullptr) {
    set_product(values, value->dim(2), kv_heads, 1);
    set_product(width, value->dim(2), kv_heads, std::max(q_heads, kv_heads));
  }
  onnx::updateOutputShape(context, 0, output);
  if (context.getNumOutputs() > 1) onnx::updateOutputShape(context, 1, state);
}

// How long the state is; 0 where it is not known.
std::int64_t state_length(InferenceContext& context) {
  const auto* weight = known_shape(context, 1, 3);
  const std::int64_t dilation = onnx::getAttribute(context, "dilation", 1);
  if (weight == nullptr || !weight->dim(2).has_dim_value() || weight->dim(2).dim_value() < 1) return -1;
  constexpr std::int64_t most = 1 << 20;
  if (dilation < 1 || dilation > most || weight->dim(2).dim_value() > most) return -1;
  return (weight->dim(2).dim_value() - 1) * dilation;
}

void infer_causal_conv(InferenceContext& context) {
  same_types(context, 3);
  const auto* input = known_shape(context, 0, 3);
  if (input == nullptr) return;
  onnx::updateOutputShape(context, 0, *input);
  if (context.getNumOutputs() < 2) return;
  TensorShapeProto state = *input;
  auto& time = *state.mutable_dim(onnx::getAttribute(context, "channels_last", 0) == 1 ? 1 : 2);
  time.Clear();
  if (const std::int64_t length = state_length(context); length >= 0) time.set_dim_value(length);
  onnx::updateOutputShape(context, 1, state);
}

void infer_packed_causal_conv(InferenceContext& context) {
  same_types(context, 3);
  if (const auto* input = known_shape(context, 0, 2)) onnx::updateOutputShape(context, 0, *input);
  const auto* state = known_shape(context, 4, 3);
  if (state == nullptr) return;
  if (context.getNumOutputs() > 1) onnx::updateOutputShape(context, 1, *state);
  if (context.getNumOutputs() < 3) return;
  TensorShapeProto update;
  *update.add_dim() = state->dim(0);
  update.add_dim()->set_dim_value(onnx::getAttribute(context, "state_update_capacity", 0));
  *update.add_dim() = state->dim(1);
  onnx::updateOutputShape(context, 2, update);
}

// output [tokens..., num_heads_v, head_size_v]; final_state as initial_state.
void infer_delta_net(InferenceContext& context) {
  same_types(context, 1);
  for (std::size_t i = 1; i < context.getNumOutputs(); ++i)
    onnx::updateOutputElemType(context, i, onnx::TensorProto::FLOAT);
  const auto *state = known_shape(context, 6, 4), *value = known_shape(context, 2, 3);
  if (value != nullptr) {
    onnx::updateOutputShape(context, 0, *value);
  } else if (const auto* query = known_shape(context, 0, 2); query != nullptr && state != nullptr) {
    TensorShapeProto output = *query;
    *output.mutable_dim(output.dim_size() - 1) = state->dim(1);
    *output.add_dim() = state->dim(2);
    onnx::updateOutputShape(context, 0, output);
  }
  if (state != nullptr && context.getNumOutputs() > 1) onnx::updateOutputShape(context, 1, *state);
}

// output [batch_size, length, num_heads * head_size]; the presents as the pasts.
void infer_cached_attention(InferenceContext& context) {
  same_types(context, 3);
  const std::int64_t heads = onnx::getAttribute(context, "num_heads", 0);
  const auto *query = known_shape(context, 0, 3), *past = known_shape(context, 3, 4);
  if (query != nullptr) {
    TensorShapeProto output = *query;
    const bool packed = !context.hasInput(1);
    auto& width = *output.mutable_dim(2);
    if (packed) width.Clear();
    if (packed && past != nullptr && past->dim(3).has_dim_value() && heads > 0 && heads < (1 << 20))
      width.set_dim_value(heads * past->dim(3).dim_value());
    onnx::updateOutputShape(context, 0, output);
  }
  for (std::size_t i = 1; i < std::min<std::size_t>(3, context.getNumOutputs()); ++i)
    if (const auto* cache = known_shape(context, i + 2, 4)) onnx::updateOutputShape(context, i, *cache);
}

// output [batch_size, 1, v_hidden_size]; the presents as the pasts, with past_present_share_buffer.
void infer_decoder_attention(InferenceContext& context) {
  same_types(context, 4);
  const auto *query = known_shape(context, 0, 3), *value = known_shape(context, 2, 3);
  if (query != nullptr) {
    TensorShapeProto output = *query;
    if (!context.hasInput(1)) output.mutable_dim(2)->Clear();
    if (value != nullptr && value->dim_size() == 3) *output.mutable_dim(2) = value->dim(2);
    onnx::updateOutputShape(context, 0, output);
  }
  for (std::size_t i = 1; i < std::min<std::size_t>(3, context.getNumOutputs()); ++i)
    if (const auto* past = known_shape(context, i + 4, 4)) onnx::updateOutputShape(context, i, *past);
}

// Y [seq_length, num_directions, batch_size, hidden_size], Y_h and Y_c without the first axis.
void infer_attn_lstm(InferenceContext& context) {
  same_types(context, 3);
  const auto *X = known_shape(context, 0, 3), *R = known_shape(context, 2, 3);
  if (X == nullptr || R == nullptr) return;
  TensorShapeProto all, last;
  *all.add_dim() = X->dim(0);
  for (TensorShapeProto* shape : {&all, &last}) {
    *shape->add_dim() = R->dim(0), *shape->add_dim() = X->dim(1), *shape->add_dim() = R->dim(2);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(3, context.getNumOutputs()); ++i)
    onnx::updateOutputShape(context, i, i == 0 ? all : last);
}

constexpr AddedOperator state_rows[] = {
    {"AttnLSTM", "LSTM that attends to the memory M between its steps.",
     "activation_alpha: floats; activation_beta: floats; activations: strings; clip: float; "
     "direction: string = forward; hidden_size: int; input_forget: int = 0",
     "X: T; W: T; R: T; B: T?; sequence_lens: T1?; initial_h: T?; initial_c: T?; P: T?; QW: T?; MW: T?; V: "
     "T?; "
     "M: T?; memory_seq_lens: T1?; AW: T?",
     "Y: T?; Y_h: T?; Y_c: T?", "T: float, double; T1: int32", nullptr, infer_attn_lstm},
    {"CausalConvWithState", "CausalConvWithState of ai.onnx 27 with a dilation.",
     "activation: string = none; channels_last: int = 0; dilation: int = 1; input_channel_offset: int = 0; "
     "input_channels: int = 0; ndim: int = 1; state_channels_last: int = -1; state_length: int = 0; "
     "state_update_capacity: int = 0; state_window: int = 0",
     "input: T; weight: T; bias: T?; past_state: T?", "output: T; present_state: T; state_update: T?",
     "T: float, float16, bfloat16", nullptr, infer_causal_conv},
    {"DecoderMaskedMultiHeadAttention", "MultiHeadAttention of one query, which beams may share keys for.",
     "mask_filter_value: float; num_heads: int!; output_qk: int; past_present_share_buffer: int; scale: "
     "float",
     "query: T; key: T?; value: T?; mask_index: M?; attention_bias: T?; past_key: T?; past_value: T?; "
     "past_sequence_length: M?; beam_width: M?; cache_indirection: M?; bias: T?",
     "output: T; present_key: T?; present_value: T?; qk: QK?",
     "T: float, float16; QK: float, float16; M: int32", nullptr, infer_decoder_attention},
    {"GatedDeltaNet", "LinearAttention over tokens that lie one behind the other, with a state in float.",
     "beta_activation: string = none; chunk_size: int = 64; gate_activation: string = none; "
     "gate_lower_bound: float = -5; qk_l2_norm: int = 0; scale: float = 0; state_update_capacity: int = 0; "
     "update_rule: string = gated_delta",
     "query: T; key: T?; value: T?; cu_seqlens: TI?; decay: TG?; beta: TG?; initial_state: TS?; a_log: TS?; "
     "dt_bias: TS?; capture_count: TI?; state_update_active: TI?",
     "output: T; final_state: TS?; state_update: TS?",
     "T: float, float16, bfloat16; TS: float; TG: float, float16, bfloat16; TI: int32", nullptr,
     infer_delta_net},
    {"LinearAttention",
     "LinearAttention of ai.onnx 27 whose heads of keys and values may outnumber those of queries.",
     "chunk_size: int = 64; kv_num_heads: int!; q_num_heads: int!; scale: float = 0; state_window: int = 0; "
     "update_rule: string = gated_delta",
     "query: T; key: T; value: T; past_state: S?; decay: T?; beta: T?", "output: T; present_state: S",
     "T: float, float16, bfloat16; S: float, float16, bfloat16", nullptr, infer_linear_attention},
    {"SparseAttention", "Causal attention to the blocks of keys that a mask in CSR form lists.",
     "do_rotary: int; kv_num_heads: int!; num_heads: int!; rotary_interleaved: int; scale: float; "
     "sparse_block_size: int!",
     "query: T; key: T?; value: T?; past_key: T; past_value: T; block_row_indices: M; block_col_indices: M; "
     "total_sequence_length: M; key_total_sequence_lengths: M; cos_cache: T?; sin_cache: T?",
     "output: T; present_key: T; present_value: T", "T: float, float16, bfloat16; M: int32", nullptr,
     infer_cached_attention},
    {"VarlenCausalConvWithState", "CausalConvWithState of several sequences, one behind the other.",
     "activation: string = none; delta_offset: int = 0; dilation: int = 1; group_size: int = 1; "
     "state_update_capacity: int = 0",
     "input: T; weight: T; cumulative_sequence_length: M; bias: T?; initial_state: T; capture_count: M?; "
     "kernel_delta: T?; previous_mask: T?",
     "output: T; final_state: T; state_update: T?", "T: float, float16, bfloat16; M: int32", nullptr,
     infer_packed_causal_conv},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_state_schemas() {
  return schemas_of(state_rows, "com.microsoft");
}

}  // namespace grurun::opset
