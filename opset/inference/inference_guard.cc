#include "opset/inference/inference_guard.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "opset/inference/axis_rules.h"
#include "opset/inference/guarded_registry.h"
#include "opset/inference/inferred_input.h"
#include "opset/inference/input_shapes.h"
#include "opset/inference/size_rules.h"
#include "opset/pages/einsum_equation.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::OpSchema;
using onnx::TensorShapeProto;

// ONNX reads axes as int: 2^32 would pass for 0.
void require_int(const char* name, std::int64_t value) {
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    fail_invalid("attribute {} is {}: no tensor has such an axis", name, value);
}

void check_axes(const InferenceContext& context) {
  for (const char* name : {"axis", "batch_axis", "time_axis", "scan_input_axes", "scan_output_axes"}) {
    const onnx::AttributeProto* attribute = context.getAttribute(name);
    if (attribute == nullptr) continue;
    require_int(name, attribute->i());
    for (const std::int64_t value : attribute->ints()) require_int(name, value);
  }
}

// Mean and InvStdDev get a size of 1 from axis on, whatever it is.
void check_normalized_axis(const InferenceContext& context) {
  const TensorShapeProto* x = input_shape(context, 0);
  if (x == nullptr) return;
  const std::int64_t axis = int_attribute(context, "axis", -1);
  const std::int64_t rank = x->dim_size();
  if (axis < -rank || axis >= rank)
    fail_invalid("attribute axis is {}, but must lie in [-r, r) of an input of rank r, here {}", axis, rank);
}

// Dimensions of data from batch_dims + indices.shape[-1] on are copied.
void check_batch_dims(const InferenceContext& context) {
  const std::int64_t batch_dims = int_attribute(context, "batch_dims", 0);
  if (batch_dims < 0) fail_invalid("attribute batch_dims is {}, but must not be negative", batch_dims);
  for (const std::size_t i : {0, 1}) {
    const TensorShapeProto* shape = input_shape(context, i);
    if (shape != nullptr && batch_dims >= std::max(shape->dim_size(), 1)) {
      fail_invalid("attribute batch_dims is {}, but must be less than the rank of {}, which is {}",
                   batch_dims, i == 0 ? "data" : "indices", shape->dim_size());
    }
  }
}

// A list of num_outputs sizes is made, and read at the number of each output.
void check_num_outputs(const InferenceContext& context) {
  const auto outputs = static_cast<std::int64_t>(context.getNumOutputs());
  const std::int64_t stated = int_attribute(context, "num_outputs", outputs);
  if (stated != outputs)
    fail_invalid("attribute num_outputs is {}, but the node has {} outputs", stated, outputs);
}

// What is no term of an equation would be read again and again.
void check_equation(const InferenceContext& context) {
  const onnx::AttributeProto* equation = context.getAttribute("equation");
  if (equation == nullptr) return;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    const TensorShapeProto* shape = input_shape(context, i);
    if (shape == nullptr) return;  // nor does ONNX read the equation
    ranks.push_back(static_cast<std::size_t>(shape->dim_size()));
  }
  const EinsumEquation parsed = parse_einsum(equation->s(), ranks);
  std::map<Label, std::int64_t> sizes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      const std::optional<std::int64_t> size = size_of(input_shape(context, i), static_cast<int>(axis));
      if (!size) continue;
      std::int64_t& common = sizes.try_emplace(parsed.inputs[i][axis], *size).first->second;
      if (common == 1) common = *size;
      if (*size != common && *size != 1)
        fail_invalid("an index of equation '{}' has the sizes {} and {}", equation->s(), common, *size);
    }
  }
}

// Expand-8 makes a dimension for each element of a shape whose values are not known.
bool states_large_rank(const InferenceContext& context) {
  const TensorShapeProto* shape = input_shape(context, 1);
  return shape != nullptr && shape->dim_size() == 1 && shape->dim(0).dim_value() > max_inferred_rank;
}

// ONNX's functions of these ask what an input's type is before they ask whether it has one.
bool lacks_type(const InferenceContext& context) {
  return context.getNumInputs() > 0 && context.getInputType(0) == nullptr;
}

