// Operators of com.microsoft that hand a state on, of sequences that lie behind each other.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

std::string text_attribute(const NodeFacts& facts, const char* name, const char* otherwise) {
  const onnx_io::Attribute* stated = facts.attribute(name);
  return stated == nullptr ? otherwise : stated->s;
}

Size size_plus(const Size& a, std::int64_t b) {
  return a ? Size(*a + b) : a;
}

// cumulative_sequence_length or cu_seqlens.
void check_ends(const NodeFacts& facts, std::size_t input, const Size& tokens) {
  const SymbolicShape* shape = facts.shape(input);
  if (shape != nullptr && rank_of(*shape) != 1)
    fail_invalid("{} is {}, but must be a list", input_name(facts, input), to_string(*shape));
  const auto ends = integers_in(facts, input);
  const bool is_empty = size_of(facts.shape(input), 0) == 0;
  const bool ascends = !ends || (!ends->empty() && ends->front() == 0 && std::ranges::is_sorted(*ends) &&
                                 (!tokens || ends->back() == *tokens));
  if (is_empty || !ascends)
    fail_invalid("{} {}must ascend from 0 to the number of tokens{}", input_name(facts, input),
                 is_empty ? "is empty, but " : "", tokens ? fmt::format(", {}", *tokens) : "");
}

void check_capture(const NodeFacts& facts, std::size_t input, const Size& batch) {
  if (facts.has_input(input) != (facts.int_attribute("state_update_capacity", 0) > 0))
    fail_invalid("{} must be given where state_update_capacity is positive, and only there",
                 input_name(facts, input));
  require_sizes(input_name(facts, input), facts.shape(input), {batch}, "a number for each sequence");
}

void require_given(const NodeFacts& facts, std::size_t input, bool wanted, const std::string& by) {
  if (facts.has_input(input) != wanted)
    fail_invalid("{} {} {}", by, wanted ? "needs" : "takes no", input_name(facts, input));
}

struct DeltaSizes {
  Size heads, key_size, v_heads, value_size;
};

// rank: how many axes tokens have.
DeltaSizes heads_apart(const NodeFacts& facts, int rank) {
  const SymbolicShape *query = facts.shape(0), *value = facts.shape(2);
  Sizes wanted = sizes_of(*query);
  require_sizes("key", facts.shape(1), wanted, "as query");
  for (int i = rank; i < rank_of(*query); ++i) wanted[static_cast<std::size_t>(i)] = std::nullopt;
  require_sizes("value", value, wanted, "for the tokens of query");
  return {size_of(query, rank), size_of(query, rank + 1), size_of(value, rank), size_of(value, rank + 1)};
}

// The heads of a query that holds keys and values, too.
DeltaSizes heads_together(const NodeFacts& facts, int rank) {
  const SymbolicShape* state = facts.shape(6);
  if (!facts.has_input(6))
    fail_invalid("without key, initial_state must be given: it says how many heads there are");
  const DeltaSizes of{std::nullopt, size_of(state, 3), size_of(state, 1), size_of(state, 2)};
  const Size width = size_of(facts.shape(0), rank), values = count_of({of.v_heads, of.value_size});
  if (!width || !values || !of.key_size) return of;
  const std::int64_t left = *width - *values, size = *of.key_size;
  if (size < 1 || left / 2 < size || left % 2 != 0 || left / 2 % size != 0)
    fail_invalid("query has {} columns, which are not those of the heads of initial_state", *width);
  return {left / 2 / size, of.key_size, of.v_heads, of.value_size};
}

// How many sequences there are.
Size sequence_count(const NodeFacts& facts, bool parted, const Size& tokens) {
  if (facts.has_input(3)) {
    if (parted) fail_invalid("cu_seqlens is for tokens of one axis");
    check_ends(facts, 3, tokens);
    return size_plus(size_of(facts.shape(3), 0), -1);
  }
  if (!parted && !facts.has_input(6))
    fail_invalid("without cu_seqlens, initial_state must be given: it says how many sequences there are");
  const Size batch = parted ? size_of(facts.shape(0), 0) : size_of(facts.shape(6), 0);
  if (tokens && batch && (*batch < 1 || *tokens % *batch != 0))
    fail_invalid("{} tokens are not {} sequences of one length", *tokens, *batch);
  return batch;
}

// tokens: the sizes of query that count them.
void check_delta_gates(const NodeFacts& facts, const DeltaSizes& sizes, const Sizes& tokens) {
  const std::string rule = text_attribute(facts, "update_rule", "gated_delta");
  const std::string gate = text_attribute(facts, "gate_activation", "none");
  require_given(facts, 4, rule.starts_with("gated"), "update_rule " + rule);
  require_given(facts, 5, rule.ends_with("delta"), "update_rule " + rule);
  for (const std::size_t input : {7, 8})
    require_given(facts, input, rule.starts_with("gated") && gate != "none", "gate_activation " + gate);
  Sizes of_head = tokens;
  of_head.push_back(sizes.v_heads);
  require_sizes("beta", facts.shape(5), of_head, "a number for each token and head");
  require_sizes("a_log", facts.shape(7), {sizes.v_heads}, "a number for each head");
  const SymbolicShape *decay = facts.shape(4), *bias = facts.shape(8);
  const bool of_elements = decay != nullptr && rank_of(*decay) > static_cast<int>(of_head.size());
  if (of_elements) of_head.push_back(sizes.key_size);
  require_sizes("decay", decay, of_head, "a number for each token and head, or for each element of its key");
  if (bias == nullptr) return;
  const Sizes given = sizes_of(*bias);
  const bool fits =
      may_be(given, {sizes.v_heads}) ||
      ((of_elements || decay == nullptr) && (may_be(given, {sizes.v_heads, sizes.key_size}) ||
                                             may_be(given, {count_of({sizes.v_heads, sizes.key_size})})));
  if (!fits)
    fail_invalid("dt_bias is {}, but must be {}: a number for each head{}", to_string(*bias),
                 text_of({sizes.v_heads}), of_elements ? ", or for each element of its key" : "");
}

}  // namespace

