// What `grurun check` prints: findings in each format, and the rules.
#pragma once

#include <string>
#include <vector>

#include "opset/check/check.h"
#include "opset/findings/rules.h"

namespace grurun::report {

/// One model and what was found in it.
struct CheckedModel {
  std::string path;
  std::string failure;  // why it could not be read; empty when it was
  std::vector<opset::Finding> findings;
  bool is_too_new = false;     // has errors, all of which say that it is newer than what is known here
  bool shows_all = false;      // of each code, in text
  std::string cut_short = {};  // the limit that ended the check before its end; findings are not all then

  std::size_t count(opset::Severity severity) const;
};

/// "GRU001 node 'graph/gru' (GRU-7, attribute layout): ...": what every command says of a finding.
std::string finding_text(const opset::Finding& finding);

/// The same behind its severity, "error GRU001 ...", control characters escaped.
std::string finding_line(const opset::Finding& finding);

/// "m.onnx: " and the line of each finding, and a line that sums them up. Files that could not be read are
/// counted: why stands on stderr. Of each code the first fifty of a model are listed and the others counted,
/// unless shows_all.
std::string check_text(const std::vector<CheckedModel>& models);

/// {"models": [{"path", "failure" (when it could not be read), "cut_short" (when a limit was hit), "errors",
/// "warnings", "notes", "findings": [{"code", "severity", "node", "op", "section", "message", "rule"}]}]}.
std::string check_json(const std::vector<CheckedModel>& models);

/// Workflow commands of GitHub Actions, "::error file=m.onnx,title=GRU001::...". GitHub shows ten of each
/// kind for a step: at most so many are printed, errors of all models first, and a last line says how many
/// more there are.
std::string check_github(const std::vector<CheckedModel>& models);

/// A log of SARIF 2.1.0: one run, the rules that occur, one result for each finding; a model that could not
/// be read is a notification of the invocation.
std::string check_sarif(const std::vector<CheckedModel>& models);

using Rules = std::vector<opset::RuleInfo>;
/// "MODEL001  error    ir_version is set, ...", a line for each rule.
std::string rules_text(const Rules& rules);
/// [{"code", "severity", "text"}], for a rule of one operator "op", "section" and "versions" too.
std::string rules_json(const Rules& rules);
/// docs/rules.md: the rules of any model, then those of GRU, RNN and LSTM, a table for each version.
std::string rules_markdown(const Rules& rules);

}  // namespace grurun::report
