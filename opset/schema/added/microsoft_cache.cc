// GroupQueryAttention: the standard's Attention over a cache that the node itself fills. The entries of a
// batch stand at places of their own in it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "onnx/defs/shape_inference.h"
#include "opset/schema/added/microsoft.h"
#include "opset/schema/added/microsoft_cache_window.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

constexpr std::int64_t most_heads = 1 << 20;

// q, k and v [batch_size, heads, length, head_size].
std::string heads_apart(const BodyNode& node, std::int64_t heads, std::int64_t kv_heads, std::int64_t size) {
  std::string nodes;
  if (node.has("key")) {
    nodes = "q_rows = Identity(query) k_rows = Identity(key) v_rows = Identity(value) ";
  } else {
    nodes = fmt::format(
        "sizes = Constant <value_ints = {}> () q_rows, k_rows, v_rows = Split <axis = -1> (query, sizes) ",
        list_text({heads * size, kv_heads * size, kv_heads * size}));
  }
  for (const char* name : {"q", "k", "v"}) {
    nodes += fmt::format(
        "{0}_shape = Constant <value_ints = {1}> () {0}_heads = Reshape({0}_rows, {0}_shape) "
        "{0}_new = Transpose <perm = [0, 2, 1, 3]> ({0}_heads) ",
        name, list_text({0, 0, *name == 'q' ? heads : kv_heads, size}));
  }
  return nodes;
}

// before, new_count [batch_size]: how many keys an entry had and is given; steps [length].
std::string places(const BodyNode& node, std::int64_t length) {
  return fmt::format(
             "one = Constant <value_int = 1> () none = Constant <value_int = 0> () "
             "length = Constant <value_int = {}> () column = Constant <value_ints = [1]> () "
             "flat = Constant <value_ints = [-1]> () last_key = Cast <to = 7> (seqlens_k) "
             "last_flat = Reshape(last_key, flat) keys_now = Add(last_flat, one) ",
             length) +
         (node.has("query_seqlens") ? "given_count = Cast <to = 7> (query_seqlens) "
                                      "new_count = Reshape(given_count, flat) "
                                    : "new_count = Min(keys_now, length) ") +
         "before = Sub(keys_now, new_count) "
         "steps = Range(none, length, one) first_place = Unsqueeze(before, column) "
         "place = Add(first_place, steps) wide_total = Cast <to = 7> (total_sequence_length) "
         "total = Reshape(wide_total, column) ";
}

std::string rotated(const BodyNode& node, std::int64_t heads_size) {
  if (node.integer("do_rotary") == 0) {
    node.integer("rotary_interleaved");
    return "q = Identity(q_new) k = Identity(k_new) ";
  }
  const std::int64_t rotary = 2 * node.dim("cos_cache", 1);
  std::string nodes;
  for (const char* name : {"q", "k"}) {
    nodes += fmt::format(
        "{0} = RotaryEmbedding <interleaved: int = @rotary_interleaved, rotary_embedding_dim = {1}> "
        "({0}_new, cos_cache, sin_cache, {2}) ",
        name, rotary == heads_size ? 0 : rotary, node.has("position_ids") ? "position_ids" : "place");
  }
  return nodes;
}

// How the caches hold keys and values; 0 bits: as they are.
struct Quantization {
  std::int64_t bits = 0;
  bool by_channel[2] = {false, false};  // of keys, of values
};

Quantization quantization(const BodyNode& node) {
  Quantization made;
  const std::int64_t bits = node.integer("kv_cache_bit_width");
  int quantized = 0;
  for (const auto& [attribute, index] : {std::pair("k_quant_type", 0), std::pair("v_quant_type", 1)}) {
    const std::string type = node.text(attribute);
    if (type != "NONE" && type != "PER_TENSOR" && type != "PER_CHANNEL")
      fail_invalid("{} is {}, but must be NONE, PER_TENSOR or PER_CHANNEL", attribute, type);
    made.by_channel[index] = type == "PER_CHANNEL";
    quantized += type == "NONE" ? 0 : 1;
  }
  if (quantized == 0) return made;
  if (quantized == 1) fail_unsupported("GroupQueryAttention with keys or values alone quantized");
  if (bits != 4 && bits != 8) fail_unsupported("GroupQueryAttention with a cache of {} bits", bits);
  if (!node.has("k_scale") || !node.has("v_scale"))
    fail_invalid("a quantized cache needs k_scale and v_scale");
  made.bits = bits;
  return made;
}

