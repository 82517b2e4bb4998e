#include "opset/inference/recurrent_inference.h"

#include <algorithm>
#include <deque>

#include "onnx_io/models/proto_convert.h"
#include "opset/recurrent/recurrent_attributes.h"
#include "opset/recurrent/recurrent_shapes.h"
#include "opset/recurrent/recurrent_traps.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;

// As the calling node resolves them; what cannot be read has its own finding where the model is read.
std::vector<onnx_io::Attribute> resolved_attributes(const SchemaInfo& schema,
                                                    const InferenceContext& context) {
  std::vector<onnx_io::Attribute> attributes;
  for (const AttributeInfo& info : schema.attributes) {
    const onnx::AttributeProto* proto = context.getAttribute(info.name);
    if (proto == nullptr) continue;
    try {
      attributes.push_back(onnx_io::attribute_from_proto(*proto));
    } catch (const Error&) {
      attributes.emplace_back();
      attributes.back().name = info.name;  // of no type: unknown
    }
  }
  return attributes;
}

const onnx::TensorProto* constant_of(const InferenceNode& node, std::size_t i) {
  if (i >= static_cast<std::size_t>(node.original->input_size())) return nullptr;
  const auto found = node.constants.find(node.original->input(static_cast<int>(i)));
  return found == node.constants.end() ? nullptr : found->second;
}

class Inputs {
 public:
  /// most: that the version takes; further ones have a finding of their own.
  Inputs(const InferenceNode& node, const InferenceContext& context, std::size_t most) {
    for (std::size_t i = 0; i < context.getNumInputs() && i < most; ++i) add(node, context, i);
  }

  const std::vector<RecurrentInputInfo>& infos() const { return infos_; }
  /// T, as the first input that has a type tells it.
  int elem_type() const { return elem_type_; }

 private:
  void add(const InferenceNode& node, const InferenceContext& context, std::size_t i) {
    RecurrentInputInfo& info = infos_.emplace_back();
    info.given = context.hasInput(i);
    const onnx::TypeProto* type = context.getInputType(i);
    if (!info.given || type == nullptr || !type->has_tensor_type()) return;
    if (elem_type_ == 0 && i != input_sequence_lens) elem_type_ = type->tensor_type().elem_type();
    info.shape = onnx_io::type_from_proto(*type).shape;
    info.input_free = i < static_cast<std::size_t>(node.original->input_size()) &&
                      node.input_free.contains(node.original->input(static_cast<int>(i)));
    const onnx::TensorProto* value = context.getInputData(i);
    if (value == nullptr) value = constant_of(node, i);
    if (value == nullptr) return;
    try {
      values_.push_back(onnx_io::tensor_from_proto(*value));
      info.value = &values_.back();
    } catch (const Error&) {
      // data that cannot be read has its own finding where the model is read
    }
  }

  std::vector<RecurrentInputInfo> infos_;
  std::deque<Tensor> values_;
  int elem_type_ = 0;
};

void set_shape(onnx::TypeProto& type, const SymbolicShape& shape) {
  auto* to = type.mutable_tensor_type()->mutable_shape();
  to->clear_dim();
  for (const Dim& dim : shape) {
    auto* added = to->add_dim();
    if (dim.value) {
      added->set_dim_value(*dim.value);
    } else if (!dim.name.empty()) {
      added->set_dim_param(dim.name);
    }
  }
}

}  // namespace

RecurrentFindings infer_recurrent_node(const InferenceNode& node, const RecurrentForm& form,
                                       const SchemaInfo& schema, InferenceContext& context) {
  RecurrentFindings findings;
  const RecurrentAttributes attributes =
      read_recurrent_attributes(form, schema, resolved_attributes(schema, context), findings);
  // What the node says itself is told where it stands; what its caller says only shows here.
  const bool refers = std::ranges::any_of(node.original->attribute(),
                                          [](const auto& a) { return !a.ref_attr_name().empty(); });
  if (!refers) findings.clear();
  const Inputs inputs(node, context, schema.inputs.size());
  const RecurrentSizes sizes = check_recurrent_shapes(form, attributes, inputs.infos(), findings);
  check_recurrent_traps(form, attributes, inputs.infos(), findings);
  const DTypeSet admitted = schema.input_dtypes(input_X);
  const bool type_known = is_valid_dtype(inputs.elem_type());
  const bool sound = !node.faulty && type_known &&
                     admitted.contains(onnx_io::dtype_from_proto(inputs.elem_type())) &&
                     std::ranges::none_of(findings, [&](const auto& f) { return is_error(form, f); });
  for (std::size_t i = 0; sound && i < context.getNumOutputs() && i < schema.outputs.size(); ++i) {
    onnx::TypeProto& type = *context.getOutputType(i);
    type.mutable_tensor_type()->set_elem_type(inputs.elem_type());
    if (const auto shape = recurrent_output_shape(i, attributes, sizes)) set_shape(type, *shape);
  }
  return findings;
}

}  // namespace grurun::opset
