// What a check finds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tensor/value_type.h"

namespace grurun::opset {

enum class Severity { error, warning, note };

/// "error", "warning", "note".
const char* severity_name(Severity severity);

struct Finding {
  std::string code;  // stable: "SCHEMA001", ...
  Severity severity;
  std::string node;     // path of the node ("graph/loop_1.body/gru"), empty for the model as a whole
  std::string op;       // "GRU-14", empty for the model as a whole
  std::string message;  // the rule in one sentence, what was found, what to do
  std::string section =
      {};  // of the operator's text, where a rule comes from one: "attribute clip", "input W"
};

/// Called with each finding as soon as it is made; may be empty.
using OnFinding = std::function<void(const Finding&)>;

struct CheckResult {
  std::vector<Finding> findings;
  /// Types as shape inference saw them, by value name; main graph only.
  std::map<std::string, ValueType> inferred;

  bool has_errors() const;
};

}  // namespace grurun::opset