std::string reshaped_to(std::string_view in, std::string_view out, const std::vector<std::int64_t>& shape) {
  return fmt::format("{0}_shape = Constant <value_ints = {1}> () {0} = Reshape({2}, {0}_shape) ", out,
                     list_text(shape), in);
}

// name_numbers: what a cache holds, as floats. Of 4 bits two are in a byte, the first in the lower ones, 8
// more than they are.
std::string cache_numbers(std::string_view past, std::string_view name, std::int64_t bits,
                          std::int64_t size) {
  if (bits == 8) return fmt::format("{1}_numbers = Cast <to = 1> ({0}) ", past, name);
  return fmt::format(
             "{1}_mask = Constant <value = uint8[1] {{15}}> () {1}_by = Constant <value = uint8[1] {{4}}> () "
             "{1}_last = Constant <value_ints = [-1]> () {1}_low = BitwiseAnd({0}, {1}_mask) "
             "{1}_high = BitShift <direction = \"RIGHT\"> ({0}, {1}_by) "
             "{1}_low_part = Unsqueeze({1}_low, {1}_last) {1}_high_part = Unsqueeze({1}_high, {1}_last) "
             "{1}_pairs = Concat <axis = -1> ({1}_low_part, {1}_high_part) ",
             past, name) +
         reshaped_to(fmt::format("{}_pairs", name), fmt::format("{}_codes", name), {0, 0, 0, size}) +
         fmt::format(
             "{0}_wide = Cast <to = 1> ({0}_codes) {0}_middle = Constant <value_float = 8.0> () "
             "{0}_numbers = Sub({0}_wide, {0}_middle) ",
             name);
}

// The other way round.
std::string packed_numbers(std::string_view numbers, std::string_view present, std::int64_t bits,
                           std::int64_t size) {
  if (bits == 8) return fmt::format("{1} = Cast <to = 3> ({0}) ", numbers, present);
  return fmt::format(
             "{1}_middle = Constant <value_float = 8.0> () {1}_more = Add({0}, {1}_middle) "
             "{1}_bytes = Cast <to = 2> ({1}_more) ",
             numbers, present) +
         reshaped_to(fmt::format("{}_bytes", present), fmt::format("{}_pairs", present),
                     {0, 0, 0, size / 2, 2}) +
         fmt::format(
             "{0}_low, {0}_high = Split <axis = -1, num_outputs = 2> ({0}_pairs) "
             "{0}_by = Constant <value = uint8[1] {{4}}> () "
             "{0}_moved = BitShift <direction = \"LEFT\"> ({0}_high, {0}_by) "
             "{0}_both = BitwiseOr({0}_low, {0}_moved) ",
             present) +
         reshaped_to(fmt::format("{}_both", present), present, {0, 0, 0, size / 2});
}

// name_step and name_now: the scale of a cache, and what is put into it, rounded to its numbers.
std::string quantized_now(std::string_view now, std::string_view scale, std::string_view name,
                          const std::vector<std::int64_t>& shape, std::int64_t bits) {
  return reshaped_to(scale, fmt::format("{}_step", name), shape) +
         fmt::format(
             "{1}_real = Cast <to = 1> ({0}) {1}_steps = Div({1}_real, {1}_step) {1}_round = "
             "Round({1}_steps) "
             "{1}_least = Constant <value_float = {2}.0> () {1}_most = Constant <value_float = {3}.0> () "
             "{1}_above = Max({1}_round, {1}_least) {1}_now = Min({1}_above, {1}_most) ",
             now, name, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);
}

// name_present: of a cache that holds all keys, with the new ones at their places; as long as the past, or as
// all. What is not a key then is empty where padding was put in.
std::string scattered(const BodyNode& node, std::string_view past, std::string_view before,
                      std::string_view now, std::string_view present) {
  const bool padded = node.has("query_seqlens");
  std::string nodes = fmt::format(
      "{0}_empty = CastLike(emptiness, {1}) {0}_long = Pad({1}, pads, {0}_empty) "
      "{2} = TensorScatter <axis = 2> ({0}_long, {3}, before) ",
      past, before, padded ? fmt::format("{}_all", past) : present, now);
  if (padded)
    nodes += fmt::format(
        "{0}_rows = Shape <start = 2, end = 3> ({0}_all) {0}_count = Squeeze({0}_rows) "
        "{0}_row = Range(none, {0}_count, one) {0}_column = Unsqueeze(keys_now, column) "
        "{0}_flat = Less({0}_row, {0}_column) {0}_around = Constant <value_ints = [1, 3]> () "
        "{0}_is_key = Unsqueeze({0}_flat, {0}_around) {1} = Where({0}_is_key, {0}_all, {0}_empty) ",
        past, present);
  return nodes;
}

