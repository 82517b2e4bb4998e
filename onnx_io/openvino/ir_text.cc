#include <charconv>

#include "onnx_io/openvino/network.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// One size: a number, "?" or "-1", or the bounds "1..8", of which either may be left out.
std::int64_t parse_size(std::string_view text, std::string_view what) {
  if (text == "?" || text == "-1") return unknown_size;
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const std::int64_t size = parse_integer(text, what);
    if (size < 0) fail_invalid("{} has the size {}, which is negative", what, size);
    return size;
  }
  const std::string_view least = text.substr(0, dots);
  const std::string_view most = text.substr(dots + 2);
  for (const std::string_view bound : {least, most}) {
    if (!bound.empty()) parse_integer(bound, what);
  }
  return unknown_size;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> items;
  if (trimmed(text).empty()) return items;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    items.push_back(trimmed(text.substr(from, comma - from)));
    from = comma + 1;
  }
  return items;
}

std::int64_t parse_integer(std::string_view text, std::string_view what) {
  const std::string_view digits = trimmed(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    fail_invalid("{} is '{}', which is no whole number of 64 bits", what, digits);
  }
  return number;
}

std::optional<Dims> parse_shape(std::string_view text, std::string_view what) {
  if (trimmed(text) == "...") return std::nullopt;
  Dims dims;
  for (const std::string_view size : split_list(text)) dims.push_back(parse_size(size, what));
  return dims;
}

bool looks_like_ir(std::string_view head) {
  constexpr std::string_view mark = "\xef\xbb\xbf";  // of UTF-8
  if (head.starts_with(mark)) head.remove_prefix(mark.size());
  head = trimmed(head);
  return head.starts_with("<?xml") || head.starts_with("<net");
}

}  // namespace grurun::onnx_io::openvino
