#include "opset/check/require_node.h"

#include <algorithm>

#include "opset/check/check_node.h"
#include "opset/findings/rule_error.h"

namespace grurun::opset {

void require_node(const onnx_io::Node& node, const onnx_io::OpsetImports& imports) {
  static const std::vector<onnx_io::Function> no_functions;
  static const FunctionIndex none(no_functions);
  CheckResult result;
  CheckReport report(result);
  CheckScope scope;
  scope.label = "graph";
  scope.imports = &imports;
  NodeChecker(none, report, false).check(scope, node, 0);
  const auto error = std::ranges::find(result.findings, Severity::error, &Finding::severity);
  if (error != result.findings.end()) throw RuleError(error->message, error->code);
}

}  // namespace grurun::opset
