// StringSplit (ai.onnx 20).
//
// X [...] -> Y [..., S] substrings, padded with "", and Z [...] how many there are of each; S is the most of
// any element. With a delimiter, n occurrences of it (left to right, not overlapping) give n + 1 substrings.
// Without one, or with "", substrings are what lies between runs of whitespace, which is Unicode's property
// White_Space; what stands before the first and after the last is dropped, also from the last substring that
// maxsplit leaves whole. A negative maxsplit is no limit.
#include <optional>
#include <string_view>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

using Substrings = std::vector<std::string_view>;

// Bytes of the whitespace character that text starts with, 0 where it starts with another. No byte of these
// sequences but the first can begin a character, so that text may be searched byte by byte.
std::size_t leading_whitespace(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return 1;
  if (text.starts_with("\u0085") || text.starts_with("\u00a0")) return 2;
  if (text.starts_with("\u1680") || text.starts_with("\u205f") || text.starts_with("\u3000")) return 3;
  if (text.size() < 3 || !text.starts_with("\xe2\x80")) return 0;
  const auto last = static_cast<unsigned char>(text[2]);
  const bool blank = last >= 0x80 && last <= 0x8a;                      // U+2000 to U+200A
  const bool separator = last == 0xa8 || last == 0xa9 || last == 0xaf;  // U+2028, U+2029, U+202F
  return blank || separator ? 3 : 0;
}

std::string_view without_leading_whitespace(std::string_view text) {
  while (const std::size_t n = leading_whitespace(text)) text.remove_prefix(n);
  return text;
}

// The bytes of text up to where its trailing whitespace begins.
std::size_t length_without_trailing(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = leading_whitespace(text.substr(i));
    i += n > 0 ? n : 1;
    if (n == 0) end = i;
  }
  return end;
}

Substrings split_at_whitespace(std::string_view text, std::optional<std::size_t> maxsplit) {
  Substrings found;
  text = without_leading_whitespace(text);
  while (!text.empty()) {
    if (maxsplit && found.size() == *maxsplit) {
      found.push_back(text.substr(0, length_without_trailing(text)));
      break;
    }
    std::size_t end = 0;
    while (end < text.size() && leading_whitespace(text.substr(end)) == 0) ++end;
    found.push_back(text.substr(0, end));
    text = without_leading_whitespace(text.substr(end));
  }
  return found;
}

Substrings split_at(std::string_view text, std::string_view delimiter, std::optional<std::size_t> maxsplit) {
  Substrings found;
  for (std::size_t at;
       (!maxsplit || found.size() < *maxsplit) && (at = text.find(delimiter)) != std::string_view::npos;) {
    found.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  found.push_back(text);
  return found;
}

RunFunction prepare_string_split(PrepareContext& node) {
  const std::string delimiter = node.string_attribute("delimiter", "");
  std::optional<std::size_t> maxsplit;
  if (const auto given = node.optional_int("maxsplit"); given && *given >= 0) {
    maxsplit = static_cast<std::size_t>(*given);
  }
  return [delimiter, maxsplit](RunContext& run) {
    const Tensor& x = run.tensor(0);
    std::vector<Substrings> split;
    split.reserve(static_cast<std::size_t>(x.size()));
    std::size_t most = 0;
    for (const std::string& text : x.span<std::string>()) {
      split.push_back(delimiter.empty() ? split_at_whitespace(text, maxsplit)
                                        : split_at(text, delimiter, maxsplit));
      most = std::max(most, split.back().size());
    }
    Tensor& counts = run.output(1, DType::int64, x.shape());
    std::int64_t* count = counts.mutable_data<std::int64_t>();
    Shape shape = x.shape();
    shape.push_back(static_cast<std::int64_t>(most));
    Tensor& y = run.output(0, DType::string, shape);
    std::string* row = y.mutable_data<std::string>();
    for (const Substrings& substrings : split) {
      for (std::size_t i = 0; i < substrings.size(); ++i) row[i] = substrings[i];
      row += most;
      *count++ = static_cast<std::int64_t>(substrings.size());
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_string_split() {
  return {{"", "StringSplit", {20}, prepare_string_split}};
}

}  // namespace grurun::engine
