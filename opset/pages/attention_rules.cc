#include <string>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

enum AttentionInput { input_Q, input_K, input_V, attn_mask, past_key, past_value, nonpad_kv_seqlen };

// What [batch, heads, length, size] or [batch, length, heads * size] says of heads.
struct Heads {
  Size count, length, size;
};

Heads read_heads(const NodeFacts& facts, std::size_t input, const char* name, const char* attribute) {
  const SymbolicShape* shape = facts.shape(input);
  if (shape == nullptr) return {};
  if (rank_of(*shape) == 4) return {size_of(shape, 1), size_of(shape, 2), size_of(shape, 3)};
  if (rank_of(*shape) != 3) return {};
  const std::int64_t heads = facts.int_attribute(attribute, 0);
  if (heads < 1) {
    fail_invalid("{} is {}: in rank 3 it needs attribute {}, which is {}", name, to_string(*shape), attribute,
                 facts.attribute(attribute) == nullptr ? "left out" : std::to_string(heads));
  }
  const Size hidden = size_of(shape, 2);
  if (hidden && *hidden % heads != 0)
    fail_invalid("{} {} does not divide the last size of {}, which is {}", attribute, heads, name, *hidden);
  return {heads, size_of(shape, 1), hidden ? Size(*hidden / heads) : std::nullopt};
}

// Inputs of rank 4 have their heads on axis 1, which from version 25 on no attribute states again.
void check_stated_heads(const NodeFacts& facts, std::size_t input, const char* attribute) {
  const SymbolicShape* shape = facts.shape(input);
  const onnx_io::Attribute* heads = facts.attribute(attribute);
  if (shape == nullptr || rank_of(*shape) != 4 || heads == nullptr) return;
  if (facts.since_version() >= 25) {
    fail_invalid("attribute {} is for inputs of rank 3; remove it: this one is {}", attribute,
                 to_string(*shape));
  }
  if (size_of(shape, 1).value_or(heads->i) != heads->i)
    fail_invalid("attribute {} is {}, but the input {} has {} heads on axis 1", attribute, heads->i,
                 to_string(*shape), *size_of(shape, 1));
}

// "They shall be used together"; nonpad_kv_seqlen "should not be used together with" them.
void check_caches_together(const NodeFacts& facts) {
  if (facts.has_input(past_key) != facts.has_input(past_value))
    fail_invalid("past_key and past_value must be given together");
  if (facts.has_input(nonpad_kv_seqlen) && facts.has_input(past_key))
    fail_invalid("nonpad_kv_seqlen must not be given together with past_key and past_value");
}

// past_sequence_length + kv_sequence_length
Size total_length(const NodeFacts& facts, Size past, Size length) {
  std::int64_t total = 0;
  if (!facts.has_input(past_key)) past = 0;
  if (!past || !length || __builtin_add_overflow(*past, *length, &total)) return std::nullopt;
  return total;
}

// From version 24 on, keys that a short mask does not reach are masked.
void check_mask(const NodeFacts& facts, Sizes scores) {
  const SymbolicShape* mask = facts.shape(attn_mask);
  if (mask == nullptr) return;
  const Size reached = size_of(mask, rank_of(*mask) - 1);
  if (facts.since_version() >= 24 && reached && scores.back() && *reached < *scores.back())
    scores.back() = std::nullopt;
  require_broadcast("attn_mask", mask, scores);
}

}  // namespace

std::optional<std::string> present_outputs(const onnx_io::Node& node, int since_version) {
  if (since_version < 25) return std::nullopt;
  const auto has = [](const std::vector<std::string>& names, std::size_t i) {
    return i < names.size() && !names[i].empty();
  };
  if (has(node.outputs, 1) != has(node.outputs, 2))
    return "present_key and present_value must be asked for together";
  if (has(node.inputs, nonpad_kv_seqlen) && has(node.outputs, 1))
    return "nonpad_kv_seqlen must not be given where present_key and present_value are asked for";
  return std::nullopt;
}

void check_attention(const NodeFacts& facts) {
  check_stated_heads(facts, input_Q, "q_num_heads");
  check_stated_heads(facts, input_K, "kv_num_heads");
  check_caches_together(facts);
  const Heads q = read_heads(facts, input_Q, "Q", "q_num_heads");
  const Heads k = read_heads(facts, input_K, "K", "kv_num_heads");
  const Heads v = read_heads(facts, input_V, "V", "kv_num_heads");
  if (q.size && k.size && *q.size != *k.size)
    fail_invalid("a head of Q has {} elements, but one of K has {}", *q.size, *k.size);
  if (q.count && k.count && (*k.count == 0 ? *q.count != 0 : *q.count % *k.count != 0))
    fail_invalid("{} heads of Q cannot share {} heads of K and V evenly", *q.count, *k.count);
  const Size batch = size_of(facts.shape(input_Q), 0);
  const Size past = size_of(facts.shape(past_key), 2);
  const char* cache = "[batch_size, kv_num_heads, past_sequence_length, size of a head]";
  require_sizes("past_key", facts.shape(past_key), {batch, k.count, past, k.size}, cache);
  require_sizes("past_value", facts.shape(past_value), {batch, v.count, past, v.size}, cache);
  check_mask(facts, {batch, q.count, q.length, total_length(facts, past, k.length)});
  require_sizes("nonpad_kv_seqlen", facts.shape(nonpad_kv_seqlen), {batch},
                "a length for each row of the batch");
  const auto lengths = integers_in(facts, nonpad_kv_seqlen);
  for (const std::int64_t length : lengths ? *lengths : std::vector<std::int64_t>())
    if (k.length && (length < 0 || length > *k.length))
      fail_invalid("nonpad_kv_seqlen holds {}, but K has {} positions", length, *k.length);
}

void check_rotary_embedding(const NodeFacts& facts) {
  const SymbolicShape *X = facts.shape(0), *cache = facts.shape(1);
  if (X == nullptr || (rank_of(*X) != 3 && rank_of(*X) != 4)) return;
  const Size batch = size_of(X, 0), rows = size_of(facts.shape(3), 0);
  if (batch && rows && *rows != *batch && *rows != 1)
    fail_invalid("position_ids has {} rows for the {} of X {}", *rows, *batch, to_string(*X));
  const auto ids = integers_in(facts, 3);
  const Size positions = size_of(cache, 0);
  for (const std::int64_t id : ids&& positions ? *ids : std::vector<std::int64_t>())
    if (id < -*positions || id >= *positions)
      fail_invalid("position_ids holds {}, but cos_cache has {} positions", id, *positions);
  const Size head = read_heads(facts, 0, "X", "num_heads").size;
  const std::int64_t stated = facts.int_attribute("rotary_embedding_dim", 0);
  const Size rotated = stated == 0 ? head : Size(stated);
  if (!rotated) return;
  if (*rotated < 0 || (head && *rotated > *head) || *rotated % 2 != 0)
    fail_invalid("{} elements of a head of {} are to be turned, but it must be an even number of them",
                 *rotated, head ? std::to_string(*head) : "unknown size");
  // A cache of whole heads serves, too: the function body slices it.
  const Size width = cache == nullptr ? std::nullopt : size_of(cache, rank_of(*cache) - 1);
  if (!head || !width || *width == *rotated / 2 || *width == *head / 2) return;
  fail_invalid("cos_cache is {}: its last size must be {}, half of the {} elements that are turned",
               to_string(*cache), *rotated / 2, *rotated);
}

}  // namespace grurun::opset
