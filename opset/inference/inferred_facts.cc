#include "opset/inference/inferred_facts.h"

#include <string>

#include "onnx_io/models/proto_convert.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;

// Rules look at no body. What cannot be read has its own finding where the model is read.
onnx_io::Node node_of(const onnx::OpSchema& schema, const InferenceContext& context) {
  onnx_io::Node node;
  node.op_type = schema.Name();
  node.domain = schema.domain();
  // A rule asks which inputs are given. The context does not say which outputs are.
  for (std::size_t i = 0; i < context.getNumInputs(); ++i)
    node.inputs.push_back(context.hasInput(i) ? "input_" + std::to_string(i) : "");
  node.outputs.resize(context.getNumOutputs());
  for (const auto& [name, stated] : schema.attributes()) {
    const onnx::AttributeProto* proto = context.getAttribute(name);
    if (proto == nullptr || proto->has_g() || proto->graphs_size() > 0) continue;
    try {
      node.attributes.push_back(onnx_io::attribute_from_proto(*proto));
    } catch (const Error&) {
      node.attributes.emplace_back().name = name;  // of no type: unknown
    }
  }
  return node;
}

std::vector<InputFacts> inputs_of(const InferenceContext& context) {
  std::vector<InputFacts> inputs(context.getNumInputs());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].given = context.hasInput(i);
    const onnx::TypeProto* type = inputs[i].given ? context.getInputType(i) : nullptr;
    if (type == nullptr || (!type->has_tensor_type() && !type->has_sequence_type())) continue;
    ValueType known = onnx_io::type_from_proto(*type);
    if (known.element) inputs[i].element = known.element->elem;
    if (!type->has_tensor_type()) continue;
    inputs[i].dtype = known.elem;
    inputs[i].shape = std::move(known.shape);
  }
  return inputs;
}

}  // namespace

InferredFacts::InferredFacts(const onnx::OpSchema& schema, const InferenceContext& context)
    : context_(context),
      node_(node_of(schema, context)),
      facts_(node_, schema.since_version(), inputs_of(context),
             [this](std::size_t input) { return find_value(input); }) {}

const Tensor* InferredFacts::find_value(std::size_t input) {
  const auto [known, added] = values_.try_emplace(input);
  const onnx::TensorProto* value = added ? context_.getInputData(input) : nullptr;
  try {
    if (value != nullptr) known->second = onnx_io::tensor_from_proto(*value);
  } catch (const Error&) {
    // data that cannot be read has its own finding where the model is read
  }
  return known->second.dtype() == DType::undefined ? nullptr : &known->second;
}

}  // namespace grurun::opset
