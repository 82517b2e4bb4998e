// Operators that do not take double, in a model that is computed in double.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/schema/registry.h"
#include "tensor/tensor.h"

namespace grurun::trial {

/// Whether some input or output of the operator may be a double.
bool admits_double(const opset::SchemaInfo& schema);

/// Constants of floats by their names, in a graph and those around it.
class FloatConstants {
 public:
  FloatConstants() = default;
  /// All arguments must outlive it.
  FloatConstants(const std::vector<onnx_io::Initializer>& initializers,
                 const std::vector<onnx_io::Node>& nodes, const FloatConstants* outer);

  /// nullptr: there is none.
  const Tensor* find(const std::string& name) const;

 private:
  std::unordered_map<std::string, const Tensor*> tensors_;
  const FloatConstants* outer_ = nullptr;
};

/// Of nodes whose values are double now: where the version of an operator admits narrower floats only, it
/// reads a Cast of its input to float, or the constant as a float, and a Cast makes a double of its output,
/// under the output's name. types: of values before they became double, as far as they are known; imports may
/// get the one that Cast needs.
std::vector<onnx_io::Node> with_casts(std::vector<onnx_io::Node> nodes, onnx_io::OpsetImports& imports,
                                      const FloatConstants& constants,
                                      const std::map<std::string, ValueType>& types);

}  // namespace grurun::trial
