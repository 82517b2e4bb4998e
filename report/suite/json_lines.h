// A suite's report as JSON Lines, which grows while the suite runs: a first line on the suite, a line for
// each case in the order in which they end, a last line that sums up. docs/conformance.md describes them.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite.h"

namespace grurun::report {

std::string json_lines_head(const conformance::SuiteResult& result);
std::string json_lines_case(const conformance::SuiteResult& result, std::size_t index);
std::string json_lines_end(const conformance::SuiteResult& result);

/// All of them.
std::string json_lines_report(const conformance::SuiteResult& result);

/// Whether a text begins as such a report does.
bool is_json_lines(std::string_view head);

/// Passes each case on, and returns the rest of what json_report would have made of it. Where
/// `may_be_unfinished`, the last line may be missing, and half of a line before it is left out; else throws
/// Error(usage).
nlohmann::json read_json_lines(std::string_view text, bool may_be_unfinished,
                               const std::function<void(const nlohmann::json& test)>& take_case);

struct MergedLines {
  bool as_expected = false;
  std::string summary;  // a line for people: how many cases ended how
};

/// Hands the lines of the whole to `write`, made of those of all parts of one suite, and sums them up, a line
/// at a time: memory does not grow with the number of cases. Throws Error(usage) for files that are no parts
/// of one suite, that are not finished, and where a part is absent or there twice.
MergedLines merge_json_lines(const std::vector<std::string>& files,
                             const std::function<void(const std::string& line)>& write);

}  // namespace grurun::report
