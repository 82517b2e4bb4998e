// Lists of a model's things, of which a report shows so many.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace grurun::report {

/// In text that people read, and in what programs read.
inline constexpr std::size_t most_in_text = 200;
inline constexpr std::size_t most_in_json = 10'000;

template <typename Item>
std::span<const Item> first_of(const std::vector<Item>& list, std::size_t most) {
  return std::span(list).first(std::min(list.size(), most));
}

/// A line for those that are not shown: "... 49800 more".
inline std::string left_out(std::size_t size, std::size_t most, const char* indent = "    ") {
  return size > most ? fmt::format("{}... {} more\n", indent, size - most) : "";
}

}  // namespace grurun::report
