#include "opset/schema/added/microsoft_cache_window.h"

#include <fmt/format.h>

#include "opset/schema/added/added_operator.h"

namespace grurun::opset {

namespace {

// resident: how many of `keys` a cache holds: of those above C, G = C - window + 1 are dropped at once.
std::string resident(std::string_view keys, std::string_view name) {
  return fmt::format(
      "{1}_more = Sub({0}, room) {1}_over = Max({1}_more, none) {1}_begun = Add({1}_over, dropped_less) "
      "{1}_times = Div({1}_begun, dropped) {1}_gone = Mul({1}_times, dropped) {1} = Sub({0}, {1}_gone) "
      "{1}_first_flat = Sub({0}, {1}) {1}_first = Unsqueeze({1}_first_flat, column) "
      "{1}_column = Unsqueeze({1}, column) ",
      keys, name);
}

}  // namespace

std::optional<std::string> form_fault(const GroupQueryForm& form) {
  const std::int64_t window = form.local_window_size;
  if (form.causal == 0 && window != -1)
    return fmt::format("local_window_size is {}, but must be -1 where causal is 0", window);
  if (form.has_query_seqlens && (form.causal == 0 || !form.has_past))
    return "query_seqlens needs past_key, past_value and causal 1";
  if (form.wants_output_qk && form.qk_output == 0)
    return "output_qk is wanted, but qk_output is 0: state 1 or 2";
  if (form.sliding_window_cache == 0) return std::nullopt;
  if (window <= 0 || !form.has_past)
    return "sliding_window_cache needs past_key, past_value and a positive local_window_size";
  if (form.capacity && *form.capacity < window)
    return fmt::format("the cache has {} places, but must have the {} of local_window_size", *form.capacity,
                       window);
  return std::nullopt;
}

std::string window_rows(const CacheWindow& window) {
  const std::int64_t dropped = window.capacity - window.window + 1;
  return fmt::format(
             "room = Constant <value_int = {}> () dropped = Constant <value_int = {}> () "
             "dropped_less = Constant <value_int = {}> () ",
             window.capacity, dropped, dropped - 1) +
         resident("before", "held") + resident("keys_now", "kept") +
         "old_row = Range(none, room, one) old_place = Add(held_first, old_row) "
         "old_is_key = Less(old_row, held_column) new_column = Unsqueeze(new_count, column) "
         "new_is_key = Less(steps, new_column) row_place = Concat <axis = 1> (old_place, place) "
         "row_is_key = Concat <axis = 1> (old_is_key, new_is_key) "
         "kept_place = Add(kept_first, old_row) is_old = Less(kept_place, first_place) "
         "old_from = Sub(kept_place, held_first) new_step = Sub(kept_place, first_place) "
         "new_from = Add(new_step, room) kept_from = Where(is_old, old_from, new_from) "
         "is_kept_flat = Less(old_row, kept_column) kept_or_none = Where(is_kept_flat, kept_from, none) "
         "around = Constant <value_ints = [1, 3]> () kept_row = Unsqueeze(kept_or_none, around) "
         "is_kept = Unsqueeze(is_kept_flat, around) ";
}

std::string kept_rows(std::string_view rows, std::string_view present, std::string_view emptiness) {
  return fmt::format(
      "{1}_heads = Shape <start = 0, end = 2> ({0}) {1}_size = Shape <start = 3, end = 4> ({0}) "
      "{1}_room = Reshape(room, column) {1}_sizes = Concat <axis = 0> ({1}_heads, {1}_room, {1}_size) "
      "{1}_from = Expand(kept_row, {1}_sizes) {1}_found = GatherElements <axis = 2> ({0}, {1}_from) "
      "{1}_empty = CastLike({2}, {0}) {1} = Where(is_kept, {1}_found, {1}_empty) ",
      rows, present, emptiness);
}

std::string visible_rows(const CacheWindow& window) {
  return fmt::format(
      "middle_axes = Constant <value_ints = [1, 2]> () key_place = Unsqueeze(row_place, middle_axes) "
      "is_key = Unsqueeze(row_is_key, middle_axes) reached = LessOrEqual(key_place, query_place) "
      "window = Constant <value_int = {}> () gone = Sub(query_place, window) "
      "recent = Greater(key_place, gone) both = And(reached, recent) visible = And(both, is_key) ",
      window.window);
}

std::string columns_of_rows(std::int64_t batch, std::int64_t heads, const CacheWindow& window) {
  return fmt::format(
      "all_rows = Constant <value_ints = {}> () bias_heads = Constant <value_ints = {}> () "
      "bias_width = Shape <start = 3, end = 4> (attention_bias) "
      "bias_sizes = Concat <axis = 0> (bias_heads, bias_width) bias_all = Expand(attention_bias, bias_sizes) "
      "last_column = Sub(bias_width, one) not_less = Max(key_place, none) "
      "bias_column = Min(not_less, last_column) bias_columns = Expand(bias_column, all_rows) "
      "columns = GatherElements <axis = 3> (bias_all, bias_columns) ",
      list_text({batch, heads, window.length, window.capacity + window.length}),
      list_text({batch, heads, window.length}));
}

}  // namespace grurun::opset
