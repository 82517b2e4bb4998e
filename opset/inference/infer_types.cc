#include "opset/inference/infer_types.h"

#include "opset/inference/check_limits.h"
#include "opset/inference/infer.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

namespace {

bool opsets_known(const onnx_io::OpsetImports& imports) {
  for (const auto& [domain, version] : imports) {
    const std::optional<std::int64_t> newest = newest_opset(domain);
    if (newest && (version < 1 || version > *newest)) return false;
  }
  return true;
}

}  // namespace

std::map<std::string, ValueType> infer_types(const onnx_io::Model& model,
                                             const std::map<std::string, std::int64_t>& sizes) {
  if (model.proto == nullptr || !opsets_known(model.opset_imports)) return {};
  CheckResult ignored;
  CheckReport report(ignored);
  const FunctionIndex functions(model.functions);
  if (!check_limits(model, functions, report).safe_to_infer) return {};
  return graph_types(infer_model(*model.proto, report, true, {}, sizes).model.proto.graph());
}

}  // namespace grurun::opset
