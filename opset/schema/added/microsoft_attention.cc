// Attention as a composition of the standard's. What hides keys is added to the scores as mask_filter_value,
// so that a query without any key attends to all of them, which a boolean mask would not give.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

std::int64_t key_length(const BodyNode& node) {
  if (node.rank("query") == 5) return node.dim("query", 1);
  return node.dim("key", node.rank("key") == 4 ? 2 : 1);
}

// q, k and v [batch_size, length, num_heads * head_size]; of a 4-dimensional key, k and v with heads apart.
std::string split_inputs(const BodyNode& node) {
  std::string nodes = "packed = Constant <value_ints = [0, 0, -1]> () ";
  if (node.rank("query") == 5) {
    return nodes +
           "q_part, k_part, v_part = Split <axis = 3, num_outputs = 3> (query) q = Reshape(q_part, packed) "
           "k = Reshape(k_part, packed) v = Reshape(v_part, packed) ";
  }
  nodes += "q = Identity(query) ";
  if (!node.has("key")) fail_unsupported("without a key, query must have 5 dimensions");
  if (node.rank("key") == 5) {
    return nodes +
           "k_part, v_part = Split <axis = 3, num_outputs = 2> (key) k = Reshape(k_part, packed) "
           "v = Reshape(v_part, packed) ";
  }
  return nodes + "k = Identity(key) v = Identity(value) ";
}

// The bias of q, k and v one after the other; keys and values with heads apart have been through it.
std::string add_bias(const BodyNode& node) {
  if (!node.has("bias")) return "q_in = Identity(q) k_in = Identity(k) v_in = Identity(v) ";
  const std::size_t rank = node.rank("query");
  const std::int64_t hidden = rank == 5 ? node.dim("query", 2) * node.dim("query", 4) : node.dim("query", 2);
  const std::string split = fmt::format(
      "sizes = Constant <value_ints = {}> () q_bias, k_bias, v_bias = Split <axis = 0> (bias, sizes) ",
      list_text({hidden, hidden, node.dim("bias", 0) - 2 * hidden}));
  const std::string of_q = split + "q_in = Add(q, q_bias) ";
  if (rank == 3 && node.rank("key") == 4) return of_q + "k_in = Identity(k) v_in = Identity(v) ";
  return of_q + "k_in = Add(k, k_bias) v_in = Add(v, v_bias) ";
}

// visible, of a shape that broadcasts to [batch_size, num_heads, length, keys].
std::string visible_keys(const BodyNode& node, std::int64_t keys) {
  const std::size_t rank = node.rank("key_padding_mask");
  if (rank == 2 || rank == 3) {
    return fmt::format(
        "none = Constant <value_int = 0> () no = CastLike(none, key_padding_mask) "
        "seen = Greater(key_padding_mask, no) axes = Constant <value_ints = {}> () "
        "visible = Unsqueeze(seen, axes) ",
        rank == 2 ? "[1, 2]" : "[1]");
  }
  if (rank != 1) fail_unsupported("a mask of {} dimensions", rank);
  // Of 3 * batch_size + 2 numbers the first are lengths; the others add up lengths, for packed rows.
  const std::int64_t batch = node.dim("query", 0), count = node.dim("key_padding_mask", 0);
  const bool has_begins = count == 2 * batch;
  std::string nodes = fmt::format(
      "first = Constant <value_int = 0> () end = Constant <value_int = {}> () one = Constant <value_int = 1> "
      "() "
      "places = Range(first, end, one) mask = Cast <to = 7> (key_padding_mask) "
      "axes = Constant <value_ints = [1, 2, 3]> () parts = Constant <value_ints = {}> () "
      "front = Constant <value_ints = [0]> () length_count = Constant <value_ints = [{}]> () ",
      keys, list_text({batch, batch}), batch);
  if (!has_begins)
    return nodes +
           "lengths = Slice(mask, front, length_count) ends = Unsqueeze(lengths, axes) "
           "visible = Less(places, ends) ";
  return nodes +
         "end_part, begin_part = Split <axis = 0> (mask, parts) ends = Unsqueeze(end_part, axes) "
         "begins = Unsqueeze(begin_part, axes) before = Less(places, ends) "
         "behind = GreaterOrEqual(places, begins) visible = And(before, behind) ";
}

// Nodes that add the value more to what is added to the scores so far, named total.
void add_to(std::string& total, const std::string& more, std::string& nodes) {
  if (!total.empty()) nodes += fmt::format("{0}_{1} = Add({0}, {1}) ", total, more);
  total = total.empty() ? more : fmt::format("{}_{}", total, more);
}

