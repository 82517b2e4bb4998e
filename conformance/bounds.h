// How far a case that is known to differ may differ: what keeps it from getting worse unseen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/case.h"

namespace grurun::conformance {

/// Each at most; of max_abs, max_rel and max_ulp the largest of all outputs counts, of elements their sum.
/// Where there is any bound, elements that are NaN or infinite on one side need non_finite, and types and
/// shapes must agree.
struct Bounds {
  std::optional<double> max_abs;
  std::optional<double> max_rel;
  std::optional<std::uint64_t> max_ulp;
  std::optional<std::int64_t> differing;
  std::optional<std::int64_t> non_finite;

  bool operator==(const Bounds&) const = default;
  bool empty() const { return *this == Bounds(); }
};

/// Whether a word of a line is meant as a bound: "max_abs=3e-4", "differing=12", and what looks alike.
bool is_bound(std::string_view word);

/// Adds a bound. place is for messages. Throws Error(usage) for a name that is none, or twice, and for what
/// is no number from 0.
void add_bound(const std::string& word, const std::string& place, Bounds& bounds);

/// "max_abs=3e-4 differing=12"; empty without bounds.
std::string to_string(const Bounds& bounds);

/// The bounds that a result just keeps, with three digits; empty where types or shapes differ.
Bounds bounds_of(const CaseResult& result);

/// What is beyond the bounds, in words; empty: nothing, or there are none.
std::string beyond(const Bounds& bounds, const CaseResult& result);

/// What is better than a bound by a factor of ten or more, in words; empty: nothing.
std::string far_within(const Bounds& bounds, const CaseResult& result);

}  // namespace grurun::conformance
