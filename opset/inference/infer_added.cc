#include "opset/inference/infer_added.h"

#include "onnx/shape_inference/implementation.h"
#include "opset/findings/body_fault.h"
#include "opset/schema/added/experimental.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// An inference context as the builder of a body asks it.
class InferredNode : public onnx::FunctionBodyBuildContext {
 public:
  explicit InferredNode(const onnx::InferenceContext& context) : context_(context) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return context_.getAttribute(name);
  }
  bool hasInput(int index) const override {
    return has(index, context_.getNumInputs()) && context_.hasInput(static_cast<std::size_t>(index));
  }
  // A context does not tell which outputs are named.
  bool hasOutput(int index) const override { return has(index, context_.getNumOutputs()); }
  const onnx::TypeProto* getInputType(int index) const override {
    if (!hasInput(index)) return nullptr;
    const onnx::TypeProto* type = context_.getInputType(static_cast<std::size_t>(index));
    return type == nullptr || type->value_case() == onnx::TypeProto::VALUE_NOT_SET ? nullptr : type;
  }

 private:
  static bool has(int index, std::size_t count) {
    return index >= 0 && static_cast<std::size_t>(index) < count;
  }

  const onnx::InferenceContext& context_;
};

}  // namespace

void infer_body(const onnx::FunctionProto& body, const onnx::ISchemaRegistry& registry,
                onnx::InferenceContext& context) {
  try {
    onnx::shape_inference::InferShapeForFunctionNode(body, &registry, context,
                                                     onnx::ShapeInferenceOptions(false, 1, false));
  } catch (const onnx::InferenceError&) {
    throw onnx::InferenceError(body_fault);
  }
}

void infer_added(const onnx::OpSchema& schema, const onnx::ISchemaRegistry& registry,
                 onnx::InferenceContext& context) {
  if (!schema.HasContextDependentFunction()) return;
  onnx::FunctionProto body;
  try {
    if (!schema.BuildContextDependentFunction(InferredNode(context), body, schema.since_version())) return;
    restore_imports(schema, body);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return;  // what is not done is no fault of the model
  }
  infer_body(body, registry, context);
}

}  // namespace grurun::opset
