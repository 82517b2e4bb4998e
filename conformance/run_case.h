// Runs one case and judges it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "conformance/case.h"
#include "conformance/other_runtime.h"
#include "conformance/policy.h"

namespace grurun::conformance {

struct CaseOptions {
  trial::ToleranceChoice tolerance;                  // flags: over a case's data.json
  std::uint64_t seed = 0;                            // of random operators
  std::optional<std::chrono::nanoseconds> max_time;  // the whole case; beyond it: timed-out
  bool diagnose = true;                              // say why recurrent nodes differ
  std::function<void()> between_steps{};             // called after each step of a run; may be empty
  bool fuse = true;                                  // steps that follow each other may become one
  bool random = false;   // outputs that a random operator reaches may pass by their distribution alone
  bool cast = false;     // expected floats of another type are converted to the type of their output
  bool precise = false;  // compute what differs once more in double, and say which side is nearer
  std::optional<OtherRuntime> other{};     // whose outputs are judged in the place of the engine's
  std::string scratch{};                   // a folder that may be made, used and removed for a command of it
  std::shared_ptr<const Policy> policy{};  // how exact outputs must be, over tolerances
  std::size_t keep_differing = 0;  // elements of an output that are kept where they are not equal, at most
};

/// Loads the model, plans it once for each set of inputs that are fed, runs every data set and compares every
/// output, and diagnoses recurrent nodes whose outputs differ. Never throws for what files hold: an Error
/// becomes the verdict (unsupported, invalid, limit: timed-out, internal: crashed) with its contexts and
/// message. Outputs that a random operator reaches are checked by their distribution, which passes only where
/// the options allow it or the case is a test of that operator. Of another runtime the
/// outputs that it left are compared and diagnosed, and nothing is planned or run but what the options say is
/// expected; what the rules have to say against the model is a warning then.
CaseResult run_case(const Case& test, const CaseOptions& options);

/// Adds what an output says to a result: its verdict, and the line that tells of the first that differs.
void judge_output(const OutputResult& output, CaseResult& result);

struct Share {
  std::int64_t by_value = 0, all = 0;  // elements that were compared
};

/// How much was compared by value; nullopt where no random operator reaches an output: all.
std::optional<Share> share_by_value(const std::vector<OutputResult>& outputs);

/// Where a random operator reaches an output: the verdict that the other outputs leave open, passed-not-
/// comparable where that is `allowed` and else random, and the share of elements that was compared by value.
void judge_random(bool allowed, CaseResult& result);

}  // namespace grurun::conformance
