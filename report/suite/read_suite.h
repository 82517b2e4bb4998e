// JSON reports of `grurun conformance`, read back: for every command that works on reports of runs before.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/suite.h"

namespace grurun::report {

/// What json_report was made of, as far as it holds it: the cases that ran in their order, then those that
/// did not; text as it was printed. A case has its name, kind and path, but neither model nor data sets. Any
/// report of the result is the report of that run. file: for messages, and what json_report wrote. Throws
/// Error(usage) where text is no such report, or of a format that is not known here.
conformance::SuiteResult parse_suite(std::string_view text, const std::string& file);

/// Whether a report as JSON Lines may lack its end, because the run was killed: what stands in it counts.
enum class Unfinished : std::uint8_t { refused, allowed };

/// The same of a file, which may hold JSON Lines (json_lines.h). Throws Error(usage) when it cannot be read,
/// too.
conformance::SuiteResult read_suite(const std::string& file, Unfinished unfinished = Unfinished::refused);

/// Of what the cases of a report are a part: its member "part".
std::optional<conformance::SuitePart> part_of(const nlohmann::json& report);

/// Its member "unused_in_part".
std::optional<std::vector<std::string>> unused_in_part_of(const nlohmann::json& report);

/// "done", "stopped", "interrupted".
const char* ended_name(conformance::PoolEnd end);
/// The reverse. Throws Error(usage) for another name.
conformance::PoolEnd parse_ended(const std::string& name);

}  // namespace grurun::report
