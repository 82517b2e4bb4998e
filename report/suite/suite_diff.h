// What became of the cases of one run in another: the new failures, what is fixed, worse, better, slower.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite.h"

namespace grurun::report {

enum class ChangeKind : std::uint8_t {
  new_failure,  // it does not pass, and did, or was not there
  worse,        // it differs more
  changed,      // it does not pass for another reason, or is worse here and better there
  gone,         // it is not in the new report
  slower,  // half as long again, and a tenth of a second at least, beyond what the other cases took longer
  fixed,   // it passes, and did not
  better,  // it differs less
};

inline constexpr int change_kind_count = 7;

/// "new", "worse", "changed", "gone", "slower", "fixed", "better".
const char* change_name(ChangeKind kind);
std::optional<ChangeKind> parse_change(std::string_view name);

struct Change {
  ChangeKind kind;
  std::string name;  // of the case
  std::string text;  // one line: what it was, what it is
};

struct SuiteDiff {
  std::string before, after;    // files, or what else names the runs
  std::vector<Change> changes;  // by kind; within one in the order of the new report
  std::size_t compared = 0;     // cases of both

  std::size_t count(ChangeKind kind) const;
};

/// Cases are matched by kind and name; those that share both, by the last three names of their paths.
SuiteDiff diff_suites(const conformance::SuiteResult& before, const conformance::SuiteResult& after);

/// A line for each change and a last line of counts.
std::string suite_diff_text(const SuiteDiff& diff);
std::string suite_diff_json(const SuiteDiff& diff);

}  // namespace grurun::report
