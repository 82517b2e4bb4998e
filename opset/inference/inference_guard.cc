#include "opset/inference/inference_guard.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "onnx/defs/tensor_proto_util.h"
#include "opset/inference/guarded_registry.h"
#include "opset/inference/inferred_input.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::OpSchema;
using onnx::TensorShapeProto;

// Expand-8 makes a dimension for each element of a shape whose values are not known.
bool states_large_rank(const InferenceContext& context) {
  const TensorShapeProto* shape = input_shape(context, 1);
  return shape != nullptr && shape->dim_size() == 1 && shape->dim(0).dim_value() > max_inferred_rank;
}

// ONNX's functions of these ask what an input's type is before they ask whether it has one.
bool lacks_type(const InferenceContext& context) {
  return context.getNumInputs() > 0 && context.getInputType(0) == nullptr;
}

bool lacks_list(const InferenceContext& context, const char* name) {
  const onnx::AttributeProto* list = context.getAttribute(name);
  return list == nullptr || list->floats_size() + list->ints_size() + list->strings_size() == 0;
}

// LinearClassifier has as many classes for it as there are intercepts, which may be left out.
bool counts_no_classes(const OpSchema& schema, const InferenceContext& context) {
  return schema.Name() == "LinearClassifier" && lacks_list(context, "intercepts");
}

// OneHotEncoder takes an empty list of categories for one that is given.
bool has_empty_categories(const OpSchema& schema, const InferenceContext& context) {
  return schema.Name() == "OneHotEncoder" &&
         (lacks_list(context, "cats_int64s") || lacks_list(context, "cats_strings")) &&
         context.getAttribute("cats_int64s") != nullptr && context.getAttribute("cats_strings") != nullptr;
}

// ConstantOfShape's one element may have any number of axes.
bool has_value_of_other_rank(const InferenceContext& context) {
  const onnx::AttributeProto* value = context.getAttribute("value");
  return value != nullptr && value->has_t() && value->t().dims_size() != 1;
}

// TreeEnsemble takes an empty list for one of another type, and popularities for float alone.
bool states_unused_lists(const OpSchema& schema, const InferenceContext& context) {
  if (schema.Name() != "TreeEnsemble") return false;
  const onnx::AttributeProto* rates = context.getAttribute("nodes_hitrates");
  const onnx::AttributeProto* tracks = context.getAttribute("nodes_missing_value_tracks_true");
  return (rates != nullptr && (rates->t().data_type() != onnx::TensorProto::FLOAT ||
                               std::ranges::count(rates->t().dims(), 0) != 0)) ||
         (tracks != nullptr && tracks->ints_size() == 0);
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

template <typename T>
bool fits_difference(const onnx::TensorProto& start, const onnx::TensorProto& limit) {
  const std::vector<T> from = onnx::ParseData<T>(&start), to = onnx::ParseData<T>(&limit);
  T difference = 0;
  return from.size() == 1 && to.size() == 1 && !__builtin_sub_overflow(to[0], from[0], &difference);
}

// The body that the standard gives AffineGrid hands Range lists of one number, too. ONNX's function takes
// limit - start in the type of both.
bool has_plain_range(const InferenceContext& context) {
  for (std::size_t i = 0; i < context.getNumInputs(); ++i) {
    const onnx::TensorProto* value = context.getInputData(i);
    if (value != nullptr && value->dims_size() != 0) return false;
  }
  const onnx::TensorProto *start = context.getInputData(0), *limit = context.getInputData(1);
  if (start == nullptr || limit == nullptr || start->data_type() != limit->data_type()) return true;
  if (start->data_type() == onnx::TensorProto::INT32) return fits_difference<std::int32_t>(*start, *limit);
  if (start->data_type() == onnx::TensorProto::INT64) return fits_difference<std::int64_t>(*start, *limit);
  return true;
}

// LabelEncoder's default may be a scalar.
bool has_scalar_default(const OpSchema& schema, const InferenceContext& context) {
  if (schema.Name() != "LabelEncoder") return false;
  const onnx::AttributeProto* value = context.getAttribute("default_tensor");
  return value != nullptr && value->has_t() && value->t().dims_size() == 0;
}

// Split divides in int.
bool fits_int(const TensorShapeProto* shape) {
  return shape == nullptr || std::ranges::all_of(shape->dim(), [](const auto& size) {
           return size.dim_value() <= std::numeric_limits<int>::max();
         });
}

std::string string_attribute(const InferenceContext& context, const char* name) {
  const onnx::AttributeProto* attribute = context.getAttribute(name);
  return attribute == nullptr ? "" : attribute->s();
}

// ConvTranspose loses the dimensions of an output that is smaller than the input, and with auto_pad takes
// strides longer than the kernel for the kernel's.
bool states_output(const InferenceContext& context) {
  return context.getAttribute("output_shape") != nullptr ||
         string_attribute(context, "auto_pad").starts_with("SAME");
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
  if (schema.domain() == "ai.onnx.ml")
    return !lacks_type(context) && !counts_no_classes(schema, context) &&
           !has_empty_categories(schema, context) && !states_unused_lists(schema, context) &&
           !has_scalar_default(schema, context);
  if (op_type == "FlexAttention") return knows_shapes(context, 3);
  if (!schema.domain().empty()) return true;
  if (op_type == "EyeLike" || op_type == "RegexFullMatch") return !lacks_type(context);
  if (op_type == "Pad") return has_int64_axes(context);
  if (op_type == "Optional") return context.getNumInputs() == 0 || context.hasInput(0);
  if (op_type == "ConstantOfShape") return !has_value_of_other_rank(context);
  // The Constant in its body takes an attribute without the default.
  if (op_type == "MeanVarianceNormalization") return context.getAttribute("axes") != nullptr;
  if (op_type == "Range") return has_plain_range(context);
  if (op_type == "Split") return fits_int(input_shape(context, 0));
  if (op_type == "Squeeze") return are_sorted(context, "axes");
  if (op_type == "ConvTranspose") return !states_output(context);
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