// What is added to the scores; its name is total, or nothing where there is none.
std::string score_bias(const BodyNode& node, std::int64_t before, std::int64_t keys, std::string& total) {
  std::string nodes = "nought = Constant <value_float = 0.0> () shown = CastLike(nought, query) ";
  if (node.has("attention_bias")) total = "attention_bias";
  if (node.has("key_padding_mask")) {
    nodes += visible_keys(node, keys) +
             "low = Constant <value_float: float = @mask_filter_value> () hidden = CastLike(low, query) "
             "masked = Where(visible, shown, hidden) ";
    add_to(total, "masked", nodes);
  }
  const std::int64_t length = node.dim("query", 1);
  if (node.integer("unidirectional") == 0 || keys <= before + length) return nodes;
  // The package hides keys behind a query's place from all queries but the last, which sees those beyond the
  // queries, too.
  std::vector<std::int64_t> last(static_cast<std::size_t>(std::max<std::int64_t>(length, 1)), keys);
  for (std::size_t i = 0; i + 1 < last.size(); ++i) last[i] = before + static_cast<std::int64_t>(i);
  nodes += fmt::format(
      "last = Constant <value_ints = {}> () column = Constant <value_ints = [1]> () "
      "lasts = Unsqueeze(last, column) origin = Constant <value_int = 0> () "
      "stop = Constant <value_int = {}> () step = Constant <value_int = 1> () "
      "key_places = Range(origin, stop, step) ahead = Greater(key_places, lasts) "
      "lowest = Constant <value_float = -3.4028234e38> () never = CastLike(lowest, query) "
      "causal = Where(ahead, never, shown) ",
      list_text(last), keys);
  add_to(total, "causal", nodes);
  return nodes;
}

std::string multi_head_body(const BodyNode& node) {
  const std::int64_t past = node.has("past_key") ? node.dim("past_key", 2) : 0;
  const bool apart = node.rank("query") == 3 && node.has("key") && node.rank("key") == 4;
  std::string bias;
  std::string nodes =
      split_inputs(node) + add_bias(node) + score_bias(node, past, past + key_length(node), bias);
  if (apart) {
    nodes += fmt::format(
        "heads = Constant <value_ints = [0, 0, {}, -1]> () q_heads = Reshape(q_in, heads) "
        "q_apart = Transpose <perm = [0, 2, 1, 3]> (q_heads) ",
        node.integer("num_heads"));
  }
  std::string outputs = apart ? "y" : "output";
  const bool scores = node.wants("qk");
  if (node.wants("present_key") || node.wants("present_value") || scores)
    outputs += ", present_key, present_value";
  if (scores) outputs += ", qk";
  std::string attributes = bias.ends_with("causal") ? "is_causal = 0" : "is_causal: int = @unidirectional";
  if (!apart) attributes += ", q_num_heads: int = @num_heads, kv_num_heads: int = @num_heads";
  if (node.number("scale") != 0) attributes += ", scale: float = @scale";
  std::string inputs = fmt::format("{}, k_in, v_in, {}", apart ? "q_apart" : "q_in", bias);
  inputs += node.has("past_key") ? ", past_key, past_value" : "";
  while (inputs.ends_with(", ")) inputs.resize(inputs.size() - 2);
  nodes += fmt::format("{} = Attention <{}> ({}) ", outputs, attributes, inputs);
  if (apart) nodes += "y_rows = Transpose <perm = [0, 2, 1, 3]> (y) output = Reshape(y_rows, packed) ";
  return nodes;
}

// Of one number for each row, or one in all: the package takes it for a sign that there is none.
bool says_nothing(const BodyNode& node) {
  if (node.rank("mask_index") != 2 || node.dim("mask_index", 1) != 1) return false;
  node.accept_input("mask_index");
  return true;
}

// From the projected rows on: what Attention and QAttention share.
std::string attend(const BodyNode& node, const char* added) {
  const char* mask = node.has("mask_index") && !says_nothing(node) ? "mask_index" : "";
  std::string nodes;
  std::string past = ", , ";
  if (node.has("past")) {
    nodes +=
        "outer = Constant <value_ints = [0]> () "
        "key_part, value_part = Split <axis = 0, num_outputs = 2> (past) "
        "past_key = Squeeze(key_part, outer) past_value = Squeeze(value_part, outer) ";
    past = ", past_key, past_value";
  }
  const bool present = node.wants("present");
  std::string inputs = fmt::format("q, k, v, , {}, {}{}", mask, added, past);
  while (inputs.ends_with(", ")) inputs.resize(inputs.size() - 2);
  nodes += fmt::format(
      "output{} = com.microsoft.MultiHeadAttention <num_heads: int = @num_heads, scale: float = "
      "@scale, unidirectional: int = @unidirectional, mask_filter_value: float = "
      "@mask_filter_value> ({}) ",
      present ? ", present_key, present_value" : "", inputs);
  if (present) {
    nodes +=
        "front = Constant <value_ints = [0]> () keys = Unsqueeze(present_key, front) "
        "values = Unsqueeze(present_value, front) present = Concat <axis = 0> (keys, values) ";
  }
  return nodes;
}

