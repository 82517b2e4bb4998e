// What JSON reports have in common: comparisons, reasons and warnings.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "opset/findings/finding.h"
#include "trial/compare.h"
#include "trial/diagnosis/explanation.h"

namespace grurun::report {

/// Adds "ok", "random", "actual_type", "expected_type", "problem" and, where no random operator is before the
/// output, the numbers that docs/conformance.md describes.
void add_comparison(nlohmann::ordered_json& output, const trial::Comparison& comparison, bool random);

/// A whole number. Throws as comparison_of: what is none, or beyond 64 bits, is not rounded.
std::int64_t whole_of(const nlohmann::json& number);

/// What add_comparison has written, as far as it holds it; random: whether the numbers are left out. Throws
/// nlohmann::json::exception where keys are missing or of another type.
trial::Comparison comparison_of(const nlohmann::json& output, bool& random);

/// {"kind", "data_set", "node", "hypotheses", "max_ulp", "text"}.
nlohmann::ordered_json reason_json(const trial::Explanation& finding);

/// What reason_json has made. Throws as comparison_of.
trial::Explanation reason_of(const nlohmann::json& reason);

/// Adds "code", "text" and, of a node, "node", "op" and "section".
void add_warning(nlohmann::ordered_json& warning, const opset::Finding& finding);

/// What add_warning has added. Throws as comparison_of.
opset::Finding warning_of(const nlohmann::json& warning);

}  // namespace grurun::report
