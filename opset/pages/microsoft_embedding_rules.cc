// Embeddings and rotations of com.microsoft: rows for all words, positions within the caches.
#include <cstdint>
#include <string>

#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

void require_rows(const NodeFacts& facts, std::size_t ids, std::size_t table) {
  const auto numbers = integers_in(facts, ids);
  const Size rows = size_of(facts.shape(table), 0);
  if (!numbers || !rows) return;
  for (const std::int64_t number : *numbers)
    if (number < 0 || number >= *rows)
      fail_invalid("{} holds {}, but {} has {} rows", input_name(facts, ids), number,
                   input_name(facts, table), *rows);
}

// Of [batch, length, heads * size] or [batch, heads, length, size].
struct Rotated {
  Size batch, length, head;
};

Rotated rotated_of(const NodeFacts& facts, const SymbolicShape* cache) {
  const SymbolicShape* input = facts.shape(0);
  if (input == nullptr) return {};
  const std::int64_t heads = facts.int_attribute("num_heads", 0);
  if (rank_of(*input) == 4) {
    if (heads > 0 && size_of(input, 1).value_or(heads) != heads)
      fail_invalid("num_heads is {}, but input {} has {} heads on axis 1", heads, to_string(*input),
                   *size_of(input, 1));
    return {size_of(input, 0), size_of(input, 2), size_of(input, 3)};
  }
  if (rank_of(*input) != 3) fail_invalid("input is {}, but must have 3 or 4 dimensions", to_string(*input));
  const Size hidden = size_of(input, 2), half = size_of(cache, 1);
  Rotated made{size_of(input, 0), size_of(input, 1), std::nullopt};
  if (heads > 0) {
    if (hidden && *hidden % heads != 0)
      fail_invalid("input is {}: its last size does not divide by its {} heads", to_string(*input), heads);
    if (hidden) made.head = *hidden / heads;
  } else if (half) {
    made.head = count_of({2, half});
    if (hidden && made.head && (*made.head == 0 || *hidden % *made.head != 0))
      fail_invalid(
          "input is {}: its last size does not divide by heads of {}, twice the columns of cos_cache",
          to_string(*input), *made.head);
  }
  return made;
}

}  // namespace

void check_embeddings(const NodeFacts& facts) {
  const bool quantized = facts.op_type() == "QEmbedLayerNormalization";
  if (facts.has_input(1) != facts.has_input(4))
    fail_invalid("segment_ids and segment_embedding must both be given, or neither");
  require_rows(facts, 0, 2);
  require_rows(facts, 1, 4);
  const SymbolicShape* words = facts.shape(0);
  if (!quantized && facts.has_input(8)) {
    const Size rows = size_of(facts.shape(8), 0);
    require_sizes("position_ids", facts.shape(8),
                  {rows == 1 ? Size(1) : size_of(words, 0), size_of(words, 1)},
                  "[batch_size, sequence_length] or [1, sequence_length]");
    return require_rows(facts, 8, 3);
  }
  const Size length = size_of(words, 1), rows = size_of(facts.shape(3), 0);
  if (length && rows && *rows < *length)
    fail_invalid("{} is {}, but must have a row for each of the {} places of input_ids", input_name(facts, 3),
                 to_string(*facts.shape(3)), *length);
}

void check_rotation(const NodeFacts& facts) {
  const bool multimodal = facts.op_type() == "MRotaryEmbedding";
  const SymbolicShape *cache = facts.shape(2), *positions = facts.shape(1);
  const std::int64_t stated = facts.int_attribute("rotary_embedding_dim", 0);
  if (stated < 0 || stated % 2 != 0)
    fail_invalid("rotary_embedding_dim is {}, but must be an even number of elements", stated);
  if (stated > 0 && facts.int_attribute("num_heads", 0) < 1)
    fail_invalid("rotary_embedding_dim is {}, which needs num_heads", stated);
  const Rotated of = rotated_of(facts, cache);
  if (of.head && stated > *of.head)
    fail_invalid("rotary_embedding_dim is {}, but a head has {} elements", stated, *of.head);
  const Size half = size_of(cache, 1), rows = size_of(cache, 0);
  const Size wanted = stated > 0 ? Size(stated / 2) : of.head ? Size(*of.head / 2) : std::nullopt;
  // A cache of whole heads serves, too.
  if (half && wanted && *half != *wanted && (!of.head || *half != *of.head / 2))
    fail_invalid("cos_cache is {}, but must have {} columns, half of the {} elements that are turned",
                 to_string(*cache), *wanted, 2 * *wanted);
  if (multimodal)
    return require_sizes("position_ids", positions, {3, of.batch, of.length},
                         "three positions of each token");
  if (positions == nullptr) return;
  const auto ids = integers_in(facts, 1);
  const bool is_first = count_of(sizes_of(*positions)).value_or(0) == 1 && rank_of(*positions) < 2;
  if (!is_first)
    require_sizes("position_ids", positions, {of.batch, of.length},
                  "[batch_size, sequence_length], or one number for the first place");
  if (!ids || !rows || (is_first && !of.length)) return;
  const std::int64_t more = is_first && *of.length > 0 ? *of.length - 1 : 0;
  for (const std::int64_t id : *ids)
    if (id < 0 || id >= *rows || more >= *rows - id)
      fail_invalid("position_ids holds {}, but cos_cache has {} rows{}", id, *rows,
                   more == 0 ? "" : fmt::format(" for {} places from there on", more + 1));
}

}  // namespace grurun::opset
