// Add-1, Multiply-1, ReLU-1, Sigmoid-1, Tanh-1, Convert-1 and MatMul-1: ONNX has the same operators. What
// differs are the rules of broadcasting (auto_broadcast), the transposes that MatMul-1 has built in, and the
// element types, of which the IR admits more.
#include <array>

#include "onnx_io/openvino/conversion.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

bool is_computed_float(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

void require_type(const Conversion& layer, bool known) {
  if (!known) fail_unsupported("elements of type {} are not computed", dtype_name(layer.inputs[0].dtype));
}

void require_same_type(const Conversion& layer) {
  const DType first = layer.inputs[0].dtype;
  const DType second = layer.inputs[1].dtype;
  if (first == second) return;
  fail_invalid("its inputs are of types {} and {}; they must have the same", dtype_name(first),
               dtype_name(second));
}

bool known_and_equal(const std::optional<Dims>& a, const std::optional<Dims>& b) {
  if (!a || !b || *a != *b) return false;
  for (const std::int64_t size : *a) {
    if (size < 0) return false;
  }
  return true;
}

void check_broadcast(Conversion& layer) {
  const std::string rule = layer.attributes.text("auto_broadcast", "numpy");
  // The axis of pdpd says nothing about shapes that are equal, and others are refused below.
  layer.attributes.find("auto_broadcast.auto_broadcast_axis");
  if (rule == "numpy") return;
  if (rule != "none" && rule != "pdpd") {
    fail_invalid("attribute auto_broadcast is '{}'; it must be none, numpy or pdpd", rule);
  }
  const auto& a = layer.inputs[0].dims;
  const auto& b = layer.inputs[1].dims;
  // Equal shapes mean the same under every rule.
  if (known_and_equal(a, b)) return;
  if (rule == "pdpd") fail_unsupported("auto_broadcast=\"pdpd\" of different shapes");
  if (!a || !b) fail_unsupported("auto_broadcast=\"none\" of shapes that are not known");
  bool differ = a->size() != b->size();
  for (std::size_t i = 0; !differ && i < a->size(); ++i) {
    differ = (*a)[i] >= 0 && (*b)[i] >= 0 && (*a)[i] != (*b)[i];
  }
  if (differ) {
    fail_invalid("its inputs are {} and {}; with auto_broadcast=\"none\" they must have the same shape",
                 shape_text(a), shape_text(b));
  }
  fail_unsupported("auto_broadcast=\"none\" of shapes that are not known");
}

std::vector<Value> convert_binary(Conversion& layer) {
  check_broadcast(layer);
  require_same_type(layer);
  require_type(layer, is_computed_float(layer.inputs[0].dtype) || is_integer(layer.inputs[0].dtype));
  return {layer.add(layer.layer.type == "Add" ? "Add" : "Mul", layer.inputs)};
}

std::vector<Value> convert_relu(Conversion& layer) {
  const DType dtype = layer.inputs[0].dtype;
  require_type(layer, is_computed_float(dtype) || is_integer(dtype));
  const bool is_unsigned =
      dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::uint32 || dtype == DType::uint64;
  return {layer.add(is_unsigned ? "Identity" : "Relu", layer.inputs)};
}

std::vector<Value> convert_function(Conversion& layer) {
  require_type(layer, is_computed_float(layer.inputs[0].dtype));
  return {layer.add(layer.layer.type, layer.inputs)};
}

std::vector<Value> convert_convert(Conversion& layer) {
  const DType to = layer.attributes.element_type("destination_type");
  const Value& value = layer.inputs[0];
  // Weights that were compressed to 16 bits stay constants.
  if (Constants::can_widen(value, to)) return {layer.constants.widened(value, to)};
  layer.add("Cast", {value}, {make_attribute("to", static_cast<std::int64_t>(to))});
  return {layer.output(0, to)};
}

// A side of a MatMul with its last two axes exchanged; what has one axis has none to exchange.
Value transposed(Conversion& layer, const Value& value, const char* attribute) {
  if (!value.dims) fail_unsupported("{} of a value whose rank is not known", attribute);
  const std::size_t rank = value.dims->size();
  if (rank < 2) return value;
  if (value.constant != nullptr) return layer.constants.transposed(value);
  std::vector<std::int64_t> perm(rank);
  for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(i);
  std::swap(perm[rank - 2], perm[rank - 1]);
  return layer.add_helper("Transpose", {value}, {make_attribute("perm", perm)});
}

std::vector<Value> convert_matmul(Conversion& layer) {
  require_same_type(layer);
  const DType dtype = layer.inputs[0].dtype;
  require_type(layer, is_computed_float(dtype) || dtype == DType::int32 || dtype == DType::int64 ||
                          dtype == DType::uint32 || dtype == DType::uint64);
  Value a = layer.inputs[0];
  Value b = layer.inputs[1];
  if (layer.attributes.boolean("transpose_a", false)) a = transposed(layer, a, "transpose_a");
  if (layer.attributes.boolean("transpose_b", false)) b = transposed(layer, b, "transpose_b");
  return {layer.add("MatMul", {a, b})};
}

constexpr std::array<OperatorRow, 8> elementwise_table = {{
    {"Add", 1, newest_opset, "Add-1", 2, 2, 1, convert_binary},
    {"Multiply", 1, newest_opset, "Multiply-1", 2, 2, 1, convert_binary},
    {"ReLU", 1, newest_opset, "ReLU-1", 1, 1, 1, convert_relu},  // as files spell it
    {"Relu", 1, newest_opset, "ReLU-1", 1, 1, 1, convert_relu},
    {"Sigmoid", 1, newest_opset, "Sigmoid-1", 1, 1, 1, convert_function},
    {"Tanh", 1, newest_opset, "Tanh-1", 1, 1, 1, convert_function},
    {"Convert", 1, newest_opset, "Convert-1", 1, 1, 1, convert_convert},
    {"MatMul", 1, newest_opset, "MatMul-1", 2, 2, 1, convert_matmul},
}};

}  // namespace

std::span<const OperatorRow> elementwise_rows() {
  return elementwise_table;
}

}  // namespace grurun::onnx_io::openvino
