#include "tensor/near_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tensor/ascii_case.h"

namespace grurun {

namespace {

constexpr std::size_t longest_candidate = 64;

// Edits, two points each: insert, delete, replace, swap two neighbours. Another case is one point.
int distance(std::string_view a, std::string_view b) {
  int points[longest_candidate + 1][longest_candidate + 1];
  for (std::size_t i = 0; i <= a.size(); ++i) points[i][0] = static_cast<int>(2 * i);
  for (std::size_t j = 0; j <= b.size(); ++j) points[0][j] = static_cast<int>(2 * j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = a[i - 1];
      const char y = b[j - 1];
      const int replace = x == y ? 0 : ascii_lower_letter(x) == ascii_lower_letter(y) ? 1 : 2;
      int& here = points[i][j];
      here = std::min({points[i - 1][j - 1] + replace, points[i - 1][j] + 2, points[i][j - 1] + 2});
      if (i > 1 && j > 1 && x == b[j - 2] && y == a[i - 2]) here = std::min(here, points[i - 2][j - 2] + 2);
    }
  }
  return points[a.size()][b.size()];
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b,
                            [](char x, char y) { return ascii_lower_letter(x) == ascii_lower_letter(y); });
}

}  // namespace

std::vector<std::string> near_matches(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > longest_candidate) return {};
  const int farthest = 2 * std::max<int>(1, static_cast<int>(name.size()) / 4);
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > longest_candidate) continue;
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (2 * static_cast<int>(longer - shorter) > farthest) continue;
    const int edits = same_letters(name, candidate) ? 0 : distance(name, candidate);
    if (edits <= farthest) near.emplace_back(edits, candidate);
  }
  std::ranges::sort(near);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) {
    if (near[i].first > 0 && near.front().first == 0) break;  // nothing but the case differs: that is it
    found.push_back(near[i].second);
  }
  return found;
}

std::string did_you_mean(const std::vector<std::string>& matches) {
  if (matches.empty()) return "";
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (i > 0) text += i + 1 == matches.size() ? " or " : ", ";
    text += fmt::format("'{}'", matches[i]);
  }
  return text + "?";
}

}  // namespace grurun
