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
  const auto require = [&](std::size_t input, bool needed) {
    if (facts.has_input(input) != needed)
      fail_invalid("update_rule {} {} {}", rule, needed ? "needs" : "has no use for",
                   input_name(facts, input));
  };
  require(4, rule.starts_with("gated"));
  require(5, rule.ends_with("delta"));
  const std::int64_t q_heads = facts.int_attribute("q_num_heads", 1);
  const std::int64_t kv_heads = facts.int_attribute("kv_num_heads", 1);
  if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0)
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
  require_width(1, keys, keys);
  require_width(4, kv_heads, keys);
  require_width(5, kv_heads, 1);
  require_sizes("past_state", facts.shape(3), {size_of(facts.shape(0), 0), kv_heads, d_k, d_v},
                "[batch_size, kv_num_heads, size of a key, size of a value]");
}

}  // namespace grurun::opset
