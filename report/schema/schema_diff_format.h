// Differences between versions of operators as text, JSON and Markdown.
#pragma once

#include <string>

#include "report/schema/schema_selection.h"

namespace grurun::report {

/// "GRU, domain ai.onnx: 7 -> 14, not breaking", then a line for each change: + added, - removed, ~ changed,
/// with its verdict and reason.
std::string diff_text(const DiffView& view);

/// {"name", "domain", "from", "to", "breaking", "changes": [{"part", "name", "change", "what", "breaking",
/// "reason"}], "text_changed"}.
std::string diff_json(const DiffView& view);

/// A heading, the verdict and a table.
std::string diff_markdown(const DiffView& view);

std::string opset_diff_text(const OpsetDiffView& view);

/// {"domain", "from", "to", "added": [{"name", "since_version"}], "changed": [as diff_json prints],
/// "deprecated", "removed": [as added]}.
std::string opset_diff_json(const OpsetDiffView& view);

std::string opset_diff_markdown(const OpsetDiffView& view);

}  // namespace grurun::report
