// Attention in its forms.
#include "tests/engine/ops/bodies/body_table.h"

namespace grurun::engine::testing {

namespace {

// A modifier graph: op of its one input and itself.
onnx_io::Graph with_itself(const char* op) {
  onnx_io::Graph body;
  body.name = "modifier";
  body.inputs = {{"x", ValueType{}}};
  onnx_io::Node node;
  node.op_type = op;
  node.inputs = {"x", "x"};
  node.outputs = {"y"};
  body.nodes.push_back(node);
  body.outputs = {{"y", ValueType{}}};
  return body;
}

std::vector<BodyCase> flex_attention(BodyInputs& in) {
  const DType type = in.dtype("T1");
  const auto heads = [&](std::int64_t count, std::int64_t length, std::int64_t size) {
    return Value(in.uniform(type, Shape{2, count, length, size}, -1, 1));
  };
  std::vector<BodyCase> out = {
      {.note = "defaults", .inputs = {heads(3, 4, 6), heads(3, 5, 6), heads(3, 5, 7)}},
      {.note = "grouped, scale",
       .attributes = {attr("scale", 0.3f)},
       .inputs = {heads(6, 4, 5), heads(2, 3, 5), heads(2, 3, 5)}},
      {.note = "modifiers",
       .attributes = {attr("score_mod", with_itself("Mul")), attr("prob_mod", with_itself("Add"))},
       .inputs = {heads(2, 4, 5), heads(2, 3, 5), heads(2, 3, 5)}}};
  for (const DType precision : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    out.push_back({.note = std::string("softmax_precision ") + dtype_name(precision),
                   .attributes = {attr("softmax_precision", static_cast<std::int64_t>(precision))},
                   .inputs = {heads(2, 4, 5), heads(2, 3, 5), heads(2, 3, 5)},
                   .precision = precision});
  }
  return out;
}

/// Makes Attention's cases for one choice of types; inputs in the standard's order, Value() where omitted.
class AttentionCases {
 public:
  explicit AttentionCases(BodyInputs& in)
      : in_(in), type_(in.dtype("T1")), value_(in.dtype("T2")), mask_(in.dtype("U")) {}

  std::vector<BodyCase> all();

 private:
  Value q(Shape shape) { return Value(in_.uniform(type_, shape, -1, 1)); }
  Value v(Shape shape) { return Value(in_.uniform(value_, shape, -1, 1)); }
  Value mask(Shape shape) {
    const bool chooses = mask_ == DType::boolean;
    return Value(in_.uniform(mask_, shape, chooses || !is_floating(mask_) ? 0 : -1, 1));
  }
  void add(std::string note, Attributes attributes, std::vector<Value> inputs,
           std::vector<bool> outputs = {true}) {
    made_.push_back({.note = std::move(note),
                     .attributes = std::move(attributes),
                     .inputs = std::move(inputs),
                     .outputs = std::move(outputs),
                     // The root of the scale is a float in the body.
                     .precision = type_ == DType::float64 ? DType::float32 : DType::undefined});
  }
  std::vector<Value> heads(std::int64_t q_heads, std::int64_t kv_heads, std::int64_t q_length,
                           std::int64_t kv_length) {
    return {q({2, q_heads, q_length, 6}), q({2, kv_heads, kv_length, 6}), v({2, kv_heads, kv_length, 5})};
  }
  std::vector<Value> with(std::vector<Value> inputs, std::vector<Value> more) {
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  }

  void add_plain();
  void add_masks();
  void add_caches();
  void add_score_outputs();
  void add_external_cache();
  void add_windows();

