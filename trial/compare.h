// Compares a value with the one expected of it: kind, element type, shape, then every element.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/value.h"
#include "trial/headroom.h"
#include "trial/tolerance.h"

namespace grurun::trial {

/// One element that was compared, with both values as text.
struct ElementPair {
  std::string where;  // "" in a tensor; "[2]" and the like: the way from a sequence, map or optional to it
  std::vector<std::int64_t> index;
  std::string actual;
  std::string expected;
};

/// Errors over all elements. Elements that are equal, two NaNs, or equal infinities have error 0.
struct ElementErrors {
  std::int64_t total = 0;       // elements compared
  std::int64_t differing = 0;   // beyond the tolerance
  std::int64_t non_finite = 0;  // of these: NaN or infinity on one side only, or infinities of unlike sign
  double max_abs = 0;           // over pairs that are finite on both sides; infinite beyond double's range
  double max_rel = 0;  // |actual - expected| / |expected|, over those whose expected is not 0; likewise
  std::optional<std::uint64_t> max_ulp;  // real floating types: representable values between the two, at most
};

/// Of all elements that are numbers, both sides finite: what cosine and signal-to-noise ratio are made of.
struct Energies {
  double actual = 0, expected = 0, both = 0, error = 0;  // sums of squares, and of products

  /// Of the angle between both sides; 1 where both are 0.
  double cosine() const;
  /// 10 log10(expected / error); infinite without an error, and minus that where nothing is expected.
  double snr() const;
};

struct Comparison {
  bool ok = true;
  std::string actual_type;    // "tensor(float) [2,3]"
  std::string expected_type;  // the same of the expected value
  std::string structure;      // kinds, types, shapes or keys that differ, in words; empty when they agree
  Tolerance tolerance = default_tolerance;  // of the (last) tensor compared
  ElementErrors errors;
  std::optional<ElementPair> first;  // first element beyond the tolerance
  std::optional<ElementPair> worst;  // the one furthest beyond it
  std::optional<AccuracyRule> rule;  // of a policy, that decided for the (last) tensor compared
  Headroom headroom;                 // over all elements
  UlpCounts ulps;                    // real floating types: elements that are not equal
  Energies energies;
  std::int64_t unequal = 0;            // elements that are not equal, within the tolerance or not
  std::vector<ElementPair> differing;  // as many of these as were to be kept, in order

  /// What the rule asks of all elements together and they do not reach, in words; empty: nothing.
  std::string misses() const;
};

/// actual against expected. Sequences are compared item by item, maps key by key in any order, optionals by
/// presence and content. Elements: equal values first (infinities and NaN in place included), then
/// |actual - expected| <= atol + rtol * |expected|, complex ones by modulus, also where a side of that is
/// beyond double's range. Never throws for unlike values.
Comparison compare_values(const Value& actual, const Value& expected, const Tolerances& tolerances);

/// Kinds, element types and shapes only (of items too); errors stay zero.
Comparison compare_types(const Value& actual, const Value& expected);

/// One line for people: what differs, how much, where first and where worst; "equal within ..." when ok.
std::string describe(const Comparison& comparison);

}  // namespace grurun::trial
