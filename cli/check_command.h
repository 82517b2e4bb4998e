// `grurun check MODEL...`: what the standard has to say against a model.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "opset/check.h"

namespace grurun::cli {

/// Adds the subcommand. When it is chosen its callback sets action, to be called inside main's error handler;
/// action returns the exit code: 0 without errors, 2 a file is missing, 3 errors or no valid model, else that
/// of the first file that failed otherwise.
void add_check(CLI::App& app, std::function<int()>& action);

/// One model and what was found in it.
struct CheckedModel {
  std::string path;
  std::string failure;  // why it could not be read; empty when it was
  std::vector<opset::Finding> findings;

  std::size_t count(opset::Severity severity) const;
};

/// "m.onnx: error SCHEMA004 node 'graph/gru' (GRU-7): ..." for each finding, and a line that sums them up.
/// Control characters that a model brings along are escaped.
std::string check_text(const std::vector<CheckedModel>& models);

/// {"models": [{"path", "failure" (when it could not be read), "errors", "warnings", "notes",
/// "findings": [{"code", "severity", "node", "op", "message", "rule"}]}]}.
std::string check_json(const std::vector<CheckedModel>& models);

/// "MODEL001  error    ir_version is set, ...", a line for each rule; as JSON [{"code", "severity", "text"}].
std::string rules_text();
std::string rules_json();

}  // namespace grurun::cli
