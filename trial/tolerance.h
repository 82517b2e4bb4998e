// How far a value may lie from the expected one: the one place where tolerances are chosen.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "tensor/dtype.h"
#include "trial/accuracy_rule.h"
#include "trial/tolerance_choice.h"

namespace grurun::trial {

/// A value a is as good as an expected b when |a - b| <= atol + rtol * |b|.
struct Tolerance {
  double rtol;
  double atol;
};

/// The values of ONNX's own backend test runner.
inline constexpr Tolerance default_tolerance = {1e-3, 1e-7};

/// Flag over file over the defaults above, for every element type alike: 16-bit floats, float8, float4 and
/// quantised integers too, since one unit in the last place of a 16-bit float is within 1e-3 of it, and the
/// standard defines conversions to the narrower types bit by bit. bfloat16 alone has at least two units in
/// the last place, 2^-6. bool and string are equal or not. The difference is taken in double (64-bit
/// integers: exactly).
inline Tolerance tolerance_for(DType dtype, const ToleranceChoice& flag, const ToleranceChoice& file) {
  Tolerance out = {flag.rtol.value_or(file.rtol.value_or(default_tolerance.rtol)),
                   flag.atol.value_or(file.atol.value_or(default_tolerance.atol))};
  if (dtype == DType::bfloat16) out.rtol = std::max(out.rtol, 0x1p-6);
  return out;
}

/// What a rule says over flag over file over the defaults.
inline Tolerance tolerance_under(const AccuracyRule& rule, const Tolerance& otherwise) {
  return {rule.tolerance.rtol.value_or(otherwise.rtol), rule.tolerance.atol.value_or(otherwise.atol)};
}

/// All sources, carried to where the element type is known.
struct Tolerances {
  ToleranceChoice flag;
  ToleranceChoice file;
  /// The rule of a policy that decides for tensors of a type; nullptr: none. May be empty.
  std::function<const AccuracyRule*(DType)> rule{};
  std::size_t keep_differing = 0;  // elements that are kept for Comparison::differing, at most

  Tolerance operator()(DType dtype) const { return tolerance_for(dtype, flag, file); }
};

}  // namespace grurun::trial
