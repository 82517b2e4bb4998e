// Attention, QAttention and MultiHeadAttention of com.microsoft: heads, masks and pasts fit the words.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

Size added_up(const Size& a, const Size& b) {
  std::int64_t sum = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &sum) ? Size(sum) : std::nullopt;
}

Size part_of(const Size& size, std::int64_t parts) {
  return size && parts > 0 && *size % parts == 0 ? Size(*size / parts) : std::nullopt;
}

struct MaskShape {
  Sizes sizes;
  const char* text;
};

void require_one_of(const char* name, const SymbolicShape& shape, const std::vector<MaskShape>& shapes) {
  std::string list;
  for (const MaskShape& wanted : shapes) {
    if (may_be(sizes_of(shape), wanted.sizes)) return;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", wanted.text, text_of(wanted.sizes));
  }
  fail_invalid("{} is {}, but must be one of {}", name, to_string(shape), list);
}

// [batch_size or 1, num_heads or 1, sequence_length, total_sequence_length]
void require_bias_of_scores(const NodeFacts& facts, std::size_t input, const Sizes& scores) {
  const SymbolicShape* bias = facts.shape(input);
  if (bias == nullptr) return;
  Sizes wanted = scores;
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (size_of(bias, static_cast<int>(axis)) == 1) wanted[axis] = 1;
  if (!may_be(sizes_of(*bias), wanted))
    fail_invalid(
        "{} is {}, but must be [batch_size or 1, num_heads or 1, sequence_length, total_sequence_length], "
        "here {}",
        input_name(facts, input), to_string(*bias), text_of(scores));
}

struct Projected {
  std::size_t weights, bias, mask, past;
};

// Of the columns of weights [width, columns]: those of queries and keys, and those of values.
struct HiddenSizes {
  Size keys, values;
};

HiddenSizes hidden_sizes(const NodeFacts& facts, const Projected& inputs, std::int64_t heads) {
  const SymbolicShape* weights = facts.shape(inputs.weights);
  const Size columns = size_of(weights, 1);
  const onnx_io::Attribute* stated = facts.attribute("qkv_hidden_sizes");
  if (stated == nullptr || stated->ints.empty()) {
    if (columns && (*columns % 3 != 0 || *columns / 3 % heads != 0))
      fail_invalid("{} is {}: its last size does not divide by 3 times its {} heads",
                   input_name(facts, inputs.weights), to_string(*weights), heads);
    return {part_of(columns, 3), part_of(columns, 3)};
  }
  if (stated->ints.size() != 3)
    fail_invalid("qkv_hidden_sizes has {} entries, but must have 3", stated->ints.size());
  const std::int64_t q = stated->ints[0], k = stated->ints[1], v = stated->ints[2];
  if (q != k) fail_invalid("qkv_hidden_sizes states {} for Q, but {} for K: both must be the same", q, k);
  for (const std::int64_t size : {q, v})
    if (size < 1 || size % heads != 0)
      fail_invalid("qkv_hidden_sizes holds {}, which does not divide by {} heads", size, heads);
  const Size all = added_up(added_up(q, k), v);
  if (columns && all && *columns != *all)
    fail_invalid("{} is {}, but qkv_hidden_sizes adds up to {} columns", input_name(facts, inputs.weights),
                 to_string(*weights), *all);
  if (facts.has_input(inputs.past) && q != v)
    fail_invalid("qkv_hidden_sizes states {} for K and {} for V, which must be the same where past is given",
                 k, v);
  return {q, v};
}

void check_projected(const NodeFacts& facts, const Projected& inputs) {
  const std::int64_t heads = facts.int_attribute("num_heads", 1);
  if (heads < 1) return;
  const HiddenSizes hidden = hidden_sizes(facts, inputs, heads);
  const Size batch = size_of(facts.shape(0), 0), length = size_of(facts.shape(0), 1);
  const SymbolicShape* past = facts.shape(inputs.past);
  require_sizes("past", past, {2, batch, heads, std::nullopt, part_of(hidden.keys, heads)},
                "keys and values of num_heads heads");
  const Size before = facts.has_input(inputs.past) ? size_of(past, 3) : Size(0);
  const Size total = added_up(before, length), pair = count_of({2, batch}), packed = count_of({3, batch});
  if (facts.op_type() == "Attention") require_bias_of_scores(facts, 5, {batch, heads, length, total});
  const SymbolicShape* mask = facts.shape(inputs.mask);
  if (mask == nullptr) return;
  // Four dimensions are right by the text; no kernel here or in the package reads them.
  if (rank_of(*mask) == 4) return;
  const bool says_nothing = rank_of(*mask) == 2 && size_of(mask, 1) == 1 &&
                            (size_of(mask, 0).value_or(1) == 1 || may_be({size_of(mask, 0)}, {batch}));
  if (says_nothing) return;
  require_one_of("mask_index", *mask,
                 {{{batch, total}, "[batch_size, total_sequence_length]"},
                  {{batch, length, total}, "[batch_size, sequence_length, total_sequence_length]"},
                  {{batch}, "[batch_size]"},
                  {{pair}, "[2 * batch_size]"},
                  {{added_up(packed, 2)}, "[3 * batch_size + 2]"}});
}

