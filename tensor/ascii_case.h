// Lower case of ASCII letters, whatever the locale; other bytes stay.
#pragma once

#include <string>
#include <string_view>

namespace grurun {

constexpr char ascii_lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = ascii_lower_letter(c);
  return out;
}

}  // namespace grurun