  BodyInputs& in_;
  DType type_, value_, mask_;
  std::vector<BodyCase> made_;
};

void AttentionCases::add_plain() {
  add("4D", {}, heads(3, 3, 4, 5));
  add("grouped heads", {}, heads(4, 2, 3, 5));
  add("one head for all", {attr("scale", 0.25f)}, heads(4, 1, 3, 5));
  add("3D", {attr("q_num_heads", 4), attr("kv_num_heads", 2)}, {q({2, 3, 24}), q({2, 5, 12}), v({2, 5, 10})});
  add("softcap", {attr("softcap", 0.5f)}, heads(2, 2, 4, 5));
  add("causal", {attr("is_causal", 1)}, heads(2, 2, 4, 4));
  add("causal, more keys", {attr("is_causal", 1)}, heads(2, 2, 3, 7));
  add("causal, fewer keys", {attr("is_causal", 1)}, heads(2, 1, 7, 3));
  add("many rows", {attr("is_causal", 1)}, {q({1, 2, 70, 3}), q({1, 1, 70, 3}), v({1, 1, 70, 2})});
  for (const DType precision : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    add(std::string("softmax_precision ") + dtype_name(precision),
        {attr("softmax_precision", static_cast<std::int64_t>(precision)), attr("qk_matmul_output_mode", 3)},
        heads(2, 2, 4, 5), {true, false, false, true});
    if (precision != DType::float64) made_.back().precision = precision;
  }
}

void AttentionCases::add_masks() {
  add("mask of keys", {}, with(heads(3, 3, 4, 5), {mask({5})}));
  add("mask of queries and keys", {}, with(heads(3, 3, 4, 5), {mask({4, 5})}));
  add("mask of heads", {}, with(heads(4, 2, 4, 5), {mask({4, 1, 5})}));
  add("mask of everything", {}, with(heads(4, 2, 4, 5), {mask({2, 4, 4, 5})}));
  if (mask_ != DType::boolean && mask_ != type_) return;
  add("mask and causal", {attr("is_causal", 1)}, with(heads(3, 3, 5, 5), {mask({5, 5})}));
  add("no key for some", {},
      with(heads(2, 2, 3, 4),
           {mask_ == DType::boolean ? Value(in_.uniform(mask_, Shape{3, 4}, 0, 0)) : mask({3, 4})}));
  if (in_.since_version() >= 24) add("short mask", {}, with(heads(3, 3, 4, 5), {mask({4, 3})}));
}

void AttentionCases::add_caches() {
  const auto past = [&] { return std::vector<Value>{Value(), q({2, 2, 3, 6}), v({2, 2, 3, 5})}; };
  const std::vector<bool> present = {true, true, true};
  add("past", {}, with(heads(4, 2, 4, 5), past()), present);
  add("past, causal", {attr("is_causal", 1)}, with(heads(4, 2, 4, 4), past()), present);
  add("past, not shown", {attr("is_causal", 1)}, with(heads(4, 2, 4, 4), past()));
  add("present without a past", {}, heads(2, 2, 4, 5), present);
  add("3D, past", {attr("q_num_heads", 4), attr("kv_num_heads", 2)},
      with({q({2, 1, 24}), q({2, 1, 12}), v({2, 1, 10})}, past()), present);
  add("3D, present without a past", {attr("q_num_heads", 2), attr("kv_num_heads", 2)},
      {q({2, 3, 12}), q({2, 4, 12}), v({2, 4, 10})}, present);
}

void AttentionCases::add_score_outputs() {
  for (const int mode : {0, 1, 2, 3}) {
    const auto all = [&](const char* note, Attributes attributes, std::vector<Value> inputs) {
      attributes.push_back(attr("qk_matmul_output_mode", mode));
      add(std::string(note) + ", mode " + std::to_string(mode), std::move(attributes), std::move(inputs),
          {true, false, false, true});
    };
    all("scores", {}, heads(4, 2, 4, 5));
    all("scores, mask, causal, softcap", {attr("is_causal", 1), attr("softcap", 0.75f)},
        with(heads(4, 2, 5, 5), {mask({5, 5})}));
  }
}

void AttentionCases::add_external_cache() {
  const auto lengths = [](std::int64_t a, std::int64_t b) {
    return std::vector<Value>{Value(), Value(), Value(), Value(ints({a, b}))};
  };
  add("padding", {}, with(heads(2, 2, 3, 6), lengths(4, 6)));
  add("padding, causal", {attr("is_causal", 1)}, with(heads(4, 2, 3, 6), lengths(3, 5)));
  add("padding, more queries than keys", {attr("is_causal", 1)}, with(heads(2, 2, 4, 6), lengths(2, 0)));
  if (mask_ != DType::boolean && mask_ != type_) return;
  add("padding, short mask", {attr("is_causal", 1)},
      with(heads(2, 2, 3, 6), {mask({3, 5}), Value(), Value(), Value(ints({4, 5}))}));
}

void AttentionCases::add_windows() {
  const auto window = [](int left, int right) {
    return Attributes{attr("left_window_size", left), attr("right_window_size", right)};
  };
  add("left window", window(2, -1), heads(2, 2, 6, 6));
  add("right window", window(-1, 1), heads(2, 2, 6, 6));
  add("both", window(1, 1), heads(4, 2, 6, 8));
  add("no width", window(0, 0), heads(2, 2, 4, 4));
  Attributes causal = window(2, 3);
  causal.push_back(attr("is_causal", 1));
  add("causal window behind a past", causal,
      with(heads(2, 2, 4, 4), {Value(), q({2, 2, 3, 6}), v({2, 2, 3, 5})}), {true, true, true});
  add("causal window in an external cache", causal,
      with(heads(2, 2, 3, 6), {Value(), Value(), Value(), Value(ints({3, 6}))}));
  add("window and mask", window(1, 1), with(heads(2, 2, 4, 4), {mask({2, 4, 4})}));
}

std::vector<BodyCase> AttentionCases::all() {
  if (type_ != value_) {
    add("V of another type", {}, with(heads(4, 2, 4, 5), {mask({4, 5})}));
    return differing(std::move(made_), true,
                     "the body multiplies probabilities of T1 by V, and MatMul takes one type");
  }
  add_masks();
  if (mask_ != DType::boolean && mask_ != type_) return made_;
  add_plain();
  add_caches();
  add_score_outputs();
  if (in_.since_version() >= 24) add_external_cache();
  if (in_.since_version() >= 25) add_windows();
  return made_;
}

std::vector<BodyCase> attention(BodyInputs& in) {
  return AttentionCases(in).all();
}

std::vector<BodyCase> linear_attention(BodyInputs& in) {
  const DType type = in.dtype("T"), state = in.dtype("S");
  const std::int64_t batch = 2, length = 4, dk = 3, dv = 5;
  std::vector<BodyCase> out;
  for (const std::string rule : {"linear", "gated", "delta", "gated_delta"}) {
    const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
    const auto add = [&](const char* note, std::int64_t q_heads, std::int64_t kv_heads, bool past,
                         std::int64_t decay, std::int64_t beta, float scale) {
      const auto packed = [&](std::int64_t width, double low, double high) {
        return Value(in.uniform(type, Shape{batch, length, width}, low, high));
      };
      BodyCase made{
          .note = std::string(note) + ", " + rule,
          .attributes = {attr("q_num_heads", q_heads), attr("kv_num_heads", kv_heads), attr("scale", scale),
                         attr("update_rule", rule.c_str())},
          .inputs = {packed(q_heads * dk, -1, 1), packed(kv_heads * dk, -1, 1), packed(kv_heads * dv, -1, 1)},
          .outputs = {true, true}};
      made.inputs.push_back(past ? Value(in.uniform(state, Shape{batch, kv_heads, dk, dv}, -1, 1)) : Value());
      made.inputs.push_back(gated ? packed(decay, -1, 0) : Value());
      made.inputs.push_back(delta ? packed(beta, 0, 1) : Value());
      out.push_back(std::move(made));
    };
    add("from zeros", 2, 2, false, 2 * dk, 2, 0);
    add("from a state", 2, 2, true, 2 * dk, 2, 0);
    add("decay by head, one beta", 2, 2, true, 2, 1, 0);
    add("grouped heads", 4, 2, true, 2 * dk, 2, 0.5f);
    add("one head for all", 3, 1, true, 1, 1, 0);
  }
  return out;
}

}  // namespace

std::vector<BodyRow> attention_body_rows() {
  return {{"Attention", 3, attention},
          {"LinearAttention", 3, linear_attention},
          {"ai.onnx.preview.FlexAttention", 2, flex_attention, /*planned_apart=*/true}};
}

}  // namespace grurun::engine::testing
