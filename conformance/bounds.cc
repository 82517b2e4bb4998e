#include "conformance/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/error.h"

namespace grurun::conformance {

namespace {

/// What the bounds of a result are held against.
struct Measures {
  double max_abs = 0;
  double max_rel = 0;
  std::uint64_t max_ulp = 0;
  std::int64_t differing = 0;
  std::int64_t non_finite = 0;
  std::string structure;  // types or shapes that differ
};

Measures measures_of(const CaseResult& result) {
  Measures out;
  for (const OutputResult& output : result.outputs) {
    const trial::Comparison& comparison = output.comparison;
    if (comparison.ok) continue;
    if (!comparison.structure.empty()) {
      out.structure = comparison.structure;
      continue;
    }
    const trial::ElementErrors& errors = comparison.errors;
    constexpr double most = std::numeric_limits<double>::max();
    out.max_abs = std::max(out.max_abs, std::min(errors.max_abs, most));
    out.max_rel = std::max(out.max_rel, std::min(errors.max_rel, most));
    out.max_ulp = std::max(out.max_ulp, errors.max_ulp.value_or(0));
    out.differing += errors.differing;
    out.non_finite += errors.non_finite;
  }
  return out;
}

template <typename T>
void parse_into(const std::string& word, std::string_view text, const std::string& place,
                std::optional<T>& bound) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bound) fail_usage("{}: {} is a second bound of this name", place, word);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= T{}))
    fail_usage("{}: {}: a bound is a number from 0", place, word);
  bound = value;
}

/// Calls visit(name, bound, measure) for each.
template <typename BoundsType, typename Visit>
void each(BoundsType& bounds, const Measures& measured, const Visit& visit) {
  visit("max_abs", bounds.max_abs, measured.max_abs);
  visit("max_rel", bounds.max_rel, measured.max_rel);
  visit("max_ulp", bounds.max_ulp, measured.max_ulp);
  visit("differing", bounds.differing, measured.differing);
  visit("non_finite", bounds.non_finite, measured.non_finite);
}

/// With three digits, and not below.
double rounded_up(double value) {
  if (!(value > 0) || !std::isfinite(value)) return std::min(value, std::numeric_limits<double>::max());
  double digits = 0;
  for (double more = 0; digits < value; more += 1) {
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    const std::string text = fmt::format("{:.2e}", value + more * unit);
    std::from_chars(text.data(), text.data() + text.size(), digits);
    if (!std::isfinite(digits)) return std::numeric_limits<double>::max();
  }
  return digits;
}

std::string listed(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

bool is_bound(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos || equals == 0 || equals + 1 == word.size()) return false;
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const char first = word[equals + 1];
  return std::ranges::all_of(word.substr(0, equals), is_name) &&
         ((first >= '0' && first <= '9') || first == '-');
}

void add_bound(const std::string& word, const std::string& place, Bounds& bounds) {
  const std::string name = word.substr(0, word.find('='));
  const std::string_view text = std::string_view(word).substr(name.size() + 1);
  bool is_known = false;
  each(bounds, {}, [&](const char* known, auto& bound, const auto&) {
    if (name != known) return;
    is_known = true;
    parse_into(word, text, place, bound);
  });
  if (!is_known)
    fail_usage("{}: {} is no bound; they are max_abs, max_rel, max_ulp, differing and non_finite", place,
               word);
}

std::string to_string(const Bounds& bounds) {
  std::vector<std::string> parts;
  each(bounds, {}, [&](const char* name, const auto& bound, const auto&) {
    if (bound) parts.push_back(fmt::format("{}={}", name, *bound));
  });
  return fmt::format("{}", fmt::join(parts, " "));
}

Bounds bounds_of(const CaseResult& result) {
  const Measures measured = measures_of(result);
  if (!measured.structure.empty() || measured.differing == 0) return {};
  Bounds out;
  out.max_abs = rounded_up(measured.max_abs);
  out.differing = measured.differing;
  if (measured.non_finite > 0) out.non_finite = measured.non_finite;
  return out;
}

std::string beyond(const Bounds& bounds, const CaseResult& result) {
  if (bounds.empty()) return {};
  const Measures measured = measures_of(result);
  if (!measured.structure.empty()) return measured.structure;
  Bounds complete = bounds;
  if (!complete.non_finite) complete.non_finite = 0;
  std::vector<std::string> parts;
  each(complete, measured, [&](const char* name, const auto& bound, const auto& measure) {
    if (bound && !(measure <= *bound))
      parts.push_back(fmt::format("{} {:.4g} instead of {:.4g}", name, static_cast<double>(measure),
                                  static_cast<double>(*bound)));
  });
  return listed(parts);
}

std::string far_within(const Bounds& bounds, const CaseResult& result) {
  const Measures measured = measures_of(result);
  if (!measured.structure.empty()) return {};
  std::vector<std::string> parts;
  each(bounds, measured, [&](const char* name, const auto& bound, const auto& measure) {
    const auto reached = static_cast<double>(measure);
    constexpr double tenth = 0.1 * (1 + 1e-12);
    if (bound && *bound > 0 && reached <= static_cast<double>(*bound) * tenth)
      parts.push_back(fmt::format("{} {:.4g} instead of {:.4g}", name, reached, static_cast<double>(*bound)));
  });
  return listed(parts);
}

}  // namespace grurun::conformance
