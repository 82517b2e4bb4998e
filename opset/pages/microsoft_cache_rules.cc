// Operators of com.microsoft that attend to a cache, which they fill themselves.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "opset/pages/microsoft_rules.h"
#include "opset/schema/added/microsoft_cache_window.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

constexpr std::int64_t most_attention_heads = 1 << 20;  // as the kernel takes

// The places that the queries of each entry stand at: where the first does, and how many follow.
void check_cached_places(const NodeFacts& facts, const Size& most, std::int64_t block) {
  const Size length = size_of(facts.shape(0), 1), total = number_in(facts, 7);
  const auto totals = integers_in(facts, 8);
  if (!length || !total || !totals) return;
  const Size rows = size_of(facts.shape(5), 1), turned = size_of(facts.shape(9), 0);
  const bool turns = facts.int_attribute("do_rotary", 0) != 0;
  for (std::size_t b = 0; b < totals->size(); ++b) {
    const std::int64_t past = *total == *length ? 0 : (*totals)[b] - *length, end = past + *length;
    if (past < 0 || (most && end > *most))
      fail_invalid("entry {} has {} keys before {} new ones, but the cache holds {}", b, past, *length,
                   most ? fmt::format("{}", *most) : "those of its length");
    if (rows && *length > 0 && (end - 1) / block + 1 >= *rows)
      fail_invalid("block_row_indices has no row {}", (end - 1) / block);
    if (turns && turned && end > *turned)
      fail_invalid("cos_cache has {} places, but {} is wanted", *turned, end - 1);
  }
}

void check_block_rows(const NodeFacts& facts) {
  const auto rows = integers_in(facts, 5);
  const Size width = size_of(facts.shape(5), 1), columns = size_of(facts.shape(6), 1);
  if (!rows || !width || *width < 1) return;
  const auto each = static_cast<std::size_t>(*width);
  for (std::size_t i = 0; i + 1 < rows->size(); ++i) {
    const std::int64_t begin = (*rows)[i], end = (*rows)[i + 1];
    if ((i + 1) % each == 0) continue;  // of two layouts
    if (begin < 0 || end < begin || (columns && end > *columns))
      fail_invalid("block_row_indices holds {} and {}, which are no places of block_col_indices", begin, end);
  }
}

}  // namespace

