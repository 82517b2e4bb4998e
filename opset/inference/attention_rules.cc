#include "opset/inference/attention_rules.h"

#include <string>

#include "opset/inference/inferred_input.h"
#include "opset/inference/required_sizes.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

enum AttentionInput { input_Q, input_K, input_V, attn_mask, past_key, past_value, nonpad_kv_seqlen };

bool has_input(const InferenceContext& context, std::size_t i) {
  return i < context.getNumInputs() && context.hasInput(i);
}

// What [batch, heads, length, size] or [batch, length, heads * size] says of heads.
struct Heads {
  Size count, length, size;
};

Heads read_heads(const InferenceContext& context, std::size_t input, const char* name,
                 const char* attribute) {
  const TensorShapeProto* shape = input_shape(context, input);
  if (shape == nullptr) return {};
  if (shape->dim_size() == 4) return {size_of(shape, 1), size_of(shape, 2), size_of(shape, 3)};
  if (shape->dim_size() != 3) return {};
  const std::int64_t heads = int_attribute(context, attribute, 0);
  if (heads < 1) {
    fail_invalid("{} is {}: in rank 3 it needs attribute {}, which is {}", name, shape_text(*shape),
                 attribute, context.getAttribute(attribute) == nullptr ? "left out" : std::to_string(heads));
  }
  const Size hidden = size_of(shape, 2);
  if (hidden && *hidden % heads != 0)
    fail_invalid("{} {} does not divide the last size of {}, which is {}", attribute, heads, name, *hidden);
  return {heads, size_of(shape, 1), hidden ? Size(*hidden / heads) : std::nullopt};
}

// Inputs of rank 4 have their heads on axis 1, which from version 25 on no attribute states again.
void check_stated_heads(const InferenceContext& context, std::size_t input, const char* attribute,
                        int since_version) {
  const TensorShapeProto* shape = input_shape(context, input);
  const onnx::AttributeProto* heads = context.getAttribute(attribute);
  if (shape == nullptr || shape->dim_size() != 4 || heads == nullptr) return;
  if (since_version >= 25) {
    fail_invalid("attribute {} is for inputs of rank 3; remove it: this one is {}", attribute,
                 shape_text(*shape));
  }
  if (size_of(shape, 1).value_or(heads->i()) != heads->i())
    fail_invalid("attribute {} is {}, but the input {} has {} heads on axis 1", attribute, heads->i(),
                 shape_text(*shape), *size_of(shape, 1));
}

// "They shall be used together"; nonpad_kv_seqlen "should not be used together with" them.
void check_caches_together(const InferenceContext& context) {
  if (has_input(context, past_key) != has_input(context, past_value))
    fail_invalid("past_key and past_value must be given together");
  if (has_input(context, nonpad_kv_seqlen) && has_input(context, past_key))
    fail_invalid("nonpad_kv_seqlen must not be given together with past_key and past_value");
}

// past_sequence_length + kv_sequence_length
Size total_length(const InferenceContext& context, Size past, Size length) {
  std::int64_t total = 0;
  if (!has_input(context, past_key)) past = 0;
  if (!past || !length || __builtin_add_overflow(*past, *length, &total)) return std::nullopt;
  return total;
}

// From version 24 on, keys that a short mask does not reach are masked.
void check_mask(const InferenceContext& context, Sizes scores, int since_version) {
  const TensorShapeProto* mask = input_shape(context, attn_mask);
  if (mask == nullptr) return;
  const Size reached = size_of(mask, mask->dim_size() - 1);
  if (since_version >= 24 && reached && scores.back() && *reached < *scores.back())
    scores.back() = std::nullopt;
  require_broadcast("attn_mask", mask, scores);
}

}  // namespace

void check_attention(const InferenceContext& context, int since_version) {
  check_stated_heads(context, input_Q, "q_num_heads", since_version);
  check_stated_heads(context, input_K, "kv_num_heads", since_version);
  check_caches_together(context);
  const Heads q = read_heads(context, input_Q, "Q", "q_num_heads");
  const Heads k = read_heads(context, input_K, "K", "kv_num_heads");
  const Heads v = read_heads(context, input_V, "V", "kv_num_heads");
  if (q.size && k.size && *q.size != *k.size)
    fail_invalid("a head of Q has {} elements, but one of K has {}", *q.size, *k.size);
  if (q.count && k.count && (*k.count == 0 ? *q.count != 0 : *q.count % *k.count != 0))
    fail_invalid("{} heads of Q cannot share {} heads of K and V evenly", *q.count, *k.count);
  const Size batch = size_of(input_shape(context, input_Q), 0);
  const Size past = size_of(input_shape(context, past_key), 2);
  const char* cache = "[batch_size, kv_num_heads, past_sequence_length, size of a head]";
  require_sizes("past_key", input_shape(context, past_key), {batch, k.count, past, k.size}, cache);
  require_sizes("past_value", input_shape(context, past_value), {batch, v.count, past, v.size}, cache);
  check_mask(context, {batch, q.count, q.length, total_length(context, past, k.length)}, since_version);
  require_sizes("nonpad_kv_seqlen", input_shape(context, nonpad_kv_seqlen), {batch},
                "a length for each row of the batch");
}

void check_rotary_embedding(const InferenceContext& context) {
  const TensorShapeProto *X = input_shape(context, 0), *cache = input_shape(context, 1);
  if (X == nullptr || (X->dim_size() != 3 && X->dim_size() != 4)) return;
  const Size batch = size_of(X, 0), rows = size_of(input_shape(context, 3), 0);
  if (batch && rows && *rows != *batch && *rows != 1)
    fail_invalid("position_ids has {} rows for the {} of X {}", *rows, *batch, shape_text(*X));
  const Size head = read_heads(context, 0, "X", "num_heads").size;
  const std::int64_t stated = int_attribute(context, "rotary_embedding_dim", 0);
  const Size rotated = stated == 0 ? head : Size(stated);
  if (!rotated) return;
  if (*rotated < 0 || (head && *rotated > *head) || *rotated % 2 != 0)
    fail_invalid("{} elements of a head of {} are to be turned, but it must be an even number of them",
                 *rotated, head ? std::to_string(*head) : "unknown size");
  // A cache of whole heads serves, too: the function body slices it.
  const Size width = cache == nullptr ? std::nullopt : size_of(cache, cache->dim_size() - 1);
  if (!head || !width || *width == *rotated / 2 || *width == *head / 2) return;
  fail_invalid("cos_cache is {}: its last size must be {}, half of the {} elements that are turned",
               shape_text(*cache), *rotated / 2, *rotated);
}

}  // namespace grurun::opset
