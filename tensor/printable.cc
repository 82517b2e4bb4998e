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
  if (text.starts_with("##")) {
    out += "#\\x23";
    return 2;
  }
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

namespace {

bool goes_on(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Names between quotes that begin a word, as messages have them.
std::string without_long_names(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(' || text[at - 1] == '[';
    const std::size_t end = text[at] == '\'' && begins_word ? text.find('\'', at + 1) : text.npos;
    if (end != text.npos && end - at > most_of_name + 1) {
      out += "'" + without_middle(text.substr(at + 1, end - at - 1), most_of_name);
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

/// GitHub's runner obeys a line that begins with "::", whatever blanks stand before it.
void keep_from_commanding(std::string& line) {
  const std::size_t first = static_cast<std::size_t>(
      std::ranges::find_if(line, [](char c) { return c > ' ' && c < 0x7f; }) - line.begin());
  if (first < line.size() && line[first] == ':') line.replace(first, 1, "\\x3a");
}

}  // namespace

std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t head = most / 2, tail = text.size() - most / 2;
  while (head > 0 && goes_on(text[head])) --head;
  while (tail < text.size() && goes_on(text[tail])) ++tail;
  return fmt::format("{}...({} bytes)...{}", text.substr(0, head), tail - head, text.substr(tail));
}

std::string printable(std::string_view text) {
  std::string shorter;
  if (text.size() > most_of_name) {
    // What is far too long is not looked at as a whole.
    shorter = without_middle(without_long_names(without_middle(text, 8 * most_of_line)), most_of_line);
    text = shorter;
  }
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) text.remove_prefix(append_printable(out, text));
  keep_from_commanding(out);
  return out;
}

std::string printable_name(std::string_view name) {
  return printable(without_middle(name, most_of_name));
}

}  // namespace grurun
