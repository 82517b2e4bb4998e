// What JSON reports have in common: comparisons, reasons and warnings.
#pragma once

#include <nlohmann/json.hpp>

#include "opset/findings/finding.h"
#include "trial/compare.h"
#include "trial/diagnosis/explanation.h"

namespace grurun::report {

/// Adds "ok", "random", "actual_type", "expected_type", "problem" and, where no random operator is before the
/// output, the numbers that docs/conformance.md describes.
void add_comparison(nlohmann::ordered_json& output, const trial::Comparison& comparison, bool random);

/// {"kind", "data_set", "node", "hypotheses", "max_ulp", "text"}.
nlohmann::ordered_json reason_json(const trial::Explanation& finding);

/// Adds "code", "text" and, of a node, "node", "op" and "section".
void add_warning(nlohmann::ordered_json& warning, const opset::Finding& finding);

}  // namespace grurun::report
