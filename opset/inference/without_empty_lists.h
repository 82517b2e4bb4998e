// An inference context without the empty lists of a window operator: an exporter that writes one means the
// default, as its page has it; ONNX's functions want a number for each axis.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx/defs/schema.h"

namespace grurun::opset {

class WithoutEmptyLists : public onnx::InferenceContext {
 public:
  explicit WithoutEmptyLists(onnx::InferenceContext& context) : context_(context) {}

  /// Whether the node has any that is to be hidden.
  static bool applies(const onnx::OpSchema& schema, const onnx::InferenceContext& context) {
    return schema.attributes().contains("strides") && std::ranges::any_of(lists, [&](const char* name) {
             const onnx::AttributeProto* given = context.getAttribute(name);
             return given != nullptr && given->ints_size() == 0;
           });
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    const onnx::AttributeProto* given = context_.getAttribute(name);
    const bool is_list = std::ranges::any_of(lists, [&](const char* list) { return name == list; });
    return given != nullptr && is_list && given->ints_size() == 0 ? nullptr : given;
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

 private:
  static constexpr std::array lists = {"dilations",    "kernel_shape", "output_padding",
                                       "output_shape", "pads",         "strides"};

  onnx::InferenceContext& context_;
};

}  // namespace grurun::opset
