#include "opset/findings/too_new.h"

#include "opset/findings/rules.h"

namespace grurun::opset {

bool is_too_new(const Finding& finding, const onnx_io::Model& model) {
  // An ir_version that is none is below 1.
  return finding.code == rule_info(Rule::opset_known).code ||
         (finding.code == rule_info(Rule::ir_version).code && model.ir_version > 0);
}

}  // namespace grurun::opset
