// The types that bodies take and return while the inference function of their node asks for them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"
#include "opset/inference/passing_context.h"
#include "tensor/value_type.h"

namespace grurun::opset {

class BodyTypes : public PassingContext {
 public:
  BodyTypes(const onnx::OpSchema& schema, onnx::InferenceContext& context)
      : PassingContext(context), schema_(schema) {}

  /// Whether this knows the operator's rules for its bodies.
  static bool applies(const onnx::OpSchema& schema);

  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override;

  /// Once the inference function has returned or failed: throws Error(invalid_model) for what the rules of
  /// bodies (body_rules.h) forbid of the types that it saw.
  void judge() const;

 private:
  struct Body final : onnx::GraphInferencer {
    onnx::GraphInferencer* inferencer = nullptr;
    const onnx::GraphProto* graph = nullptr;
    const char* op_type = nullptr;
    std::size_t outputs = 0;  // that the node asks for
    std::vector<ValueType> given, made;

    std::vector<const onnx::TypeProto*> doInferencing(
        const std::vector<const onnx::TypeProto*>& input_types,
        const std::vector<const onnx::TensorProto*>& input_data) override;
  };

  const Body* body(const std::string& name) const;
  void judge_branches() const;
  void judge_loop(const Body& body) const;
  void judge_scan(const Body& body) const;

  const onnx::OpSchema& schema_;
  std::map<std::string, Body> bodies_;
};

}  // namespace grurun::opset
