#include "opset/pages/microsoft_rules.h"

#include <algorithm>
#include <iterator>

#include "tensor/error.h"

namespace grurun::opset {

std::optional<std::string> tokens_stated_once(const onnx_io::Node& node, int) {
  const onnx_io::Attribute *separators = node.find_attribute("separators"),
                           *token = node.find_attribute("tokenexp");
  for (const onnx_io::Attribute* stated : {separators, token})
    if (stated != nullptr && !stated->ref_attr_name.empty()) return std::nullopt;
  const bool parts = separators != nullptr && !separators->strings.empty();
  const bool matches = token != nullptr && !token->s.empty();
  if (parts != matches) return std::nullopt;
  return parts ? "separators and tokenexp are both stated: state one of them"
               : "neither separators nor tokenexp is stated: state one of them";
}

void check_dilated_state(const NodeFacts& facts) {
  const SymbolicShape *input = facts.shape(0), *weight = facts.shape(1);
  const bool last = facts.int_attribute("channels_last", 0) == 1;
  Sizes state;
  Size channels;
  if (input != nullptr) {
    if (last ? rank_of(*input) < 3 : rank_of(*input) != 3)
      fail_invalid("input is {}, but must have {} axes", to_string(*input), last ? "at least 3" : "3");
    state = sizes_of(*input);
    channels = last ? count_of({state.begin() + 2, state.end()}) : state[1];
  }
  require_sizes("weight", weight, {channels, 1, std::nullopt}, "a filter for each channel");
  require_sizes("bias", facts.shape(2), {channels}, "a number for each channel");
  const Size taps = size_of(weight, 2);
  if (taps && *taps < 1) fail_invalid("weight is {}: it has no taps", to_string(*weight));
  if (input == nullptr) return;
  state[last ? 1 : 2] = taps ? count_of({*taps - 1, facts.int_attribute("dilation", 1)}) : std::nullopt;
  require_sizes("past_state", facts.shape(3), state, "(k - 1) * dilation places of each channel");
}

void check_sparse_product(const NodeFacts& facts) {
  const DType type = facts.dtype(0), other = facts.dtype(1);
  if (type != DType::undefined && other != DType::undefined && type != other)
    fail_invalid("A is {} and B {}, but both must be of one type", dtype_name(type), dtype_name(other));
  const SymbolicShape *A = facts.shape(0), *B = facts.shape(1);
  if (A == nullptr || B == nullptr || rank_of(*A) != 2 || rank_of(*B) < 2) return;
  const bool turns_a = facts.int_attribute("transA", 0) != 0, turns_b = facts.int_attribute("transB", 0) != 0;
  const Size columns = size_of(A, turns_a ? 0 : 1), rows = size_of(B, rank_of(*B) - (turns_b ? 1 : 2));
  if (columns && rows && *columns != *rows)
    fail_invalid("A {} and B {} do not multiply: {} columns against {} rows", to_string(*A), to_string(*B),
                 *columns, *rows);
}

const PackedBlock* find_packed_block(std::int64_t packed_type) {
  static constexpr PackedBlock blocks[] = {
      {0, 1, 4},      {1, 1, 2},      {2, 32, 18},    {6, 32, 22},   {8, 32, 34},
      {13, 256, 176}, {14, 256, 210}, {16, 256, 66},  {17, 256, 74}, {18, 256, 98},
      {20, 32, 18},   {22, 256, 82},  {23, 256, 136}, {30, 1, 2},    {42, 64, 18},
  };
  const auto* found = std::ranges::find(blocks, packed_type, &PackedBlock::packed_type);
  return found == std::end(blocks) ? nullptr : found;
}

void check_packed_rows(const NodeFacts& facts) {
  const PackedBlock* block = find_packed_block(facts.int_attribute("packed_type", -1));
  const std::int64_t K = facts.int_attribute("K", 1);
  if (block == nullptr || K < 1) return;
  if (K % block->elements != 0)
    fail_invalid("K is {}, but blocks of the type have {} elements", K, block->elements);
  const Size bytes = count_of({K / block->elements, block->bytes}), given = size_of(facts.shape(0), 1);
  if (bytes && given && *given != *bytes)
    fail_invalid("a row of data has {} bytes, but {} elements take {}", *given, K, *bytes);
  const SymbolicShape* indices = facts.shape(1);
  if (size_of(facts.shape(0), 0) == 0 && indices != nullptr && count_of(sizes_of(*indices)).value_or(0) > 0)
    fail_invalid("data has no row");
}

std::vector<std::int64_t> repeating_words(std::span<const std::int64_t> words, std::int64_t size) {
  std::vector<std::int64_t> repeating;
  const auto count = static_cast<std::size_t>(size), prefix = count - 1;
  if (words.size() < count) return repeating;
  const auto last = words.last(prefix);
  for (std::size_t i = 0; i + count <= words.size(); ++i)
    if (std::ranges::equal(words.subspan(i, prefix), last)) repeating.push_back(words[i + prefix]);
  return repeating;
}

void check_repeating_words(const NodeFacts& facts) {
  const auto ids = integers_in(facts, 0);
  const std::int64_t size = facts.int_attribute("ngram_size", 0);
  const Size length = size_of(facts.shape(0), 1), words = size_of(facts.shape(1), 1);
  if (!ids || !words || length.value_or(0) < 1 || size < 1) return;
  const auto row = static_cast<std::size_t>(*length);
  for (std::size_t begin = 0; begin + row <= ids->size(); begin += row)
    for (const std::int64_t word : repeating_words(std::span(*ids).subspan(begin, row), size))
      if (word < 0 || word >= *words)
        fail_invalid("input_ids holds {}, but there are scores of {} words", word, *words);
}

void check_dynamic_pads(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (X != nullptr)
    require_sizes("Pads", facts.shape(2), {2 * (rank_of(*X) - 2)}, "two for each spatial axis");
}

void check_crops(const NodeFacts& facts) {
  const auto sizes = integers_in(facts, 3), images = integers_in(facts, 2);
  if (sizes && sizes->size() == 2 && ((*sizes)[0] < 1 || (*sizes)[1] < 1))
    fail_invalid("crop_size is {} x {}, but must be positive", (*sizes)[0], (*sizes)[1]);
  const Size count = size_of(facts.shape(0), 0);
  for (std::size_t r = 0; images && count && r < images->size(); ++r)
    if ((*images)[r] < 0 || (*images)[r] >= *count)
      fail_invalid("batch_indices[{}] is {}, but there are {} images", r, (*images)[r], *count);
}

void check_pool_mask(const NodeFacts& facts) {
  const SymbolicShape *X = facts.shape(0), *mask = facts.shape(1);
  const Size planes = count_of({size_of(X, 0), size_of(X, 1)});
  if (planes.value_or(0) > 0 && count_of({size_of(mask, 0), size_of(mask, 1)}) == 0)
    fail_invalid("the mask M has no plane");
}

void check_word_window(const NodeFacts& facts) {
  const SymbolicShape* W = facts.shape(1);
  const auto require = [&](const char* name, const Size& size) {
    const onnx_io::Attribute* stated = facts.attribute(name);
    if (stated != nullptr && size && stated->i != *size)
      fail_invalid("{} is {}, but the inputs have {}", name, stated->i, *size);
  };
  require("embedding_size", size_of(W, 0));
  require("conv_window_size", size_of(W, 2));
  require("char_embedding_size", size_of(W, 3));
  const Size window = size_of(W, 2), room = size_of(facts.shape(0), 1);
  if (window && room && *window > *room)
    fail_invalid("the window of W takes {} characters, but a word of Sequence has room for {}", *window,
                 *room);
}

void check_4_bit_bytes(const NodeFacts& facts) {
  const auto sizes = integers_in(facts, 2);
  if (!sizes) return;
  if (sizes->size() != 2 || (*sizes)[0] < 1 || (*sizes)[1] < 1)
    fail_invalid("B_shape must hold the two sizes of a matrix");
  const SymbolicShape* A = facts.shape(0);
  const Size rows = A == nullptr || A->empty() ? std::nullopt : size_of(A, rank_of(*A) - 1);
  if (A != nullptr && (A->empty() || rows.value_or((*sizes)[0]) != (*sizes)[0]))
    fail_invalid("A is {}, but B_shape says that B has {} rows", to_string(*A), (*sizes)[0]);
  const std::int64_t type = facts.int_attribute("blk_quant_type", 1), elements = type == 2 ? 64 : 32;
  const std::int64_t blocks = ((*sizes)[0] - 1) / elements + 1;
  const Size wanted = count_of({blocks, (type == 1 ? 5 : 4) + elements / 2, (*sizes)[1]});
  const Size given = size_of(facts.shape(1), 0);
  if (given && given != wanted)
    fail_invalid("B has {} bytes, but a matrix [{}, {}] takes {}", *given, (*sizes)[0], (*sizes)[1],
                 wanted ? fmt::format("{}", *wanted) : "too many");
}

void check_predicted_tokens(const NodeFacts& facts) {
  const Size matched = number_in(facts, 2), length = size_of(facts.shape(0), 0);
  const Size predicted = size_of(facts.shape(3), 0);
  if (!facts.has_input(3) || !matched || !length) return;
  if (*matched < 0 || *matched > *length || (predicted && *predicted - 1 != *length - *matched))
    fail_invalid(
        "prev_suffix_match_idx is {}, src_tokens has {} and pred_tokens {}: as many as from that place on, "
        "and "
        "one more, are wanted",
        *matched, *length, predicted ? fmt::format("{}", *predicted) : "an unknown number");
}

void check_attention_lstm(const NodeFacts& facts) {
  const SymbolicShape *X = facts.shape(0), *M = facts.shape(11);
  const Size steps = size_of(X, 0), batch = size_of(X, 1), input = size_of(X, 2);
  const Size memory = size_of(M, 1), depth = size_of(M, 2), am = size_of(facts.shape(8), 2);
  const Size attention = facts.has_input(13) ? size_of(facts.shape(13), 2) : depth;
  const std::int64_t hidden = facts.int_attribute("hidden_size", 1);
  if (hidden < 1) return;
  const onnx_io::Attribute* direction = facts.attribute("direction");
  const std::int64_t directions = direction != nullptr && direction->s == "bidirectional" ? 2 : 1;
  const auto sum = [](const Size& a, const Size& b) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    return a && b && *a < most && *b < most ? Size(*a + *b) : std::nullopt;
  };
  const auto times = [&](std::int64_t n) { return count_of({n, hidden}); };
  const Sizes state{directions, batch, hidden};
  const Sizes wanted[] = {{steps, batch, input},
                          {directions, times(4), sum(input, attention)},
                          {directions, times(4), hidden},
                          {directions, times(8)},
                          {batch},
                          state,
                          state,
                          {directions, times(3)},
                          {directions, hidden, am},
                          {directions, depth, am},
                          {directions, am},
                          {batch, memory, depth},
                          {batch},
                          {directions, sum(depth, hidden), attention}};
  for (std::size_t i = 0; i < std::size(wanted); ++i)
    require_sizes(input_name(facts, i), facts.shape(i), wanted[i], "as the other inputs and hidden_size");
  const auto check_lengths_in = [&](std::size_t at, const Size& all) {
    const auto lengths = integers_in(facts, at);
    for (std::size_t b = 0; lengths && all && b < lengths->size(); ++b)
      if ((*lengths)[b] < 0 || (*lengths)[b] > *all)
        fail_invalid("{}[{}] is {}, but must be in [0, {}]", input_name(facts, at), b, (*lengths)[b], *all);
  };
  check_lengths_in(4, steps), check_lengths_in(12, memory);
}

}  // namespace grurun::opset
