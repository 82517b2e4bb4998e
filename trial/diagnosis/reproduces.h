// Whether a layer computes what is expected.
#pragma once

#include <cstdint>

#include "trial/diagnosis/expected.h"

namespace grurun::trial::diagnosis {

/// True when the candidate computes what is expected, as far as it is looked at; stops at the first element
/// that differs, and when the budget is over, which is false.
bool reproduces(const Expected& expected, const Candidate& candidate, Budget& budget);

/// What holds for what is looked at of a layer, tried on all of it.
struct Confirmation {
  enum Result { holds, fails, out_of_time } result;
  std::int64_t rows;               // that agree
  std::int64_t row = 0, step = 0;  // where it fails
};
Confirmation confirm(const Expected& expected, const Candidate& candidate, Budget& budget);

/// The same as reproduces over one row of one direction.
bool reproduces_row(const Expected& expected, const Candidate& candidate, std::int64_t direction,
                    std::int64_t n, Budget& budget);

}  // namespace grurun::trial::diagnosis
