// Official cases that contradict the standard: their own release's text, or the text of their operator's
// version as a later release corrected it. They are known by content, not by name, so a corrected or changed
// case is judged like any other.
#pragma once

#include <span>
#include <string>

#include "conformance/case.h"

namespace grurun::conformance {

/// Why cases are wrong: the standard's words, and what the cases hold instead.
struct KnownWrongRule {
  const char* id;
  const char* text;     // a quotation, with its source
  const char* mistake;  // "the expected values were taken modulo 256"
};

/// One case, in the releases of ONNX whose data hold the same bytes.
struct KnownWrongCase {
  const char* digest;    // see case_digest
  const char* rule;      // id of a KnownWrongRule
  const char* name;      // "node/test_qlinearmatmul_2D_int8_float32"
  const char* releases;  // "1.16.0 1.16.1"
};

/// scripts/known_wrong.py recomputes every case of this table and proves what the rules say of it.
std::span<const KnownWrongRule> known_wrong_rules();
std::span<const KnownWrongCase> known_wrong_cases();  // sorted by digest

/// SHA-256, as 64 hex digits, of what `sha256sum model.onnx test_data_set_*/output_*.pb` prints in the case's
/// folder, sets and files in the order of their names. Throws Error(usage) for a file that cannot be read or
/// is no regular file.
std::string case_digest(const Case& test);

/// The rule that a case breaks, or nullptr when its content is not in the table.
const KnownWrongRule* find_known_wrong(const Case& test);

}  // namespace grurun::conformance
