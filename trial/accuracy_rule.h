// How exact an output must be, where somebody says so for it alone and gives a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trial/tolerance_choice.h"

namespace grurun::trial {

/// What a rule of a policy asks of an output. Everything that it names must hold.
/// - rtol, atol, or a share alone: elements are compared by tolerance; what the rule leaves open comes from
///   flags, data.json and the defaults.
/// - max_ulp: elements are at most so many representable values apart, or differ by no more than so many
///   steps of ulp_floor's size. Integers count by 1. It takes the place of the tolerance, unless the rule has
///   one, too.
/// - differing: the share of elements that may be beyond. NaN and infinity on one side only never may.
/// - cosine, snr: of all elements together. A rule with nothing else leaves single elements alone.
struct AccuracyRule {
  ToleranceChoice tolerance;
  std::optional<std::uint64_t> max_ulp;
  double ulp_floor = 0;             // below it, steps are as large as there
  std::optional<double> differing;  // 0 to 1
  std::optional<double> cosine;     // at least, from -1 to 1
  std::optional<double> snr;        // at least, in dB
  std::string place;                // "policy.toml:12"
  std::string reason;

  bool has_tolerance() const { return tolerance.rtol || tolerance.atol; }
  bool judges_elements() const { return has_tolerance() || max_ulp || differing || (!cosine && !snr); }
  bool uses_tolerance() const { return has_tolerance() || !max_ulp; }
};

}  // namespace grurun::trial
