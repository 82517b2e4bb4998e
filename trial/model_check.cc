#include "trial/model_check.h"

#include <algorithm>

#include "engine/graph/computed_values.h"
#include "opset/check/check_before_run.h"
#include "opset/findings/rules.h"
#include "trial/preparation_fault.h"
#include "trial/random_findings.h"

namespace grurun::trial {

opset::CheckResult check_fully(const onnx_io::Model& model, CheckDepth depth,
                               const std::unordered_set<std::string>& fed,
                               const opset::OnFinding& on_finding) {
  if (depth == CheckDepth::none) return {};
  const opset::ComputedValues computed = engine::computed_values(model, fed);
  if (depth != CheckDepth::everything) return opset::check_before_run(model, fed, computed);
  opset::CheckResult result = opset::check_model(model, computed, preparation_fault, on_finding);
  // Of a model that is not valid, or too large to infer, bodies and functions may nest without end.
  const std::string& too_large = opset::rule_info(opset::Rule::expansion_size).code;
  if (!result.has_errors() && std::ranges::count(result.findings, too_large, &opset::Finding::code) == 0)
    add_random_findings(model, {}, {computed.begin(), computed.end()}, result, on_finding);
  return result;
}

}  // namespace grurun::trial
