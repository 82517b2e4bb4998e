#include "trial/preparation_fault.h"

#include <algorithm>
#include <unordered_set>

#include "engine/graph/plan.h"
#include "onnx_io/models/walk.h"
#include "tensor/error.h"

namespace grurun::trial {

std::optional<std::string> preparation_fault(const onnx_io::Node& node,
                                             const onnx_io::OpsetImports& imports) {
  const bool refers = std::ranges::any_of(
      node.attributes, [](const onnx_io::Attribute& attribute) { return !attribute.ref_attr_name.empty(); });
  // Those of Gradient name values of the graph around it.
  if (node.attributes.empty() || refers || onnx_io::has_body(node) || node.op_type == "Gradient")
    return std::nullopt;
  onnx_io::Model model;
  model.opset_imports = imports;
  model.graph.nodes.push_back(node);
  std::unordered_set<std::string> names;
  for (const std::string& input : node.inputs) {
    if (!input.empty() && names.insert(input).second) model.graph.inputs.push_back({input, {}});
  }
  engine::PlanOptions options;
  options.fuse = false;
  try {
    engine::make_plan(model, options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::invalid_model) return error.message();
  }
  return std::nullopt;
}

}  // namespace grurun::trial