std::string attention_body(const BodyNode& node) {
  std::string nodes = node.has("bias") ? "product = MatMul(input, weights) rows = Add(product, bias) "
                                       : "rows = MatMul(input, weights) ";
  const std::vector<std::int64_t> sizes = node.integers("qkv_hidden_sizes");
  if (sizes.empty()) {
    nodes += "q, k, v = Split <axis = -1, num_outputs = 3> (rows) ";
  } else {
    nodes += fmt::format("sizes = Constant <value_ints = {}> () q, k, v = Split <axis = -1> (rows, sizes) ",
                         list_text(sizes));
  }
  if (node.integer("do_rotary") != 0 || node.integer("past_present_share_buffer") != 0)
    fail_unsupported(
        "Attention with do_rotary or past_present_share_buffer is not done by onnxruntime's CPU package");
  node.integer("rotary_embedding_dim");  // of do_rotary
  return nodes + attend(node, node.has("attention_bias") ? "attention_bias" : "");
}

std::string quantized_attention_body(const BodyNode& node) {
  if (node.integer("do_rotary") != 0 || node.integer("past_present_share_buffer") != 0)
    fail_unsupported(
        "QAttention with do_rotary or past_present_share_buffer is not done by onnxruntime's CPU package");
  const bool from = node.has("weight_zero_point");
  return fmt::format(
             "product = MatMulInteger(input, weight, {}{}) whole = Cast <to = 1> (product) "
             "scale_of_both = Mul(input_scale, weight_scale) scaled = Mul(whole, scale_of_both) "
             "rows = Add(scaled, bias) q, k, v = Split <axis = -1, num_outputs = 3> (rows) ",
             node.has("input_zero_point") ? "input_zero_point" : "", from ? ", weight_zero_point" : "") +
         attend(node, "");
}

const TensorShapeProto* shape_of(const InferenceContext& context, std::size_t index, int rank) {
  if (index >= context.getNumInputs() || !onnx::hasInputShape(context, index)) return nullptr;
  const TensorShapeProto& shape = onnx::getInputShape(context, index);
  return shape.dim_size() == rank ? &shape : nullptr;
}

TensorShapeProto::Dimension known(std::int64_t value) {
  TensorShapeProto::Dimension dim;
  if (value >= 0) dim.set_dim_value(value);
  return dim;
}

void set_shape(InferenceContext& context, std::size_t output,
               std::initializer_list<TensorShapeProto::Dimension> dims) {
  if (output >= context.getNumOutputs()) return;
  TensorShapeProto shape;
  for (const auto& dim : dims) *shape.add_dim() = dim;
  onnx::updateOutputShape(context, output, shape);
}

std::int64_t value_of(const TensorShapeProto::Dimension& dim) {
  return dim.has_dim_value() ? dim.dim_value() : -1;
}

// Sizes; -1 where one is not known, or where they are too many.
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

std::int64_t head_size(std::int64_t hidden, std::int64_t heads) {
  return hidden < 0 || heads < 1 ? -1 : hidden / heads;
}

// output [batch_size, length, v_hidden_size], present_key and present_value [batch_size, num_heads, keys,
// size].
void infer_multi_head(InferenceContext& context) {
  for (std::size_t i = 0; i < context.getNumOutputs(); ++i)
    onnx::propagateElemTypeFromInputToOutput(context, 0, i);
  const std::int64_t heads = onnx::getAttribute(context, "num_heads", 0);
  const TensorShapeProto* packed = shape_of(context, 0, 5);
  const TensorShapeProto* query = shape_of(context, 0, 3);
  if (packed == nullptr && query == nullptr) return;
  const auto& batch = (packed != nullptr ? packed : query)->dim(0);
  const auto& length = (packed != nullptr ? packed : query)->dim(1);
  std::int64_t keys = -1, k_size = -1, v_size = -1;
  if (packed != nullptr) {
    keys = value_of(length), k_size = v_size = value_of(packed->dim(4));
  } else if (const auto* pair = shape_of(context, 1, 5)) {
    keys = value_of(pair->dim(1)), k_size = v_size = value_of(pair->dim(4));
  } else if (const auto* apart = shape_of(context, 1, 4)) {
    keys = value_of(apart->dim(2)), k_size = value_of(apart->dim(3));
    if (const auto* value = shape_of(context, 2, 4)) v_size = value_of(value->dim(3));
  } else if (const auto* key = shape_of(context, 1, 3)) {
    keys = value_of(key->dim(1)), k_size = head_size(value_of(key->dim(2)), heads);
    if (const auto* value = shape_of(context, 2, 3)) v_size = head_size(value_of(value->dim(2)), heads);
  }
  set_shape(context, 0, {batch, length, known(product_of(v_size, heads))});
  if (context.getNumInputs() > 6 && context.hasInput(6)) {
    const auto* past = shape_of(context, 6, 4);
    keys = past == nullptr ? -1 : sum_of(keys, value_of(past->dim(2)));
  }
  set_shape(context, 1, {batch, known(heads), known(keys), known(k_size)});
  set_shape(context, 2, {batch, known(heads), known(keys), known(v_size)});
  set_shape(context, 3, {batch, known(heads), length, known(keys)});
}

