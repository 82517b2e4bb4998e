#include "onnx_io/utf8.h"

namespace grurun::onnx_io {

namespace {

bool is_code_point(char32_t c) {
  return c < 0xd800 || (c > 0xdfff && c <= 0x10ffff);
}

}  // namespace

std::optional<std::u32string> decode_utf8(std::string_view text) {
  std::u32string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const int more = first < 0x80    ? 0
                     : first >= 0xf8 ? -1
                     : first >= 0xf0 ? 3
                     : first >= 0xe0 ? 2
                     : first >= 0xc0 ? 1
                                     : -1;
    if (more < 0 || text.size() - at < static_cast<std::size_t>(more)) return std::nullopt;
    constexpr char32_t first_mask[] = {0x7f, 0x1f, 0x0f, 0x07};
    constexpr char32_t lowest[] = {0, 0x80, 0x800, 0x10000};
    char32_t code_point = first & first_mask[more];
    for (int i = 0; i < more; ++i) {
      const auto next = static_cast<unsigned char>(text[at++]);
      if ((next & 0xc0) != 0x80) return std::nullopt;
      code_point = code_point << 6 | (next & 0x3f);
    }
    if (code_point < lowest[more] || !is_code_point(code_point)) return std::nullopt;
    out += code_point;
  }
  return out;
}

bool append_utf8(char32_t c, std::string* to) {
  if (!is_code_point(c)) return false;
  const auto put = [to](char32_t byte) { to->push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
  return true;
}

}  // namespace grurun::onnx_io