namespace {

// How many keys each entry has then, less 1, and how many of them are new; they stand within the caches.
void check_key_counts(const NodeFacts& facts, const Size& batch, const Size& length) {
  const SymbolicShape* counts = facts.shape(5);
  const Size given = counts == nullptr ? std::nullopt : count_of(sizes_of(*counts));
  if (given && batch && *given != *batch)
    fail_invalid("seqlens_k is {}, but must hold a number for each of the {} rows of query",
                 to_string(*counts), *batch);
  require_sizes("query_seqlens", facts.shape(16), {batch}, "a number for each row of query");
  const Size total = number_in(facts, 6), past = size_of(facts.shape(3), 2);
  const bool has_past = facts.has_input(3), slides = facts.int_attribute("sliding_window_cache", 0) != 0,
             padded = facts.has_input(16);
  if (total && *total < 1) fail_invalid("total_sequence_length is {}, but must be positive", *total);
  if (total && length && !has_past && *total != *length)
    fail_invalid("total_sequence_length is {}, but there is no past and {} new words", *total, *length);
  if (total && length && past && !slides && !padded && *total > *past && *total - *past != *length)
    fail_invalid(
        "total_sequence_length is {}, but the past of {} and {} new words have room for {}: it must be the "
        "sum "
        "of both, or at most the past",
        *total, *past, *length, *past + *length);
  const auto lasts = integers_in(facts, 5), news = integers_in(facts, 16);
  if (!lasts || !total) return;
  for (std::size_t b = 0; b < lasts->size(); ++b) {
    const std::int64_t last = (*lasts)[b];
    if (last < 0 || last >= *total)
      fail_invalid("seqlens_k[{}] is {}, but must be in [0, {}), below total_sequence_length", b, last,
                   *total);
    if (news && length && b < news->size() && ((*news)[b] < 0 || (*news)[b] > std::min(*length, last + 1)))
      fail_invalid("query_seqlens[{}] is {}, but must be in [0, {}]", b, (*news)[b],
                   std::min(*length, last + 1));
    const Size now = padded   ? (news && b < news->size() ? Size((*news)[b]) : std::nullopt)
                     : length ? Size(std::min(*length, last + 1))
                              : std::nullopt;
    if (!now || !past || !length || slides) continue;
    const std::int64_t before = last + 1 - *now, room = std::max(*past, *total);
    if (before > *past || before + *length > room)
      fail_invalid("seqlens_k[{}] is {}: {} keys before {} new words do not fit into the cache of {}", b,
                   last, before, *length, room);
  }
}

// Caches of half a head at most, and places within them.
void check_turned_heads(const NodeFacts& facts, const Size& batch, const Size& length, const Size& size) {
  require_sizes("position_ids", facts.shape(9), {batch, length}, "[batch_size, sequence_length]");
  if (facts.int_attribute("do_rotary", 0) == 0) return;
  for (const std::size_t input : {7, 8})
    if (!facts.has_input(input)) fail_invalid("do_rotary needs {}", input_name(facts, input));
  const SymbolicShape* cache = facts.shape(7);
  const Size half = size_of(cache, 1), rows = size_of(cache, 0);
  if (cache != nullptr && rank_of(*cache) != 2)
    fail_invalid("cos_cache is {}, but must have 2 dimensions", to_string(*cache));
  if (half && size && (*half < 1 || 2 * *half > *size))
    fail_invalid("cos_cache is {}, but must have at most {} columns, half of the elements of a head",
                 to_string(*cache), *size / 2);
  require_sizes("sin_cache", facts.shape(8), {rows, half}, "as cos_cache");
  if (!rows) return;
  if (facts.has_input(9)) {
    const auto ids = integers_in(facts, 9);
    for (std::size_t i = 0; ids && i < ids->size(); ++i)
      if ((*ids)[i] < 0 || (*ids)[i] >= *rows)
        fail_invalid("position_ids holds {}, but cos_cache has {} rows", (*ids)[i], *rows);
    return;
  }
  const auto lasts = integers_in(facts, 5), news = integers_in(facts, 16);
  for (std::size_t b = 0; lasts && length && b < lasts->size(); ++b) {
    const std::int64_t last = (*lasts)[b];
    const std::int64_t now = news && b < news->size() ? (*news)[b] : std::min(*length, last + 1);
    if (last + 1 - now + *length > *rows)
      fail_invalid("seqlens_k[{}] is {}, which needs {} rows of cos_cache, but it has {}", b, last,
                   last + 1 - now + *length, *rows);
  }
}

// Heads of one size in query, key, value and the caches.
void check_grouped_heads(const NodeFacts& facts) {
  const std::int64_t heads = facts.int_attribute("num_heads", 0),
                     kv_heads = facts.int_attribute("kv_num_heads", 0);
  if (heads < 1 || kv_heads < 1 || heads > most_attention_heads || kv_heads > most_attention_heads) return;
  if (heads % kv_heads != 0)
    fail_invalid("num_heads is {}, which is no multiple of kv_num_heads, {}", heads, kv_heads);
  if (facts.has_input(1) != facts.has_input(2)) fail_invalid("key and value must both be given, or neither");
  if (facts.has_input(3) != facts.has_input(4))
    fail_invalid("past_key and past_value must be given together");
  const SymbolicShape *query = facts.shape(0), *past = facts.shape(3);
  const std::int64_t all = facts.has_input(1) ? heads : heads + 2 * kv_heads;
  const Size batch = size_of(query, 0), length = size_of(query, 1), width = size_of(query, 2);
  if (width && *width % all != 0)
    fail_invalid("query is {}: its last size does not divide by its {} heads", to_string(*query), all);
  const Size size = width ? Size(*width / all) : std::nullopt;
  for (const std::size_t input : {1, 2})
    require_sizes(input_name(facts, input), facts.shape(input), {batch, length, count_of({kv_heads, size})},
                  "kv_num_heads heads of query's size");
  const bool halved = facts.dtype(3) == DType::uint8 && facts.int_attribute("kv_cache_bit_width", 0) == 4;
  const Size stored = halved && size ? Size(*size / 2) : size;
  require_sizes("past_key", past, {batch, kv_heads, std::nullopt, stored}, "kv_num_heads heads of key");
  require_sizes("past_value", facts.shape(4), {batch, kv_heads, size_of(past, 2), stored}, "as past_key");
  const Size total = number_in(facts, 6);
  if (const SymbolicShape* bias = facts.shape(10)) {
    const Sizes scores{size_of(bias, 0) == 1 ? Size(1) : batch, size_of(bias, 1) == 1 ? Size(1) : Size(heads),
                       length, total};
    require_sizes("attention_bias", bias, scores,
                  "[batch_size or 1, num_heads or 1, sequence_length, total_sequence_length]");
  }
  require_sizes("head_sink", facts.shape(11), {heads}, "a number for each head");
  check_key_counts(facts, batch, length);
  check_turned_heads(facts, batch, length, size);
}

}  // namespace

void check_group_query(const NodeFacts& facts) {
  const auto& outputs = facts.node().outputs;
  const GroupQueryForm form{facts.int_attribute("causal", 1),
                            facts.int_attribute("local_window_size", -1),
                            facts.int_attribute("sliding_window_cache", 0),
                            facts.int_attribute("qk_output", 0),
                            facts.has_input(3),
                            facts.has_input(16),
                            outputs.size() > 3 && !outputs[3].empty(),
                            size_of(facts.shape(3), 2)};
  if (const auto fault = form_fault(form)) fail_invalid("{}", *fault);
  check_grouped_heads(facts);
}

