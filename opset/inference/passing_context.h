// An inference context that passes every question on to another, for those that answer some of them
// themselves.
#pragma once

#include <string>

#include "onnx/defs/shape_inference.h"

namespace grurun::opset {

class PassingContext : public onnx::InferenceContext {
 public:
  /// The context must outlive this.
  explicit PassingContext(onnx::InferenceContext& context) : context_(context) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return context_.getAttribute(name);
  }
  size_t getNumInputs() const override { return context_.getNumInputs(); }
  const onnx::TypeProto* getInputType(size_t index) const override { return context_.getInputType(index); }
  bool hasInput(size_t index) const override { return context_.hasInput(index); }
  const onnx::TensorProto* getInputData(size_t index) const override { return context_.getInputData(index); }
  size_t getNumOutputs() const override { return context_.getNumOutputs(); }
  onnx::TypeProto* getOutputType(size_t index) override { return context_.getOutputType(index); }
  bool hasOutput(size_t index) override { return context_.hasOutput(index); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    return context_.getGraphAttributeInferencer(name);
  }
  const onnx::SparseTensorProto* getInputSparseData(size_t index) const override {
    return context_.getInputSparseData(index);
  }
  const onnx::TensorShapeProto* getSymbolicInput(size_t index) const override {
    return context_.getSymbolicInput(index);
  }
  std::string getDisplayName() const override { return context_.getDisplayName(); }

 protected:
  onnx::InferenceContext& context_;
};

}  // namespace grurun::opset
