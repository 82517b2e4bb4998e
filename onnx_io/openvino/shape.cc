// Reshape-1, Squeeze-1, Unsqueeze-1, Transpose-1, Concat-1, Split-1, Slice-8, ShapeOf-3, Gather-8 and
// Broadcast-3: what stands around recurrent layers. Where the IR takes lists of any integer type, ONNX wants
// int64.
#include <algorithm>
#include <array>

#include "onnx_io/openvino/conversion.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

std::vector<Value> convert_reshape(Conversion& layer) {
  const bool special_zero = layer.attributes.boolean("special_zero", false);
  // ONNX's name for the opposite: 0 is a size like any other.
  Attributes attributes;
  if (!special_zero) attributes.push_back(make_attribute("allowzero", std::int64_t{1}));
  return {layer.add("Reshape", {layer.inputs[0], layer.int64_list(1)}, attributes)};
}

// Since 2024.3 Squeeze leaves an axis alone whose size is not 1; ONNX refuses it. Where the size is known,
// the axis is left out here.
Value squeezed_axes(Conversion& layer) {
  const Value& axes = layer.inputs[1];
  const auto& dims = layer.inputs[0].dims;
  if (axes.constant == nullptr || !dims) return layer.int64_list(1);
  const auto rank = static_cast<std::int64_t>(dims->size());
  std::vector<std::int64_t> kept;
  for (const std::int64_t axis : integers_of(*axes.constant, "input 1 (axes)")) {
    if (axis < -rank || axis >= rank) {
      fail_invalid("axis {} of a value of shape {}; it must be in [{}, {}]", axis, shape_text(dims), -rank,
                   rank - 1);
    }
    const std::int64_t size = (*dims)[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
    if (size == 1 || size < 0) kept.push_back(axis);
  }
  return layer.graph.make_integers(kept);
}

std::vector<Value> convert_squeeze(Conversion& layer) {
  if (layer.attributes.boolean("allow_axis_skip", false) ||
      layer.attributes.boolean("pytorch_dynamic_rank", false)) {
    fail_unsupported("a Squeeze whose rank depends on the data");
  }
  if (layer.inputs.size() == 1) return {layer.add("Squeeze", layer.inputs)};
  const Value axes = squeezed_axes(layer);
  // An empty list means every axis of size 1 in the IR, none in ONNX.
  const bool empty = layer.inputs[1].constant != nullptr && layer.inputs[1].constant->bytes.size == 0;
  if (empty) return {layer.add("Squeeze", {layer.inputs[0]})};
  return {layer.add("Squeeze", {layer.inputs[0], axes})};
}

std::vector<Value> convert_unsqueeze(Conversion& layer) {
  return {layer.add("Unsqueeze", {layer.inputs[0], layer.int64_list(1)})};
}

std::vector<Value> convert_transpose(Conversion& layer) {
  const std::vector<std::int64_t> order = layer.constant_integers(1, "input_order");
  Attributes attributes;
  if (!order.empty()) attributes.push_back(make_attribute("perm", order));  // else the axes are reversed
  return {layer.add("Transpose", {layer.inputs[0]}, attributes)};
}

std::vector<Value> convert_concat(Conversion& layer) {
  for (const Value& input : layer.inputs) {
    if (input.dtype == layer.inputs[0].dtype) continue;
    fail_invalid("its inputs are of types {} and {}; they must have the same",
                 dtype_name(layer.inputs[0].dtype), dtype_name(input.dtype));
  }
  return {layer.add("Concat", layer.inputs, {make_attribute("axis", layer.attributes.integer("axis"))})};
}

std::vector<Value> convert_split(Conversion& layer) {
  const std::int64_t parts = layer.attributes.integer("num_splits");
  if (parts < 1 || static_cast<std::size_t>(parts) != layer.output_names.size()) {
    fail_invalid("attribute num_splits is {}, but it has {} outputs", parts, layer.output_names.size());
  }
  const std::vector<std::int64_t> axes = layer.constant_integers(1, "axis");
  if (axes.size() != 1) fail_invalid("input 1 (axis) has {} elements; it must have one", axes.size());
  const auto& dims = layer.inputs[0].dims;
  const auto rank = dims ? static_cast<std::int64_t>(dims->size()) : 0;
  const std::int64_t axis = axes[0] < 0 ? axes[0] + rank : axes[0];
  if (!dims || axis < 0 || axis >= rank || (*dims)[static_cast<std::size_t>(axis)] < 0) {
    fail_unsupported("a Split along axis {} of a value {}: the size must be known", axes[0],
                     shape_text(dims));
  }
  const std::int64_t size = (*dims)[static_cast<std::size_t>(axis)];
  if (size % parts != 0) fail_invalid("{} elements cannot be split into {} equal parts", size, parts);
  const Value sizes =
      layer.graph.make_integers(std::vector<std::int64_t>(static_cast<std::size_t>(parts), size / parts));
  layer.graph.add_node({.op_type = "Split",
                        .name = layer.layer.name,
                        .inputs = {layer.inputs[0], sizes},
                        .outputs = layer.output_names,
                        .attributes = {make_attribute("axis", axis)},
                        .domain = {}});
  std::vector<Value> out;
  for (std::size_t i = 0; i < layer.output_names.size(); ++i)
    out.push_back(layer.output(i, layer.inputs[0].dtype));
  return out;
}

std::vector<Value> convert_slice(Conversion& layer) {
  const Value axes = layer.inputs.size() > 4 ? layer.int64_list(4) : Value{};
  return {layer.add("Slice",
                    {layer.inputs[0], layer.int64_list(1), layer.int64_list(2), axes, layer.int64_list(3)})};
}

std::vector<Value> convert_shape_of(Conversion& layer) {
  const std::string* const stated = layer.attributes.find("output_type");
  const DType type = stated == nullptr ? DType::int64 : parse_element_type(*stated);
  if (type != DType::int64 && type != DType::int32) {
    fail_invalid("attribute output_type is '{}'; it must be i32 or i64", *stated);
  }
  if (type == DType::int64) {
    layer.add("Shape", layer.inputs);
  } else {
    const Value shape = layer.add_helper("Shape", layer.inputs);
    layer.add("Cast", {shape}, {make_attribute("to", static_cast<std::int64_t>(type))});
  }
  return {layer.output(0, type)};
}

std::vector<Value> convert_gather(Conversion& layer) {
  if (const std::int64_t batch_dims = layer.attributes.integer("batch_dims", 0); batch_dims != 0) {
    fail_unsupported("attribute batch_dims is {}; only 0 is read", batch_dims);
  }
  const std::vector<std::int64_t> axes = layer.constant_integers(2, "axis");
  if (axes.size() != 1) fail_invalid("input 2 (axis) has {} elements; it must have one", axes.size());
  Value indices = layer.inputs[1];
  if (!is_integer(indices.dtype)) {
    fail_invalid("input 1 (indices) has elements of type {}; it must have integers",
                 dtype_name(indices.dtype));
  }
  if (indices.dtype != DType::int32 && indices.dtype != DType::int64) {
    indices =
        layer.add_helper("Cast", {indices}, {make_attribute("to", static_cast<std::int64_t>(DType::int64))});
  }
  return {layer.add("Gather", {layer.inputs[0], indices}, {make_attribute("axis", axes[0])})};
}

std::vector<Value> convert_broadcast(Conversion& layer) {
  const std::string mode = layer.attributes.text("mode", "numpy");
  if (mode != "numpy" && mode != "bidirectional" && mode != "explicit") {
    fail_invalid("attribute mode is '{}'; it must be numpy, bidirectional or explicit", mode);
  }
  if (mode == "explicit") fail_unsupported("mode=\"explicit\"");
  if (layer.inputs.size() > 2) fail_invalid("input 2 (axes_mapping) is only for mode=\"explicit\"");
  const Value shape = layer.int64_list(1);
  if (mode == "bidirectional") return {layer.add("Expand", {layer.inputs[0], shape})};
  // Expand goes both ways; where it made more than the target shape, the Reshape behind it fails.
  const Value expanded = layer.add_helper("Expand", {layer.inputs[0], shape});
  return {layer.add("Reshape", {expanded, shape}, {make_attribute("allowzero", std::int64_t{1})})};
}

constexpr std::array<OperatorRow, 10> shape_table = {{
    {"Reshape", 1, newest_opset, "Reshape-1", 2, 2, 1, convert_reshape},
    {"Squeeze", 1, newest_opset, "Squeeze-1", 1, 2, 1, convert_squeeze},
    {"Unsqueeze", 1, newest_opset, "Unsqueeze-1", 2, 2, 1, convert_unsqueeze},
    {"Transpose", 1, newest_opset, "Transpose-1", 2, 2, 1, convert_transpose},
    {"Concat", 1, newest_opset, "Concat-1", 1, any_count, 1, convert_concat},
    {"Split", 1, newest_opset, "Split-1", 2, 2, any_count, convert_split},
    {"Slice", 8, newest_opset, "Slice-8", 4, 5, 1, convert_slice},
    {"ShapeOf", 1, newest_opset, "ShapeOf-3", 1, 1, 1, convert_shape_of},
    {"Gather", 1, newest_opset, "Gather-8", 3, 3, 1, convert_gather},
    {"Broadcast", 3, newest_opset, "Broadcast-3", 2, 3, 1, convert_broadcast},
}};

}  // namespace

std::span<const OperatorRow> shape_rows() {
  return shape_table;
}

}  // namespace grurun::onnx_io::openvino
