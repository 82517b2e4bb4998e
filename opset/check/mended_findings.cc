#include "opset/check/mended_findings.h"

#include "opset/findings/form_watch.h"
#include "opset/findings/rule_error.h"
#include "opset/findings/rules.h"

namespace grurun::opset {

std::vector<Finding> mended_findings(const std::vector<onnx_io::Mended>& mended) {
  using What = onnx_io::Mended::What;
  std::vector<Finding> out;
  for (const onnx_io::Mended& one : mended) {
    const Rule rule = one.what == What::order ? Rule::topological_order : Rule::domain_imported;
    if (forms_are_refused()) throw RuleError(one.message, rule_info(rule).code);
    out.push_back({rule_info(rule).code, Severity::warning, "", "", one.message});
  }
  return out;
}

}  // namespace grurun::opset
