// Where a computation and the expected outputs part, when nothing explains it.
#pragma once

#include <optional>
#include <string>

#include "trial/diagnosis/expected.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

/// "Y parts first at step 2 (time 2), direction 0 (forward), batch row 1, unit 0: 0.31 here, 0.27 expected;
/// gate z alone would do it with 0.71 instead of 0.62": the earliest step in the order of computation, the
/// lowest row, direction and unit of it. Only final states expected: without step and gate. nullopt: nothing
/// parts, the double precision of this computation reproduces what is expected.
std::optional<std::string> describe_parting(const Subject& subject, const Expected& expected,
                                            const Candidate& candidate);

}  // namespace grurun::trial::diagnosis
