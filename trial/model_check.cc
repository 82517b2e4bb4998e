#include "trial/model_check.h"

#include "engine/graph/computed_values.h"
#include "opset/check/check_before_run.h"
#include "trial/preparation_fault.h"

namespace grurun::trial {

opset::CheckResult check_fully(const onnx_io::Model& model, CheckDepth depth,
                               const std::unordered_set<std::string>& fed,
                               const opset::OnFinding& on_finding) {
  if (depth == CheckDepth::none) return {};
  const opset::ComputedValues computed = engine::computed_values(model, fed);
  return depth == CheckDepth::everything ? opset::check_model(model, computed, preparation_fault, on_finding)
                                         : opset::check_before_run(model, fed, computed);
}

}  // namespace grurun::trial
