// Lists that what a file holds makes, of which a report shows so many.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grurun::report {

/// In text that people read, and in what programs read.
inline constexpr std::size_t most_in_text = 50;
inline constexpr std::size_t most_in_json = 10'000;

template <typename Item>
std::span<const Item> first_of(const std::vector<Item>& list, std::size_t most) {
  return std::span(list).first(std::min(list.size(), most));
}

/// A line for those that are not shown: "and 49950 more".
inline std::string left_out(std::size_t size, std::size_t most, const char* indent = "    ") {
  return size > most ? fmt::format("{}and {} more\n", indent, size - most) : "";
}

/// A line for each item, of the first most_in_text of them, and how many more there are. line(item): with its
/// end of line.
template <typename Item, typename Line>
std::string lines_of(const std::vector<Item>& list, const Line& line, const char* indent = "") {
  std::string text;
  for (const Item& item : first_of(list, most_in_text)) text += line(item);
  return text + left_out(list.size(), most_in_text, indent);
}

}  // namespace grurun::report
