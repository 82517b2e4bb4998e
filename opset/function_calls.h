// Calls of model-local functions: which one a node calls, and what references in it stand for.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/model.h"

namespace grurun::opset {

/// Finds the model-local function a node calls. The functions must outlive it.
class FunctionIndex {
 public:
  explicit FunctionIndex(const std::vector<onnx_io::Function>& functions);

  /// nullptr when the node calls none.
  const onnx_io::Function* find(const onnx_io::Node& node) const;

 private:
  std::unordered_map<std::string, const onnx_io::Function*> functions_;
};

/// What a reference to this attribute stands for in a function that the node calls: the node's attribute,
/// else the function's default; nullptr where neither is.
const onnx_io::Attribute* referred_attribute(const std::string& name, const onnx_io::Function& function,
                                             const onnx_io::Node& call);

}  // namespace grurun::opset
