#include "trial/diagnosis/calls.h"

#include <algorithm>

#include "opset/inference/check_limits.h"
#include "opset/summary/inline_calls.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Node;

/// All imports of the functions beside the model's; false where two are of different versions.
bool merge_imports(const onnx_io::Model& model, onnx_io::OpsetImports& into) {
  into = model.opset_imports;
  return std::ranges::all_of(model.functions, [&](const onnx_io::Function& function) {
    return std::ranges::all_of(function.opset_imports, [&](const auto& import) {
      return into.emplace(import).first->second == import.second;
    });
  });
}

/// Nodes of the main graph that have no name go on without one.
void take_names_back(const onnx_io::Graph& original, onnx_io::Graph& graph) {
  for (const Node& node : original.nodes) {
    if (!node.name.empty()) continue;
    const auto same = [&](const Node& other) {
      return other.op_type == node.op_type && other.outputs == node.outputs;
    };
    const auto found = std::ranges::find_if(graph.nodes, same);
    if (found != graph.nodes.end()) found->name.clear();
  }
}

}  // namespace

onnx_io::Model with_calls_written_out(const onnx_io::Model& model) {
  onnx_io::Model out = model;
  if (model.functions.empty()) return out;
  opset::CheckResult result;
  opset::CheckReport report(result);
  const opset::FunctionIndex functions(model.functions);
  if (!opset::check_limits(model, functions, report).safe_to_infer) return out;
  if (!merge_imports(model, out.opset_imports)) {
    out.opset_imports = model.opset_imports;
    return out;
  }
  out.graph = with_calls_written_out(model, model.functions);
  out.functions.clear();
  return out;
}

onnx_io::Graph with_calls_written_out(const onnx_io::Model& model,
                                      const std::vector<onnx_io::Function>& functions) {
  onnx_io::Graph out = opset::inline_calls(model, opset::FunctionIndex(functions));
  take_names_back(model.graph, out);
  return out;
}

}  // namespace grurun::trial::diagnosis
