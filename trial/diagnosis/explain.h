// What can be said of an outcome beyond that its outputs differ.
#pragma once

#include <optional>
#include <vector>

#include "tensor/error.h"
#include "trial/diagnosis/explanation.h"
#include "trial/trial.h"

namespace grurun::trial {

struct Reasons {
  std::vector<Explanation> explanations;
  std::optional<Error> failed;  // why what TrialOptions::precise asks for cannot be said
};

/// Why outputs differ, and what they are in double, as far as the options of the trial ask for it. outcome is
/// of a run of this trial.
Reasons explain(const Trial& trial, const Outcome& outcome);

}  // namespace grurun::trial
