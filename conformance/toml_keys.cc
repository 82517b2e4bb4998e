#include "conformance/toml_keys.h"

#include <algorithm>

namespace grurun::conformance {

namespace {

/// Where the string ends that begins at `at`: after its quotes, or at the end of the line of one that has
/// none.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view thrice = quote == '"' ? "\"\"\"" : "'''";
  const bool is_long = text.substr(at).starts_with(thrice);
  for (at += is_long ? 3 : 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (is_long ? text.substr(at).starts_with(thrice) : text[at] == quote) {
      return at + (is_long ? 3 : 1);
    } else if (!is_long && text[at] == '\n') {
      return at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> line_of_long_key(std::string_view text, std::size_t most) {
  constexpr std::string_view ends_of_keys = "\n=,[]{}";
  std::size_t dots = 0, at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (ends_of_keys.find(c) != ends_of_keys.npos) dots = 0;
    if (c == '.' && ++dots > most)
      return static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n')) + 1;
    ++at;
  }
  return std::nullopt;
}

}  // namespace grurun::conformance