// present_key and present_value: what the caches hold then. all_keys and all_values: the numbers that are
// looked at.
std::string cached(const BodyNode& node, std::int64_t kv_heads, std::int64_t size,
                   const CacheWindow& window) {
  const Quantization quantized = quantization(node);
  const bool has_past = node.has("past_key"), slides = window.capacity > 0;
  // What is not written yet is 0 in memory.
  std::string nodes =
      fmt::format("emptiness = Constant <value_float = {}.0> () ", quantized.bits == 4 ? -8 : 0);
  if (slides) {
    nodes += window_rows(window);
  } else if (has_past) {
    nodes +=
        "past_length = Shape <start = 2, end = 3> (past_key) missing = Sub(total, past_length) "
        "more = Max(missing, none) sides = Constant <value_ints = [0, 0, 0, 0, 0, 0]> () "
        "end_side = Constant <value_ints = [0]> () pads = Concat <axis = 0> (sides, more, end_side) ";
  }
  struct Cache {
    const char *past, *now, *scale, *present, *all;
  };
  int index = 0;
  for (const Cache& of : {Cache{"past_key", "k", "k_scale", "present_key", "all_keys"},
                          Cache{"past_value", "v_new", "v_scale", "present_value", "all_values"}}) {
    std::string before = of.past, now = of.now, present = of.present;
    if (quantized.bits != 0) {
      const bool by_channel = quantized.by_channel[index++];
      const std::vector<std::int64_t> one{1, 1, 1, 1}, each{1, kv_heads, 1, size};
      nodes += quantized_now(of.now, of.scale, of.all, by_channel ? each : one, quantized.bits);
      if (has_past) nodes += cache_numbers(of.past, of.past, quantized.bits, size);
      before += "_numbers", now = fmt::format("{}_now", of.all), present += "_numbers";
    }
    std::string seen = present;
    if (slides) {
      seen = fmt::format("{}_rows", of.all);
      nodes += fmt::format("{} = Concat <axis = 2> ({}, {}) ", seen, before, now) +
               kept_rows(seen, present, "emptiness");
    } else if (has_past) {
      nodes += scattered(node, of.past, before, now, present);
    } else {
      nodes += fmt::format("{} = Identity({}) ", present, now);
    }
    if (quantized.bits == 0) {
      nodes += fmt::format("{} = Identity({}) ", of.all, seen);
    } else {
      nodes += packed_numbers(present, of.present, quantized.bits, size) +
               fmt::format("{0}_wide = Mul({1}, {0}_step) {0} = CastLike({0}_wide, query) ", of.all, seen);
    }
  }
  return nodes;
}

// keys and values that are looked at, and visible [batch_size, 1, length, keys].
std::string seen_keys(const BodyNode& node, const CacheWindow& window) {
  const std::string nodes =
      "outer = Constant <value_ints = [1, 3]> () query_place = Unsqueeze(place, outer) ";
  if (window.capacity > 0)
    return nodes + "keys = Identity(all_keys) values = Identity(all_values) " + visible_rows(window);
  const std::string all = nodes +
                          "first_key = Constant <value_ints = [0]> () third = Constant <value_ints = [2]> () "
                          "keys = Slice(all_keys, first_key, total, third) "
                          "values = Slice(all_values, first_key, total, third) "
                          "total_scalar = Squeeze(total) key_place = Range(none, total_scalar, one) ";
  if (node.integer("causal") == 0)
    return all +
           "inner = Constant <value_ints = [1, 2, 3]> () key_count = Unsqueeze(keys_now, inner) "
           "no_query = Mul(query_place, none) limit = Add(no_query, key_count) "
           "visible = Less(key_place, limit) ";
  if (node.integer("local_window_size") <= 0) return all + "visible = LessOrEqual(key_place, query_place) ";
  return all + fmt::format(
                   "reached = LessOrEqual(key_place, query_place) window = Constant <value_int = {}> () "
                   "gone = Sub(query_place, window) recent = Greater(key_place, gone) "
                   "visible = And(reached, recent) ",
                   node.integer("local_window_size"));
}