void check_sequence_ends(const NodeFacts& facts) {
  check_ends(facts, facts.op_type() == "VarlenNGramHashMapping" ? 3 : 2, size_of(facts.shape(0), 0));
}

void check_packed_convolution(const NodeFacts& facts) {
  const SymbolicShape* weight = facts.shape(1);
  const Size channels = size_of(facts.shape(0), 1), taps = size_of(weight, 2);
  if (taps && *taps < 1) fail_invalid("weight is {}: it has no taps", to_string(*weight));
  check_sequence_ends(facts);
  const Size batch = size_plus(size_of(facts.shape(2), 0), -1);
  const Size state = count_of({size_plus(taps, -1), facts.int_attribute("dilation", 1)});
  require_sizes("initial_state", facts.shape(4), {batch, channels, state},
                "(k - 1) * dilation places of each channel");
  check_capture(facts, 5, batch);
}

void check_ngram_hash(const NodeFacts& facts) {
  const bool packed = facts.op_type() == "VarlenNGramHashMapping";
  const std::int64_t largest = facts.int_attribute("max_ngram_size", 2);
  const std::int64_t heads = facts.int_attribute("n_head_per_ngram", 1);
  if (largest > most_hashed_ngrams || heads > most_hashed_ngrams)
    fail_invalid("max_ngram_size is {} and n_head_per_ngram {}, but both must be at most {}", largest, heads,
                 most_hashed_ngrams);
  if (largest < 2 || heads < 1) return;
  const Size multipliers = size_of(facts.shape(1), 0);
  if (multipliers && *multipliers < largest)
    fail_invalid("multipliers is {}, but must have one for each of {} ids", to_string(*facts.shape(1)),
                 largest);
  const Sizes columns{(largest - 1) * heads};
  require_sizes("vocab_sizes", facts.shape(2), columns, "one for each head");
  require_sizes("head_offsets", facts.shape(packed ? 5 : 4), columns, "one for each head");
  const auto sizes = integers_in(facts, 2);
  if (sizes && std::ranges::any_of(*sizes, [](std::int64_t size) { return size <= 0; }))
    fail_invalid("vocab_sizes must be positive");
  const std::int64_t pad = facts.int_attribute("pad_id", 0);
  using Narrow = std::numeric_limits<std::int32_t>;
  if (facts.dtype(0) == DType::int32 && (pad < Narrow::min() || pad > Narrow::max()))
    fail_invalid("pad_id is {}, which is no int32, the type of input_ids", pad);
  if (packed) check_sequence_ends(facts);
  const Size batch = packed ? size_plus(size_of(facts.shape(3), 0), -1) : size_of(facts.shape(0), 0);
  const Sizes past{batch, largest - 1};
  require_sizes("past_ids", facts.shape(packed ? 4 : 3), past, "max_ngram_size - 1 ids of each sequence");
  if (!packed) return;
  require_sizes("past_segment_ids", facts.shape(8), past, "as past_ids");
  check_capture(facts, 9, batch);
}

void check_delta_net(const NodeFacts& facts) {
  const SymbolicShape* query = facts.shape(0);
  if (facts.has_input(1) != facts.has_input(2)) fail_invalid("key and value must both be given, or neither");
  const bool packed = !facts.has_input(1);
  if (query == nullptr || (packed && rank_of(*query) < 2) || (!packed && rank_of(*query) < 3)) return;
  const bool parted = rank_of(*query) == (packed ? 3 : 4);
  const int rank = parted ? 2 : 1;
  const DeltaSizes sizes = packed ? heads_together(facts, rank) : heads_apart(facts, rank);
  if (sizes.heads && sizes.v_heads &&
      (*sizes.heads < 1 || *sizes.v_heads < 1 || *sizes.v_heads % *sizes.heads != 0))
    fail_invalid("value has {} heads and key {}: no multiple", *sizes.v_heads, *sizes.heads);
  const Size tokens = parted ? count_of({size_of(query, 0), size_of(query, 1)}) : size_of(query, 0);
  const Size batch = sequence_count(facts, parted, tokens);
  Sizes counts = sizes_of(*query);
  counts.resize(static_cast<std::size_t>(rank));
  check_delta_gates(facts, sizes, counts);
  require_sizes("initial_state", facts.shape(6), {batch, sizes.v_heads, sizes.value_size, sizes.key_size},
                "[sequences, heads of value, size of a value, size of a key]");
  check_capture(facts, 9, batch);
}

}  // namespace grurun::opset
