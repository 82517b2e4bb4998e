// The search for what takes a mistake back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial/diagnosis/evidence.h"
#include "trial/diagnosis/expected.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

/// A mistake, or two, without which what is looked at comes out as expected.
struct Cause {
  std::vector<std::string> ids;  // of hypotheses
  std::string text;              // follows "reproduced with"
  Candidate candidate;
  std::string doubt;    // why it is only suspected; empty: it is sure
  bool by_row = false;  // says nothing about rows that are not looked at
};

/// How many elements must speak for so many hypotheses, beyond those that were right without them: enough
/// that chance would need luck of one in a million, given how near the values have to be.
std::int64_t evidence_needed(DType dtype, std::size_t hypotheses);

/// The likeliest cause: of single hypotheses, likely pairs, what an export may have lost, all pairs, and
/// something lost beside a common mistake the first that fits.
std::optional<Cause> find_cause(const Subject& subject, const Expected& expected, const Candidate& base,
                                const Evidence& evidence, Budget& budget);

}  // namespace grurun::trial::diagnosis
