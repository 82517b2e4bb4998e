// What `grurun ops` prints.
#pragma once

#include <string>

#include "report/schema/ops_matrix.h"

namespace grurun::report {

/// "GRU-14   kernel   T: double float  (not T: bfloat16)", a line for each version, and a line of counts.
std::string ops_text(const OpsMatrix& matrix);

/// {"summary": {"operator_versions", "of_the_standard", "kernel", "function body", "deprecated", "none",
/// "types", "types_supported"}, "operators": [{"domain", "operator", "since_version", "by", "types":
/// {constraint: {"supported", "unsupported"}}}]}.
std::string ops_json(const OpsMatrix& matrix);

/// docs/coverage.md: a table for each domain.
std::string ops_markdown(const OpsMatrix& matrix);

}  // namespace grurun::report
