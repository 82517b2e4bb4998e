#include "opset/findings/finding.h"

#include <algorithm>

namespace grurun::opset {

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

bool CheckResult::has_errors() const {
  return std::ranges::any_of(findings,
                             [](const Finding& finding) { return finding.severity == Severity::error; });
}

}  // namespace grurun::opset
