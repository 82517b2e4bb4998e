// Models for tests of the check, and what it found in them.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "opset/check/check.h"
#include "tests/opset/model_text.h"

namespace grurun::opset {

inline std::string listed(const CheckResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += finding.code + " [" + finding.node + "] (" + finding.op + ") " + finding.message + "\n";
  }
  return text;
}

// Codes of errors and warnings, each once.
inline std::set<std::string> codes(const CheckResult& result) {
  std::set<std::string> found;
  for (const Finding& finding : result.findings) {
    if (finding.severity != Severity::note) found.insert(finding.code);
  }
  return found;
}

using Make = std::function<onnx_io::Model()>;

inline Make text(const std::string& model) {
  return [model] { return model_from_text(model); };
}

inline Make graph(const std::string& body) {
  return text("<ir_version: 8, opset_import: [\"\" : 14]> " + body);
}

// Y = Relu(X) and a function f that only the text given behind it uses.
inline Make with_function(const std::string& main_nodes, const std::string& functions) {
  return text("<ir_version: 8, opset_import: [\"\" : 14, \"ns\" : 1]> g (float[2] X) => (float[2] Y) { " +
              main_nodes + " } " + functions);
}

inline onnx_io::Model relu_chain(int length) {
  onnx_io::Model model;
  model.ir_version = 8;
  model.opset_imports[""] = 14;
  model.graph.name = "g";
  model.graph.inputs.push_back({"v0", ValueType::tensor(DType::float32)});
  for (int i = 0; i < length; ++i) {
    onnx_io::Node node;
    node.op_type = "Relu";
    node.inputs = {"v" + std::to_string(i)};
    node.outputs = {"v" + std::to_string(i + 1)};
    model.graph.nodes.push_back(std::move(node));
  }
  model.graph.outputs.push_back({"v" + std::to_string(length), ValueType::tensor(DType::float32)});
  return model;
}

}  // namespace grurun::opset
