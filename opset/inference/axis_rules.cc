#include "opset/inference/axis_rules.h"

#include <array>
#include <set>
#include <string_view>

#include "opset/inference/inferred_input.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

void require_axis(const char* attribute, std::int64_t axis, const TensorShapeProto& shape) {
  const std::int64_t rank = shape.dim_size();
  if (axis >= -rank && axis < rank) return;
  fail_invalid("attribute {} names axis {}, but must lie in [-r, r) of the input {}, whose rank r is {}",
               attribute, axis, shape_text(shape), rank);
}

// Of the first input.
void check_axis(const InferenceContext& context) {
  const TensorShapeProto* data = input_shape(context, 0);
  const onnx::AttributeProto* axis = context.getAttribute("axis");
  if (data != nullptr && axis != nullptr) require_axis("axis", axis->i(), *data);
}

// A size for each of axes, which are all where none are stated.
void check_cropped_axes(const InferenceContext& context) {
  const TensorShapeProto* data = input_shape(context, 0);
  if (data == nullptr) return;
  const onnx::AttributeProto* axes = context.getAttribute("axes");
  const std::int64_t rank = data->dim_size(), count = axes != nullptr ? axes->ints_size() : rank;
  std::set<std::int64_t> named;
  for (int i = 0; axes != nullptr && i < axes->ints_size(); ++i) {
    const std::int64_t axis = axes->ints(i);
    require_axis("axes", axis, *data);
    if (!named.insert(axis < 0 ? axis + rank : axis).second)
      fail_invalid("attribute axes names axis {} twice", axis < 0 ? axis + rank : axis);
  }
  const auto sizes = size_of(input_shape(context, 1), 0);
  if (sizes && *sizes != count) fail_invalid("input shape has {} sizes for {} axes", *sizes, count);
}

void require_entries(const InferenceContext& context, const char* attribute, std::int64_t wanted,
                     const char* of) {
  const onnx::AttributeProto* list = context.getAttribute(attribute);
  if (list == nullptr || list->ints_size() == wanted) return;
  fail_invalid("attribute {} has {} entries, but must have one for each of the {} {}", attribute,
               list->ints_size(), wanted, of);
}

// Where output_shape is stated, ONNX's inference looks at no other list. An empty one says nothing.
void check_transposed_lists(const InferenceContext& context) {
  const TensorShapeProto* X = input_shape(context, 0);
  if (X == nullptr || X->dim_size() < 3) return;
  const std::int64_t axes = X->dim_size() - 2;
  const auto require = [&](const char* name, std::int64_t wanted, const char* of) {
    const onnx::AttributeProto* list = context.getAttribute(name);
    if (list != nullptr && list->ints_size() > 0) require_entries(context, name, wanted, of);
  };
  for (const char* list : {"dilations", "kernel_shape", "output_padding", "output_shape", "strides"})
    require(list, axes, "spatial axes");
  require("pads", 2 * axes, "ends of spatial axes");
}

// Inputs are states and then scan inputs, outputs the states and then scan outputs; behind sequence_lens in
// version 8, which has a direction for each scan input alone.
void check_scan(const InferenceContext& context, bool has_lengths) {
  const auto inputs = static_cast<std::int64_t>(context.getNumInputs()) - (has_lengths ? 1 : 0);
  const auto outputs = static_cast<std::int64_t>(context.getNumOutputs());
  const std::int64_t scanned = int_attribute(context, "num_scan_inputs", 1);
  if (scanned < 1 || scanned > inputs)
    fail_invalid("attribute num_scan_inputs is {}, but must lie between 1 and the {} states and scan inputs",
                 scanned, inputs);
  const std::int64_t states = inputs - scanned;
  if (outputs < states) fail_invalid("Scan has {} states, but only {} outputs", states, outputs);
  require_entries(context, "directions", scanned, "scan inputs");
  require_entries(context, "scan_input_directions", scanned, "scan inputs");
  require_entries(context, "scan_input_axes", scanned, "scan inputs");
  require_entries(context, "scan_output_directions", outputs - states, "scan outputs");
  require_entries(context, "scan_output_axes", outputs - states, "scan outputs");
}

struct AxisRule {
  std::string_view op_type;
  int since;
  int until;
  void (*check)(const InferenceContext& context);
};

constexpr int any_later = 1'000'000;

constexpr auto axis_rules = std::to_array<AxisRule>({
    {"CenterCropPad", 18, any_later, check_cropped_axes},
    {"ConvTranspose", 1, any_later, check_transposed_lists},
    {"GatherElements", 11, any_later, check_axis},
    {"LpNormalization", 1, any_later, check_axis},
    {"Scan", 8, 8, [](const auto& context) { check_scan(context, true); }},
    {"Scan", 9, any_later, [](const auto& context) { check_scan(context, false); }},
    {"Scatter", 9, any_later, check_axis},
    {"ScatterElements", 11, any_later, check_axis},
});

}  // namespace

void check_axis_lists(const onnx::OpSchema& schema, const InferenceContext& context) {
  const int version = schema.since_version();
  for (const AxisRule& rule : axis_rules) {
    if (rule.op_type == schema.Name() && rule.since <= version && version <= rule.until) rule.check(context);
  }
}

}  // namespace grurun::opset
