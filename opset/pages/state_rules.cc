#include <string>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

void check_shared_heads(const NodeFacts& facts) {
  const Size q = size_of(facts.shape(0), 1), kv = size_of(facts.shape(1), 1);
  if (q && kv && *q != *kv && (*kv == 0 || *q % *kv != 0))
    fail_invalid("{} heads of Q cannot share {} heads of K and V evenly", *q, *kv);
}

void check_causal_state(const NodeFacts& facts) {
  const SymbolicShape* weight = facts.shape(1);
  const Size taps = size_of(weight, 2);
  if (taps && *taps < 1) fail_invalid("weight is {}: it has no taps", to_string(*weight));
  if (taps && size_of(facts.shape(3), 2).value_or(*taps - 1) != *taps - 1)
    fail_invalid("past_state is {}, but must have one place less than the {} taps of weight",
                 to_string(*facts.shape(3)), *taps);
}

void check_linear_attention(const NodeFacts& facts) {
  const onnx_io::Attribute* stated = facts.attribute("update_rule");
  const std::string rule = stated == nullptr ? "gated_delta" : stated->s;
  const bool shares = facts.domain() == "com.microsoft";  // heads of keys, and has inputs without effect
  const auto require = [&](std::size_t input, bool needed) {
    if (facts.has_input(input) != needed && (needed || !shares))
      fail_invalid("update_rule {} {} {}", rule, needed ? "needs" : "has no use for",
                   input_name(facts, input));
  };
  require(4, rule.starts_with("gated"));
  require(5, rule.ends_with("delta"));
  const std::int64_t q_heads = facts.int_attribute("q_num_heads", 1);
  const std::int64_t kv_heads = facts.int_attribute("kv_num_heads", 1);
  const bool is_positive = q_heads >= 1 && kv_heads >= 1;
  if (shares && is_positive && q_heads % kv_heads != 0 && kv_heads % q_heads != 0)
    fail_invalid("q_num_heads is {} and kv_num_heads {}: one must divide the other", q_heads, kv_heads);
  if (!is_positive || (!shares && q_heads % kv_heads != 0))
    fail_invalid("q_num_heads is {}, but must be a multiple of kv_num_heads, which is {}", q_heads, kv_heads);
  const auto head_size = [&](std::size_t input, std::int64_t heads) {
    const Size hidden = size_of(facts.shape(input), 2);
    if (hidden && *hidden % heads != 0)
      fail_invalid("{} is {}: its last size does not divide by its {} heads", input_name(facts, input),
                   to_string(*facts.shape(input)), heads);
    return hidden ? Size(*hidden / heads) : hidden;
  };
  const Size d_k = head_size(0, q_heads), d_v = head_size(2, kv_heads), keys = count_of({kv_heads, d_k});
  const auto require_width = [&](std::size_t input, const Size& first, const Size& second) {
    const Size width = size_of(facts.shape(input), 2);
    if (!width || !first || !second || *width == *first || *width == *second) return;
    fail_invalid("{} is {}: its last size must be {}{}", input_name(facts, input),
                 to_string(*facts.shape(input)), *first,
                 *first == *second ? "" : " or " + std::to_string(*second));
  };
  const Size key_width = size_of(facts.shape(1), 2);
  const bool shares_keys = shares && d_k.value_or(0) > 0 && key_width.value_or(0) > 0 &&
                           *key_width % *d_k == 0 && kv_heads % (*key_width / *d_k) == 0;
  if (!shares_keys) require_width(1, keys, keys);
  // What has no effect is not judged.
  if (rule.starts_with("gated")) require_width(4, kv_heads, keys);
  if (rule.ends_with("delta")) require_width(5, kv_heads, 1);
  Sizes state{size_of(facts.shape(0), 0), kv_heads, d_k, d_v};
  const std::int64_t window = facts.int_attribute("state_window", 0);
  if (window > 0) state.insert(state.begin(), window);
  require_sizes("past_state", facts.shape(3), state,
                window > 0 ? "[state_window, batch_size, kv_num_heads, size of a key, size of a value]"
                           : "[batch_size, kv_num_heads, size of a key, size of a value]");
}

}  // namespace grurun::opset
