// Calls of model-local functions: which one a node calls, what is wrong with a call, and what references in
// the function stand for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// Finds the model-local function a node calls. The functions must outlive it.
class FunctionIndex {
 public:
  explicit FunctionIndex(const std::vector<onnx_io::Function>& functions);

  /// nullptr when the node calls none.
  const onnx_io::Function* find(const onnx_io::Node& node) const;

  /// "overloads of ns.f that the model defines: 'r'; the call wants 'q'": of a node that calls none, though
  /// it names an overload, or though the model has others of what is no operator of a known domain.
  std::optional<std::string> overload_fault(const onnx_io::Node& node) const;

 private:
  std::unordered_map<std::string, const onnx_io::Function*> functions_;
  std::unordered_map<std::string, std::string> overloads_;  // by domain and name: "'q', 'r'"
};

bool declares_attribute(const onnx_io::Function& function, const std::string& name);

/// "two inputs are named 'x'": names that a function gives to two inputs, outputs or attributes. "A function
/// attribute shall be represented either as a string attribute or an AttributeProto, not both."
std::vector<std::string> repeated_parameters(const onnx_io::Function& function);

/// What is wrong with the attributes of a call: those that are given again, and those that the function does
/// not declare.
struct CallAttributeFaults {
  std::vector<std::string> repeated;
  std::vector<std::string> unknown;
};
CallAttributeFaults judge_call_attributes(const onnx_io::Node& call, const onnx_io::Function& function);

/// Hands a value on under another name.
onnx_io::Node identity_node(const std::string& from, const std::string& to);

/// Puts values in place of the references of a node in a function: the attributes of the call, which must
/// refer to nothing itself, else the function's defaults. References to what has no value are left out.
/// Subgraphs stay as they are.
void resolve_references(onnx_io::Node& node, const onnx_io::Function& function, const onnx_io::Node& call);

}  // namespace grurun::opset
