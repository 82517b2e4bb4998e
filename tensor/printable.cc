#include "tensor/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace grurun {

namespace {

/// Formatting characters that show what follows in another order, or on another line, than it has.
bool rearranges_text(std::uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || length > text.size()) return 0;
  std::uint32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3f);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool control = code < 0xa0;
  const bool no_text = control || rearranges_text(code) || code == 0xfffe || code == 0xffff;
  return overlong || surrogate || no_text || code > 0x10ffff ? 0 : length;
}

std::size_t append_printable(std::string& out, std::string_view text) {
  const std::size_t length = character_length(text);
  if (length > 0) {
    out += text.substr(0, length);
  } else if (text[0] == '\n') {
    out += "\\n";
  } else if (text[0] == '\t') {
    out += "\\t";
  } else {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
  }
  return std::max<std::size_t>(length, 1);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) text.remove_prefix(append_printable(out, text));
  return out;
}

}  // namespace grurun