// Resize takes sizes of which it knows nothing for an empty list; with an aspect ratio that is kept, each of
// them for 0 that it does not know.
bool knows_sizes(const InferenceContext& context) {
  if (context.getNumInputs() <= 3 || !context.hasInput(3) || context.getInputData(3) != nullptr) return true;
  const TensorShapeProto* values = context.getSymbolicInput(3);
  if (values == nullptr && !knows_size(input_shape(context, 3), 0)) return false;
  const onnx::AttributeProto* policy = context.getAttribute("keep_aspect_ratio_policy");
  if (policy == nullptr || policy->s() == "stretch") return true;
  return values != nullptr &&
         std::ranges::all_of(values->dim(), [](const auto& size) { return size.has_dim_value(); });
}

// Pad reads its axes as int64, whatever they are.
bool has_int64_axes(const InferenceContext& context) {
  const onnx::TensorProto* axes = context.getNumInputs() > 3 ? context.getInputData(3) : nullptr;
  return axes == nullptr || axes->data_type() == onnx::TensorProto::INT64;
}

// Squeeze-1 drops axes in the order given, each from what the one before has left.
bool are_sorted(const InferenceContext& context, const char* attribute) {
  const onnx::AttributeProto* axes = context.getAttribute(attribute);
  return axes == nullptr || std::ranges::is_sorted(axes->ints());
}

std::string string_attribute(const InferenceContext& context, const char* name) {
  const onnx::AttributeProto* attribute = context.getAttribute(name);
  return attribute == nullptr ? "" : attribute->s();
}

// ConvTranspose loses the dimensions of an output that is smaller than the input, and adds output_padding
// where auto_pad settles the size.
bool infers_transposed(const InferenceContext& context) {
  if (context.getAttribute("output_shape") != nullptr) return false;
  return context.getAttribute("output_padding") == nullptr ||
         !string_attribute(context, "auto_pad").starts_with("SAME");
}

// StringNormalizer takes a size that it does not know for another than 1.
bool knows_first_of_two(const InferenceContext& context) {
  const TensorShapeProto* x = input_shape(context, 0);
  return x == nullptr || x->dim_size() != 2 || knows_size(x, 0);
}

bool knows_shapes(const InferenceContext& context, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    if (input_shape(context, i) == nullptr) return false;
  }
  return true;
}

bool is_huge(const onnx::TypeProto* type) {
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) return false;
  const auto& shape = type->tensor_type().shape();
  return shape.dim_size() == 1 && shape.dim(0).dim_value() > max_propagated_size;
}

}  // namespace

bool may_infer(const OpSchema& schema, const InferenceContext& context) {
  const std::string& op_type = schema.Name();
  if (schema.domain() == "ai.onnx.ml") return !lacks_type(context);
  if (op_type == "FlexAttention") return knows_shapes(context, 3);
  if (!schema.domain().empty()) return true;
  check_axes(context);
  if (op_type == "LayerNormalization" || op_type == "RMSNormalization") check_normalized_axis(context);
  if (op_type == "GatherND") check_batch_dims(context);
  if (op_type == "Split") check_num_outputs(context);
  if (op_type == "Einsum") check_equation(context);
  check_input_shapes(schema, context);
  check_axis_lists(schema, context);
  check_sizes(schema, context);
  if (op_type == "EyeLike" || op_type == "RegexFullMatch") return !lacks_type(context);
  if (op_type == "Pad") return has_int64_axes(context);
  if (op_type == "Squeeze") return are_sorted(context, "axes");
  if (op_type == "ConvTranspose") return infers_transposed(context);
  // By scales alone, without the part of the input that is resized.
  if (op_type == "Resize")
    return knows_sizes(context) &&
           string_attribute(context, "coordinate_transformation_mode") != "tf_crop_and_resize";
  if (op_type == "StringNormalizer") return knows_first_of_two(context);
  return op_type != "Expand" || !states_large_rank(context);
}

bool may_propagate(const OpSchema& schema, onnx::DataPropagationContext& context) {
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    if (is_huge(context.getInputType(i))) return false;
    const TensorShapeProto* values = context.getInputData(i);
    if (values != nullptr && values->dim_size() > max_propagated_size) return false;
    // ONNX counts the places of a Slice in int: a step of 2^32 would stay where it is.
    if (values == nullptr || schema.Name() != "Slice" || i != 4) continue;
    for (const auto& step : values->dim()) {
      if (step.dim_value() < -max_propagated_size || step.dim_value() > max_propagated_size) return false;
    }
  }
  return true;
}

}  // namespace grurun::opset
