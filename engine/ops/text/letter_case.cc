#include "engine/ops/text/letter_case.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "onnx_io/utf8.h"
#include "tensor/ascii_case.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

/// Every stride-th code point from first to last maps to the one delta further.
struct CaseRange {
  std::uint32_t first, last;
  std::int32_t stride, delta;
};

constexpr CaseRange to_upper[] = {
#include "engine/ops/text/upper_case.inc"
};
constexpr CaseRange to_lower[] = {
#include "engine/ops/text/lower_case.inc"
};

template <std::size_t n>
char32_t mapped(const CaseRange (&ranges)[n], char32_t letter) {
  const auto* after = std::upper_bound(std::begin(ranges), std::end(ranges), letter,
                                       [](char32_t c, const CaseRange& range) { return c < range.first; });
  if (after == std::begin(ranges)) return letter;
  const CaseRange& range = *std::prev(after);
  if (letter > range.last || (letter - range.first) % static_cast<std::uint32_t>(range.stride) != 0) {
    return letter;
  }
  return static_cast<char32_t>(static_cast<std::int32_t>(letter) + range.delta);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

CaseMapping::CaseMapping(const std::string& locale) {
  const std::string_view name = locale.empty() ? std::string_view("en_US") : locale;
  const std::string_view plain = name.substr(0, name.find('@'));
  const std::size_t dot = plain.find('.');
  const std::string charset = ascii_lower(dot == std::string_view::npos ? "" : plain.substr(dot + 1));
  if (!charset.empty() && charset != "utf-8" && charset != "utf8") {
    fail_unsupported("locale '{}': strings are UTF-8, so no other character set applies", locale);
  }
  const std::string_view place = plain.substr(0, dot);
  const std::string language = ascii_lower(place.substr(0, place.find_first_of("_-")));
  if (place == "C" || place == "POSIX") {
    ascii_only_ = charset.empty();
    return;
  }
  if (language.size() < 2 || language.size() > 3 || !std::ranges::all_of(language, is_letter)) {
    fail_unsupported("locale '{}' is no name like en_US, en_US.UTF-8, en-US or C", locale);
  }
  dotted_i_ = language == "tr" || language == "az";
}

char32_t CaseMapping::convert(char32_t letter, LetterCase to) const {
  if (ascii_only_ && letter >= 0x80) return letter;
  if (dotted_i_ && to == LetterCase::upper && letter == U'i') return U'\u0130';
  if (dotted_i_ && to == LetterCase::lower && letter == U'I') return U'\u0131';
  return to == LetterCase::upper ? mapped(to_upper, letter) : mapped(to_lower, letter);
}

std::string CaseMapping::convert(const std::string& text, LetterCase to) const {
  std::string out;
  if (is_ascii(text) && !dotted_i_) {
    out = text;
    for (char& c : out) c = static_cast<char>(convert(static_cast<char32_t>(c), to));
    return out;
  }
  const auto letters = onnx_io::decode_utf8(text);
  if (!letters) fail_invalid("the string '{}' is not well-formed UTF-8, so its letters have no case", text);
  for (const char32_t letter : *letters) onnx_io::append_utf8(convert(letter, to), &out);
  return out;
}

}  // namespace grurun::engine