enum MultiHeadInput {
  mha_query,
  mha_key,
  mha_value,
  mha_bias,
  mha_key_padding_mask,
  mha_attention_bias,
  mha_past_key,
  mha_past_value
};

// What the projected inputs say of one another.
struct Words {
  Size batch, length, keys, hidden, v_hidden;
};

Words check_packed(const NodeFacts& facts, std::int64_t heads) {
  const SymbolicShape* packed = facts.shape(mha_query);
  require_sizes("query", packed, {std::nullopt, std::nullopt, heads, 3, std::nullopt},
                "queries, keys and values of num_heads heads");
  if (facts.has_input(mha_key) || facts.has_input(mha_value))
    fail_invalid("query is {}, which holds keys and values: key and value must be left out",
                 to_string(*packed));
  const Size hidden = count_of({heads, size_of(packed, 4)});
  return {size_of(packed, 0), size_of(packed, 1), size_of(packed, 1), hidden, hidden};
}

Words check_apart(const NodeFacts& facts, std::int64_t heads) {
  const SymbolicShape *q = facts.shape(mha_query), *k = facts.shape(mha_key), *v = facts.shape(mha_value);
  Words words;
  words.batch = size_of(q, 0), words.length = size_of(q, 1), words.hidden = size_of(q, 2);
  if (words.hidden && *words.hidden % heads != 0)
    fail_invalid("query is {}: its last size does not divide by its {} heads", to_string(*q), heads);
  const Size size = part_of(words.hidden, heads);
  if (k == nullptr) return words;
  if (rank_of(*k) == 5) {
    require_sizes("key", k, {words.batch, std::nullopt, heads, 2, size},
                  "keys and values of num_heads heads");
    if (facts.has_input(mha_value))
      fail_invalid("key is {}, which holds values: value must be left out", to_string(*k));
    words.keys = size_of(k, 1), words.v_hidden = words.hidden;
    return words;
  }
  if (!facts.has_input(mha_value)) fail_invalid("value must be given where key is {}", to_string(*k));
  if (rank_of(*k) == 4) {
    words.keys = size_of(k, 2);
    require_sizes("key", k, {words.batch, heads, std::nullopt, size}, "the heads of query");
    require_sizes("value", v, {words.batch, heads, words.keys, std::nullopt}, "as key");
    words.v_hidden = v == nullptr ? std::nullopt : count_of({heads, size_of(v, 3)});
    return words;
  }
  words.keys = size_of(k, 1);
  require_sizes("key", k, {words.batch, std::nullopt, words.hidden}, "as wide as query");
  require_sizes("value", v, {words.batch, words.keys, std::nullopt}, "a row for each key");
  words.v_hidden = size_of(v, 2);
  if (words.v_hidden && *words.v_hidden % heads != 0)
    fail_invalid("value is {}: its last size does not divide by its {} heads", to_string(*v), heads);
  return words;
}

}  // namespace

void check_projected_attention(const NodeFacts& facts) {
  check_projected(facts, facts.op_type() == "Attention" ? Projected{1, 2, 3, 4} : Projected{1, 2, 5, 8});
}

void check_multi_head(const NodeFacts& facts) {
  const std::int64_t heads = facts.int_attribute("num_heads", 1);
  const SymbolicShape* q = facts.shape(mha_query);
  if (heads < 1 || q == nullptr) return;
  if (rank_of(*q) != 3 && rank_of(*q) != 5)
    fail_invalid("query is {}, but must have 3 dimensions, or 5 where it holds keys and values, too",
                 to_string(*q));
  if (rank_of(*q) == 3 && !facts.has_input(mha_key))
    fail_invalid("query is {}: key must be given", to_string(*q));
  const Words words = rank_of(*q) == 5 ? check_packed(facts, heads) : check_apart(facts, heads);
  require_sizes("bias", facts.shape(mha_bias),
                {added_up(added_up(words.hidden, words.hidden), words.v_hidden)},
                "hidden_size + hidden_size + v_hidden_size");
  if (facts.has_input(mha_past_key) != facts.has_input(mha_past_value))
    fail_invalid("past_key and past_value must be given together");
  const SymbolicShape* past = facts.shape(mha_past_key);
  require_sizes("past_key", past, {words.batch, heads, std::nullopt, part_of(words.hidden, heads)},
                "the heads of key");
  require_sizes("past_value", facts.shape(mha_past_value),
                {words.batch, heads, size_of(past, 2), part_of(words.v_hidden, heads)}, "the heads of value");
  const Size before = facts.has_input(mha_past_key) ? size_of(past, 2) : Size(0);
  const Size total = added_up(before, words.keys);
  require_bias_of_scores(facts, mha_attention_bias, {words.batch, heads, words.length, total});
  if (const SymbolicShape* mask = facts.shape(mha_key_padding_mask))
    require_one_of(
        "key_padding_mask", *mask,
        {{{words.batch, total}, "[batch_size, total_sequence_length]"},
         {{words.batch, words.length, total}, "[batch_size, sequence_length, total_sequence_length]"},
         {{words.batch}, "[batch_size]"},
         {{added_up(count_of({3, words.batch}), 2)}, "[3 * batch_size + 2]"}});
}

}  // namespace grurun::opset