// output [batch_size, length, v_hidden_size], present [2, batch_size, num_heads, keys, head_size].
void infer_projected(InferenceContext& context, std::size_t weights, std::size_t past, int element_of) {
  for (std::size_t i = 0; i < context.getNumOutputs(); ++i)
    onnx::propagateElemTypeFromInputToOutput(context, static_cast<std::size_t>(element_of), i);
  const auto* input = shape_of(context, 0, 3);
  const auto* matrix = shape_of(context, weights, 2);
  if (input == nullptr || matrix == nullptr) return;
  const std::int64_t heads = onnx::getAttribute(context, "num_heads", 0);
  std::vector<std::int64_t> sizes;
  if (context.getAttribute("qkv_hidden_sizes") != nullptr)
    onnx::getRepeatedAttribute(context, "qkv_hidden_sizes", sizes);
  const std::int64_t columns = value_of(matrix->dim(1));
  const std::int64_t hidden = sizes.size() == 3 ? sizes[2] : columns < 0 ? -1 : columns / 3;
  set_shape(context, 0, {input->dim(0), input->dim(1), known(hidden)});
  std::int64_t keys = value_of(input->dim(1));
  if (past < context.getNumInputs() && context.hasInput(past)) {
    const auto* before = shape_of(context, past, 5);
    keys = before == nullptr ? -1 : sum_of(keys, value_of(before->dim(3)));
  }
  set_shape(context, 1,
            {known(2), input->dim(0), known(heads), known(keys), known(head_size(hidden, heads))});
}

void infer_attention(InferenceContext& context) {
  infer_projected(context, 1, 4, 0);
}

void infer_quantized_attention(InferenceContext& context) {
  infer_projected(context, 1, 8, 2);
}

constexpr AddedOperator attention_rows[] = {
    {"Attention",
     "Multi-head attention over input * weights + bias, whose columns are those of Q, K and V. past and "
     "present hold "
     "keys and values, [2, batch_size, num_heads, length, head_size].",
     "num_heads: int!; unidirectional: int = 0; qkv_hidden_sizes: ints; mask_filter_value: float = -10000; "
     "scale: float = 0; do_rotary: int = 0; rotary_embedding_dim: int = 0; past_present_share_buffer: int = "
     "0",
     "input: T; weights: T; bias: T?; mask_index: M?; past: T?; attention_bias: T?; past_sequence_length: M?",
     "output: T; present: T?", "T: float, float16, bfloat16; M: int32", attention_body, infer_attention},
    {"MultiHeadAttention",
     "Attention of query to key and value, [batch_size, length, num_heads * head_size], packed in one tensor "
     "of 5 "
     "dimensions, or keys and values with heads apart.",
     "num_heads: int!; unidirectional: int = 0; mask_filter_value: float = -10000; scale: float = 0",
     "query: T; key: T?; value: T?; bias: T?; key_padding_mask: M?; attention_bias: T?; past_key: T?; "
     "past_value: T?; "
     "past_sequence_length: M?; cache_indirection: M?",
     "output: T; present_key: T?; present_value: T?; qk: T?", "T: float, float16, bfloat16; M: int32",
     multi_head_body, infer_multi_head},
    {"QAttention", "Attention, its projection being a product of integers.",
     "num_heads: int!; unidirectional: int = 0; mask_filter_value: float = -10000; scale: float = 0; "
     "do_rotary: int = 0; past_present_share_buffer: int = 0",
     "input: T1; weight: T2; bias: T3; input_scale: T3; weight_scale: T3; mask_index: T4?; input_zero_point: "
     "T1?; "
     "weight_zero_point: T2?; past: T3?",
     "output: T3; present: T3?", "T1: int8, uint8; T2: int8, uint8; T3: float, float16; T4: int32",
     quantized_attention_body, infer_quantized_attention},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_attention_schemas() {
  return schemas_of(attention_rows, "com.microsoft");
}

}  // namespace grurun::opset
