// Nodes for GroupQueryAttention with sliding_window_cache: a cache of C places that keeps the last keys of
// each entry from its first place on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace grurun::opset {

/// What a node of GroupQueryAttention states.
struct GroupQueryForm {
  std::int64_t causal = 1, local_window_size = -1, sliding_window_cache = 0, qk_output = 0;
  bool has_past = false, has_query_seqlens = false, wants_output_qk = false;
  std::optional<std::int64_t> capacity;  // of the past, where it is known
};

/// What of it does not go together.
std::optional<std::string> form_fault(const GroupQueryForm& form);

struct CacheWindow {
  std::int64_t capacity = 0, window = 0;  // C, local_window_size
  std::int64_t length = 0;                // of the query
};

/// From before, keys_now and new_count [batch_size], how many keys each entry had, has and was given:
/// row_place [batch_size, C + length], where in its sequence each row of the old cache and of the new keys
/// stands; row_is_key, whether it is one; kept_row [batch_size, 1, C, 1], which of these rows the new cache
/// holds; is_kept.
std::string window_rows(const CacheWindow& window);

/// present: of rows [batch_size, heads, C + length, size], those that are kept, and emptiness behind them.
std::string kept_rows(std::string_view rows, std::string_view present, std::string_view emptiness);

/// visible [batch_size, 1, length, C + length], from query_place [batch_size, 1, length, 1].
std::string visible_rows(const CacheWindow& window);

/// columns [batch_size, heads, length, C + length]: those of attention_bias at row_place.
std::string columns_of_rows(std::int64_t batch, std::int64_t heads, const CacheWindow& window);

}  // namespace grurun::opset