void check_sparse_attention(const NodeFacts& facts) {
  const std::int64_t heads = facts.int_attribute("num_heads", 1),
                     kv_heads = facts.int_attribute("kv_num_heads", 1);
  if (heads < 1 || kv_heads < 1 || heads > most_attention_heads || kv_heads > most_attention_heads) return;
  if (heads % kv_heads != 0)
    fail_invalid("num_heads is {}, which is no multiple of kv_num_heads, {}", heads, kv_heads);
  const SymbolicShape* cache = facts.shape(3);
  const Size batch = size_of(facts.shape(0), 0), length = size_of(facts.shape(0), 1),
             size = size_of(cache, 3);
  if (facts.has_input(1) != facts.has_input(2)) fail_invalid("key and value must both be given, or neither");
  const bool packed = !facts.has_input(1);
  const Size keys = count_of({kv_heads, size});
  require_sizes("query", facts.shape(0),
                {std::nullopt, std::nullopt, count_of({packed ? heads + 2 * kv_heads : heads, size})},
                "the heads of the caches' size");
  for (const std::size_t input : {1, 2})
    require_sizes(input_name(facts, input), facts.shape(input), {batch, length, keys},
                  "the heads of the caches' size");
  require_sizes("past_key", cache, {batch, kv_heads, std::nullopt, std::nullopt}, "of kv_num_heads");
  if (facts.int_attribute("do_rotary", 0) != 0) {
    for (const std::size_t input : {9, 10}) {
      if (!facts.has_input(input)) fail_invalid("do_rotary needs {}", input_name(facts, input));
      const Size half = size_of(facts.shape(input), 1);
      if (half && size && count_of({2, half}) != size)
        fail_invalid("{} is {}, but must have half of {} columns", input_name(facts, input),
                     to_string(*facts.shape(input)), *size);
    }
  }
  check_block_rows(facts);
  check_cached_places(facts, size_of(cache, 2),
                      std::max<std::int64_t>(1, facts.int_attribute("sparse_block_size", 1)));
}

void check_decoder_attention(const NodeFacts& facts) {
  const std::int64_t heads = facts.int_attribute("num_heads", 1);
  const Size batch = size_of(facts.shape(0), 0), width = size_of(facts.shape(0), 2);
  if (heads < 1) return;
  if (!facts.has_input(5)) {
    const SymbolicShape* key = facts.shape(1);
    if (!facts.has_input(1) || !facts.has_input(2))
      fail_invalid("without past_key, key and value must be given");
    const Size size = size_of(key, 3);
    require_sizes("key", key, {batch, heads, std::nullopt, std::nullopt},
                  "of num_heads, for cross attention");
    require_sizes("query", facts.shape(0), {batch, std::nullopt, count_of({heads, size})},
                  "the heads of key");
    require_sizes("value", facts.shape(2), {batch, heads, size_of(key, 2), size}, "as key");
    require_sizes("mask_index", facts.shape(3), {batch, size_of(key, 2)}, "a number for each key");
    require_sizes("bias", facts.shape(10), {count_of({3, width})}, "numbers for query, key and value");
    return;
  }
  const SymbolicShape* cache = facts.shape(5);
  const Size most = size_of(cache, 2), hidden = count_of({heads, size_of(cache, 3)});
  const bool packed = !facts.has_input(1);
  require_sizes("past_key", cache, {batch, heads, std::nullopt, std::nullopt}, "of num_heads");
  require_sizes("query", facts.shape(0), {batch, std::nullopt, count_of({packed ? 3 : 1, hidden})},
                "the heads of past_key");
  if (!packed && !facts.has_input(2)) fail_invalid("key and value must both be given, or neither");
  for (const std::size_t input : {1, 2})
    require_sizes(input_name(facts, input), facts.shape(input), {batch, size_of(facts.shape(0), 1), width},
                  "as query");
  require_sizes("bias", facts.shape(10), {count_of({3, hidden})}, "numbers for query, key and value");
  const Size now = number_in(facts, 7), beams = facts.has_input(8) ? number_in(facts, 8) : Size(1);
  if (now && (*now < 0 || (most && *now >= *most)))
    fail_invalid("past_sequence_length is {}, but must be in [0, {})", *now,
                 most ? fmt::format("{}", *most) : "the length of past_key");
  if (now) require_sizes("mask_index", facts.shape(3), {batch, *now + 1}, "a number for each key");
  if (!beams) return;
  if (!facts.has_input(9)) {
    if (*beams != 1) fail_invalid("beam_width is {}, but there is no cache_indirection", *beams);
    return;
  }
  if (*beams < 1 || (batch && *batch % *beams != 0))
    fail_invalid("beam_width is {}, but must divide the batch{}", *beams,
                 batch ? fmt::format(", {}", *batch) : "");
  require_sizes("cache_indirection", facts.shape(9), {batch ? Size(*batch / *beams) : batch, *beams, most},
                "a beam for each place of the cache");
  const auto from = integers_in(facts, 9);
  if (!from || !now || !most || *most < 1) return;
  for (std::size_t i = 0; i < from->size(); ++i) {
    const std::int64_t beam = (*from)[i];
    if (static_cast<std::int64_t>(i) % *most < *now && (beam < 0 || beam >= *beams))
      fail_invalid("cache_indirection holds {}, which is no beam", beam);
  }
}

}  // namespace grurun::opset