// added: what hides keys and attention_bias, [batch_size, 1 or num_heads, length, keys].
std::string hidden_keys(const BodyNode& node, std::int64_t batch, std::int64_t heads,
                        const CacheWindow& window) {
  const std::string nodes =
      seen_keys(node, window) +
      "zero_number = Constant <value_float = 0.0> () zero = CastLike(zero_number, query) "
      "lowest = Constant <value_float = -3.4028234e38> () hidden = CastLike(lowest, query) ";
  if (!node.has("attention_bias")) return nodes + "added = Where(visible, zero, hidden) ";
  if (window.capacity > 0)
    return nodes + columns_of_rows(batch, heads, window) + "added = Where(visible, columns, hidden) ";
  return nodes + "masked = Where(visible, zero, hidden) added = Add(masked, attention_bias) ";
}

// A key of zeros more, with a value of zeros: its score is head_sink, or 0.
std::string with_sink(const BodyNode& node, std::int64_t batch, std::int64_t heads, std::int64_t length) {
  std::string nodes =
      "one_more = Constant <value_ints = [0, 0, 0, 0, 0, 0, 1, 0]> () sunk_keys = Pad(keys, one_more) "
      "sunk_values = Pad(values, one_more) ";
  nodes += fmt::format("sink_shape = Constant <value_ints = {}> () sink_all = Constant <value_ints = {}> () ",
                       list_text({1, heads, 1, 1}), list_text({batch, heads, length, 1}));
  if (node.has("head_sink")) {
    nodes += "sink = Reshape(head_sink, sink_shape) ";
  } else {
    nodes += "sink = Expand(zero, sink_shape) ";
  }
  return nodes +
         "sink_column = Expand(sink, sink_all) zero_heads = Expand(zero, sink_shape) "
         "of_heads = Add(added, zero_heads) sunk = Concat <axis = -1> (of_heads, sink_column) ";
}

CacheWindow cache_window(const BodyNode& node, std::int64_t length) {
  const bool slides = node.integer("sliding_window_cache") != 0, has_past = node.has("past_key");
  const bool wanted = node.wants("output_qk");
  GroupQueryForm form{node.integer("causal"),
                      node.integer("local_window_size"),
                      slides ? 1 : 0,
                      node.integer("qk_output"),
                      has_past,
                      node.has("query_seqlens"),
                      wanted,
                      std::nullopt};
  if (slides && has_past) form.capacity = node.dim("past_key", 2);
  if (const auto fault = form_fault(form)) fail_invalid("{}", *fault);
  if (!slides) return {};
  if (wanted) fail_unsupported("GroupQueryAttention with output_qk of a cache that slides");
  return {*form.capacity, form.local_window_size, length};
}

// output_qk [batch_size, num_heads, length, total], 0 of hidden keys, without what with_sink added.
std::string output_products(const BodyNode& node) {
  if (!node.wants("output_qk")) return "";
  return "zero_start = Constant <value_ints = [0]> () last_axis = Constant <value_ints = [3]> () "
         "all_products = Slice(products, zero_start, total, last_axis) "
         "output_qk = Where(visible, all_products, zero) ";
}

std::string group_query_body(const BodyNode& node) {
  const std::int64_t heads = node.integer("num_heads"), kv_heads = node.integer("kv_num_heads");
  if (heads < 1 || kv_heads < 1 || heads > most_heads || kv_heads > most_heads)
    fail_invalid("num_heads is {} and kv_num_heads {}: no numbers of heads", heads, kv_heads);
  const std::int64_t batch = node.dim("query", 0), length = node.dim("query", 1);
  const std::int64_t all = node.has("key") ? heads : heads + 2 * kv_heads;
  const std::int64_t size = node.dim("query", 2) / std::max<std::int64_t>(all, 1);
  const CacheWindow window = cache_window(node, length);
  const bool sinks = node.integer("smooth_softmax") == 1 || node.has("head_sink");
  std::string nodes = heads_apart(node, heads, kv_heads, size) + places(node, length) + rotated(node, size) +
                      cached(node, kv_heads, size, window) + hidden_keys(node, batch, heads, window);
  if (sinks) nodes += with_sink(node, batch, heads, length);
  std::string attributes = "softcap: float = @softcap";
  if (node.number("scale") != 0) attributes += ", scale: float = @scale";
  const std::int64_t products = node.integer("qk_output");
  const bool wanted = node.wants("output_qk");
  if (wanted) attributes += fmt::format(", qk_matmul_output_mode = {}", products == 2 ? 3 : 2);
  const bool padded = node.has("query_seqlens");
  nodes += fmt::format(
      "y{} = Attention <{}> (q, {}) y_rows = Transpose <perm = [0, 2, 1, 3]> (y) "
      "packed = Constant <value_ints = [0, 0, -1]> () {} = Reshape(y_rows, packed) ",
      wanted ? ", unused_keys, unused_values, products" : "", attributes,
      sinks ? "sunk_keys, sunk_values, sunk" : "keys, values, added", padded ? "y_packed" : "output");
  if (padded)
    nodes +=
        "new_counts = Unsqueeze(new_count, column) is_query_flat = Less(steps, new_counts) "
        "behind = Constant <value_ints = [2]> () is_query = Unsqueeze(is_query_flat, behind) "
        "output = Where(is_query, y_packed, zero) ";
  return nodes + output_products(node);
}

