// JSON reports of `grurun conformance`, read back: for every command that works on reports of runs before.
#pragma once

#include <string>
#include <string_view>

#include "conformance/suite.h"

namespace grurun::report {

/// What json_report was made of, as far as it holds it: the cases that ran in their order, then those that
/// did not; text as it was printed. A case has its name, kind and path, but neither model nor data sets. Any
/// report of the result is the report of that run. file: for messages, and what json_report wrote. Throws
/// Error(usage) where text is no such report, or of a format that is not known here.
conformance::SuiteResult parse_suite(std::string_view text, const std::string& file);

/// The same of a file. Throws Error(usage) when it cannot be read, too.
conformance::SuiteResult read_suite(const std::string& file);

/// "done", "stopped", "interrupted".
const char* ended_name(conformance::PoolEnd end);

}  // namespace grurun::report
