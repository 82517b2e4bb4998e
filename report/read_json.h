// JSON of reports, read with bounds: none of it can take the stack, or memory without end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tensor/error.h"

namespace grurun::report {

/// The most that a report is read of, as a file or as a line that is read by itself.
inline constexpr std::size_t largest_report = std::size_t{256} << 20;

/// What nlohmann's parser asks at each event: refuses JSON that is nested deeper than 64, more values at once
/// than 4 million, and a key that an object has twice. Throws Error(usage).
class JsonBounds {
 public:
  template <typename Json, typename TheirEvent>
  void note(int depth, TheirEvent event, const Json& parsed) {
    constexpr int deepest = 64;
    constexpr std::size_t most_values = 4'000'000;
    if (event == TheirEvent::object_end || event == TheirEvent::array_end) return;
    if (depth > deepest) fail_usage("it is nested deeper than {}", deepest);
    const auto level = static_cast<std::size_t>(depth);
    if (event == TheirEvent::object_start) {
      // No event tells of the end of an object that is passed over.
      keys_.resize(std::max(keys_.size(), level + 1));
      keys_[level].clear();
    } else if (event == TheirEvent::key) {
      std::string name = parsed.template get<std::string>();
      if (!keys_.at(level - 1).insert(name).second)
        fail_usage("the key \"{}\" is there twice in one object", name);
    }
    if (++values_ > most_values) fail_usage("more than {} values stand together in it", most_values);
  }

  /// What was noted is kept no longer.
  void forget_values() { values_ = 0; }

 private:
  std::vector<std::unordered_set<std::string>> keys_;  // of the open object at each depth
  std::size_t values_ = 0;
};

/// Throws Error(usage) beyond the bounds, and nlohmann::json::exception for what is no JSON.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text) {
  JsonBounds bounds;
  return Json::parse(text, [&](int depth, typename Json::parse_event_t event, const Json& parsed) {
    bounds.note(depth, event, parsed);
    return true;
  });
}

}  // namespace grurun::report
