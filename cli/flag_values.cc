#include "cli/flag_values.h"

#include <charconv>
#include <cmath>

#include "onnx_io/values/max_rank.h"
#include "tensor/error.h"

namespace grurun::cli {
namespace {

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

template <typename Number = double>
std::optional<Number> parse_finite(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<Number> number = parse_number<Number>(text);
  return number && std::isfinite(static_cast<double>(*number)) ? number : std::nullopt;
}

std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::optional<std::int64_t> dim = parse_number<std::int64_t>(text.substr(0, comma));
    if (!dim || *dim < 0 || comma + 1 == text.size() || shape.rank() == onnx_io::max_rank)
      return std::nullopt;
    shape.push_back(*dim);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shape;
}

}  // namespace

std::pair<std::string, Shape> parse_named_shape(const std::string& flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool named = colon != std::string::npos && colon > 0;
  std::string_view dims = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  const bool bracketed = dims.size() >= 2 && dims.front() == '[' && dims.back() == ']';
  if (bracketed) dims = dims.substr(1, dims.size() - 2);
  if (bracketed || !dims.empty()) {
    if (std::optional<Shape> shape = parse_shape(dims))
      return {named ? text.substr(0, colon) : std::string(), std::move(*shape)};
  }
  fail_usage(
      "{} takes NAME:[d0,d1,...] with up to {} sizes of at least 0, as in X:[5,2,3], or [5,2,3] alone "
      "for the only input; got '{}'",
      flag, onnx_io::max_rank, text);
}

namespace {

// "batch=4": a dimension's name and its size.
std::pair<std::string, std::int64_t> parse_dimension(const std::string& flag, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0) {
    const std::optional<std::int64_t> size =
        parse_number<std::int64_t>(std::string_view(text).substr(equals + 1));
    if (size && *size >= 0) return {text.substr(0, equals), *size};
  }
  fail_usage("{} takes DIMENSION=SIZE with a size of at least 0, as in batch=4; got '{}'", flag, text);
}

}  // namespace

std::map<std::string, std::int64_t> parse_dimensions(const std::string& flag,
                                                     const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      // A comma before which no size stands belongs to the name.
      const std::size_t equals = text.find('=', begin);
      const std::size_t end = std::min(text.find(',', std::min(equals, text.size())), text.size());
      const auto [name, size] = parse_dimension(flag, text.substr(begin, end - begin));
      if (!sizes.emplace(name, size).second) fail_usage("{}: '{}' is set twice", flag, name);
      begin = end + 1;
    }
  }
  return sizes;
}

std::map<std::string, std::vector<std::int64_t>> parse_size_lists(const std::string& flag,
                                                                  const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::int64_t>> lists;
  for (const std::string& text : texts) {
    std::string begun, last;  // of a name that holds commas; the name that sizes belong to
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string piece = text.substr(begin, end - begin);
      begin = end + 1;
      const std::optional<std::int64_t> size = parse_number<std::int64_t>(piece);
      if (size && begun.empty() && !last.empty()) {
        if (*size < 0) fail_usage("{} {}: a size is a number from 0", flag, text);
        lists[last].push_back(*size);
        continue;
      }
      begun += (begun.empty() ? "" : ",") + piece;
      if (piece.find('=') == piece.npos && begin <= text.size()) continue;
      const auto [name, first] = parse_dimension(flag, begun);
      if (!lists.emplace(name, std::vector<std::int64_t>{first}).second)
        fail_usage("{}: '{}' is set twice", flag, name);
      last = name;
      begun.clear();
    }
  }
  return lists;
}

std::uint64_t parse_whole(const std::string& flag, const std::string& text) {
  if (const std::optional<std::uint64_t> number = parse_number<std::uint64_t>(text)) return *number;
  fail_usage("{} takes a whole number from 0 to {}; got '{}'", flag, UINT64_MAX, text);
}

trial::NamedRange parse_range(const std::string& flag, const std::string& text) {
  const std::string_view view = text;
  const std::size_t second = view.rfind(':');
  if (second != std::string_view::npos && second > 0) {
    const std::size_t first = view.rfind(':', second - 1);
    const bool named = first != std::string_view::npos;
    const std::size_t start = named ? first + 1 : 0;
    const std::optional low = parse_finite<long double>(view.substr(start, second - start));
    const std::optional high = parse_finite<long double>(view.substr(second + 1));
    if (low && high && *low <= *high && (!named || first > 0)) {
      return {named ? text.substr(0, first) : std::string(), *low, *high};
    }
  }
  fail_usage("{} takes LOW:HIGH or NAME:LOW:HIGH with LOW <= HIGH, as in -1:1; got '{}'", flag, text);
}

std::pair<std::string, double> parse_named_number(const std::string& flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool named = colon != std::string::npos;
  const std::optional<double> number = parse_finite(std::string_view(text).substr(named ? colon + 1 : 0));
  if (number && *number >= 0 && (!named || colon > 0)) {
    return {named ? text.substr(0, colon) : std::string(), *number};
  }
  fail_usage("{} takes a number of at least 0, or NAME:NUMBER, as in 1e-3 or Y:1e-3; got '{}'", flag, text);
}

std::size_t parse_bytes(const std::string& flag, const std::string& text) {
  std::string_view digits = text;
  int shift = 0;
  if (!digits.empty()) {
    const std::size_t unit = std::string_view("KMGT").find(digits.back());
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      digits.remove_suffix(1);
    }
  }
  const std::optional<std::uint64_t> number = parse_number<std::uint64_t>(digits);
  if (number && *number > 0 && *number <= (UINT64_MAX >> shift)) return *number << shift;
  fail_usage("{} takes a number of bytes above 0, with K, M, G or T for powers of 1024; got '{}'", flag,
             text);
}

std::optional<std::chrono::duration<double>> parse_time_limit(const std::string& flag,
                                                              const std::string& text) {
  constexpr double most = 1e9;  // clocks that count nanoseconds have no moment that is much later
  const std::optional<double> seconds = parse_finite(text);
  if (!seconds || *seconds < 0 || *seconds >= most)
    fail_usage("{} takes seconds, less than {:g}, or 0 for no limit; got '{}'", flag, most, text);
  return *seconds > 0 ? std::optional(std::chrono::duration<double>(*seconds)) : std::nullopt;
}

}  // namespace grurun::cli
