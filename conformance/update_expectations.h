// A list of expectations that says what a run gave.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite.h"

namespace grurun::conformance {

struct UpdatedList {
  std::string text;  // of the list
  std::size_t added = 0, changed = 0, removed = 0;

  bool is_changed() const { return added + changed + removed > 0; }
};

/// The list `text`, which result.expectations was read from, so changed that the cases which ran end as
/// listed, those that differ within bounds. Lines that hold stay as they are, comments and reasons too.
/// - A line for one case is removed when it passes, and gets its verdict and bounds otherwise.
/// - Of a pattern for several cases the line stays while it holds for all that it decides for and did not
///   pass; those that ended otherwise get lines of their own before it. Where some passed, lines for the
///   others take its place.
/// - A line that decides for no case is removed.
/// - A case that no line lists gets one, at its place where the lines are sorted. Its reason is what the run
///   said.
/// all: every case that was found; those that did not run keep what is listed for them.
UpdatedList update_expectations(std::string_view text, const SuiteResult& result,
                                const std::vector<Case>& all);

}  // namespace grurun::conformance
