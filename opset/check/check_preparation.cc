#include "opset/check/check_preparation.h"

#include <optional>
#include <string>
#include <utility>

#include "opset/check/node_walk.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions,
                       const PreparationFault& fault_of, CheckReport& report) {
  for_each_node_at(model, [&](NodeAt at) {
    if (at.node.attributes.empty() || functions.find(at.node) != nullptr) return;
    if (report.has_error_at(at.key())) return;
    std::optional<std::string> fault = fault_of(at.node, *at.scope.imports);
    if (!fault) return;
    const auto import = at.scope.imports->find(at.node.domain);
    if (import != at.scope.imports->end())
      at.since_version = since_version(at.node.op_type, at.node.domain, import->second);
    report.add(Rule::attributes_usable, at, *std::move(fault));
  });
}

}  // namespace grurun::opset
