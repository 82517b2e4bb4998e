// One node against the schema of its exact version, or against the model-local function it calls.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "onnx_io/models/model.h"
#include "opset/findings/check_report.h"
#include "opset/schema/function_calls.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// Judges operator, attributes and the numbers of inputs and outputs; types are judged after inference.
class NodeChecker {
 public:
  /// made_here: the reader of OpenVINO IR wrote the nodes, and chose what their attributes say.
  NodeChecker(const FunctionIndex& functions, CheckReport& report, bool made_here)
      : functions_(functions), report_(report), made_here_(made_here) {}

  void check(const CheckScope& scope, const onnx_io::Node& node, std::size_t index);

 private:
  void check_call(const NodeAt& at, const onnx_io::Function& function);
  std::optional<std::int64_t> imported_opset(const NodeAt& at);
  void report_unknown_domain(const NodeAt& at);
  void report_unknown_operator(const NodeAt& at, std::int64_t opset_version);
  void check_references(const NodeAt& at);

  const FunctionIndex& functions_;
  CheckReport& report_;
  const bool made_here_;
  std::set<std::pair<const onnx_io::OpsetImports*, std::string>> missing_imports_;
  std::set<std::pair<std::string, std::string>> unknown_domains_;
  std::map<std::pair<std::string, std::int64_t>, std::string> unknown_operators_;
};

/// Throws RuleError with the first error that a check finds in the node's operator, its attributes and the
/// numbers of its inputs and outputs. Attributes must be resolved, and the node must not call a function of
/// the model.
void require_node(const onnx_io::Node& node, const onnx_io::OpsetImports& imports);

}  // namespace grurun::opset