// output [batch_size, length, num_heads * head_size], present [batch_size, kv_num_heads, ?, head_size].
void infer_group_query(onnx::InferenceContext& context) {
  const std::string type = onnx::getAttribute(context, "k_quant_type", "NONE");
  const bool quantized = type != "NONE", halved = onnx::getAttribute(context, "kv_cache_bit_width", 0) == 4;
  for (std::size_t i = 0; i < context.getNumOutputs(); ++i) {
    const bool of_cache = i == 1 || i == 2;
    if (of_cache && quantized && !context.hasInput(3)) {
      onnx::updateOutputElemType(context, i, halved ? onnx::TensorProto::UINT8 : onnx::TensorProto::INT8);
    } else {
      onnx::propagateElemTypeFromInputToOutput(context, of_cache && context.hasInput(3) ? 3 : 0, i);
    }
  }
  if (!onnx::hasInputShape(context, 0)) return;
  const auto& query = onnx::getInputShape(context, 0);
  if (query.dim_size() != 3) return;
  const std::int64_t heads = onnx::getAttribute(context, "num_heads", 0);
  const std::int64_t kv_heads = onnx::getAttribute(context, "kv_num_heads", 0);
  if (heads < 1 || kv_heads < 1 || heads > most_heads || kv_heads > most_heads) return;
  const bool packed = context.getNumInputs() < 2 || !context.hasInput(1);
  const std::int64_t all = packed ? heads + 2 * kv_heads : heads;
  onnx::TensorShapeProto output, present;
  *output.add_dim() = query.dim(0), *output.add_dim() = query.dim(1);
  *present.add_dim() = query.dim(0), present.add_dim()->set_dim_value(kv_heads), present.add_dim();
  auto& width = *output.add_dim();
  auto& size = *present.add_dim();
  if (query.dim(2).has_dim_value() && all > 0) {
    size.set_dim_value(query.dim(2).dim_value() / all);
    width.set_dim_value(size.dim_value() * heads);
    if (quantized && halved) size.set_dim_value(size.dim_value() / 2);
  }
  onnx::updateOutputShape(context, 0, output);
  for (std::size_t i = 1; i < std::min<std::size_t>(3, context.getNumOutputs()); ++i)
    onnx::updateOutputShape(context, i, present);
}

constexpr AddedOperator cache_rows[] = {
    {"GroupQueryAttention",
     "Causal attention whose query heads share kv_num_heads heads of keys and values, which are put into the "
     "cache "
     "behind those of the past. seqlens_k: how many keys each entry then has, less 1.",
     "causal: int = 1; do_rotary: int = 0; k_norm_epsilon: float; k_quant_type: string = NONE; "
     "kv_cache_bit_width: int; "
     "kv_num_heads: int!; local_window_size: int = -1; num_heads: int!; q_norm_epsilon: float; "
     "qk_norm_epsilon: float = 1e-6; qk_output: int = 0; rotary_interleaved: int = 0; scale: float = 0; "
     "sliding_window_cache: int = 0; smooth_softmax: int = 0; softcap: float = 0; v_quant_type: string = "
     "NONE",
     "query: T; key: T?; value: T?; past_key: C?; past_value: C?; seqlens_k: M; total_sequence_length: M; "
     "cos_cache: T?; sin_cache: T?; position_ids: tensor(int64)?; attention_bias: T?; head_sink: T?; "
     "k_scale: tensor(float)?; v_scale: tensor(float)?; q_norm_weight: T?; k_norm_weight: T?; query_seqlens: "
     "M?",
     "output: T; present_key: C?; present_value: C?; output_qk: T?",
     "T: float, float16, bfloat16; C: float, float16, bfloat16, uint8, int8, float8e4m3fn; M: int32",
     group_query_body, infer_group_query},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_cache_schemas() {
  return schemas_of(cache_rows, "com.microsoft");
}

}  // namespace grurun::opset
