// Runs one case and judges it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "conformance/case.h"

namespace grurun::conformance {

struct CaseOptions {
  trial::ToleranceChoice tolerance;                  // flags: over a case's data.json
  std::uint64_t seed = 0;                            // of random operators
  std::optional<std::chrono::nanoseconds> max_time;  // the whole case; beyond it: timed-out
  bool diagnose = true;                              // say why recurrent nodes differ
  std::function<void()> between_steps{};             // called after each step of a run; may be empty
  bool fuse = true;                                  // steps that follow each other may become one
  bool precise = false;  // compute what differs once more in double, and say which side is nearer
};

/// Loads the model, plans it once for each set of inputs that are fed, runs every data set and compares every
/// output, and diagnoses recurrent nodes whose outputs differ. Never throws for what files hold: an Error
/// becomes the verdict (unsupported, invalid, limit: timed-out, internal: crashed) with its contexts and
/// message. Outputs that a random operator reaches are checked by their distribution.
CaseResult run_case(const Case& test, const CaseOptions& options);

}  // namespace grurun::conformance
