// Operators on numbers of 8 bits are those on what the numbers stand for, rounded to 8 bits again.
#include <fmt/format.h>

#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

std::string squeezed(std::string_view name) {
  return fmt::format("{0}_flat = Squeeze({0}) ", name);
}

// Scale and zero point may be scalars or hold one number.
std::string dequantized(std::string_view name, std::string_view scale, std::string_view zero_point,
                        bool has_zero) {
  if (!has_zero)
    return squeezed(scale) + fmt::format("{0}_real = DequantizeLinear({0}, {1}_flat) ", name, scale);
  return squeezed(scale) + squeezed(zero_point) +
         fmt::format("{0}_real = DequantizeLinear({0}, {1}_flat, {2}_flat) ", name, scale, zero_point);
}

// Without a zero point, of the type of the value like and 0.
std::string quantized(std::string_view from, std::string_view scale, std::string_view zero_point,
                      bool has_zero, std::string_view like, std::string_view to) {
  std::string nodes = squeezed(scale);
  nodes += has_zero ? squeezed(zero_point)
                    : fmt::format("nil = Constant <value_int = 0> () {}_flat = CastLike(nil, {}) ",
                                  zero_point, like);
  return nodes + fmt::format("{} = QuantizeLinear({}, {}_flat, {}_flat) ", to, from, scale, zero_point);
}

std::string binary(const BodyNode& node, const char* op_type) {
  return dequantized("A", "A_scale", "A_zero_point", node.has("A_zero_point")) +
         dequantized("B", "B_scale", "B_zero_point", node.has("B_zero_point")) +
         fmt::format("real = {}(A_real, B_real) ", op_type) +
         quantized("real", "C_scale", "C_zero_point", node.has("C_zero_point"), "A", "C");
}

std::string add_body(const BodyNode& node) {
  return binary(node, "Add");
}

std::string mul_body(const BodyNode& node) {
  return binary(node, "Mul");
}

std::string unary(const BodyNode& node, const std::string& nodes) {
  return dequantized("X", "X_scale", "X_zero_point", node.has("X_zero_point")) + nodes +
         quantized("real", "Y_scale", "Y_zero_point", node.has("Y_zero_point"), "X", "Y");
}

std::string sigmoid_body(const BodyNode& node) {
  return unary(node, "real = Sigmoid(X_real) ");
}

std::string leaky_relu_body(const BodyNode& node) {
  return unary(node, "real = LeakyRelu <alpha: float = @alpha> (X_real) ");
}

// Before opset 13 Softmax was over all axes from axis on.
std::string softmax_body(const BodyNode& node) {
  std::string nodes = dequantized("X", "X_scale", "x_zero_point", node.has("x_zero_point"));
  if (node.integer("opset") >= 13) {
    nodes += "real = Softmax <axis: int = @axis> (X_real) ";
  } else {
    nodes +=
        "rows = Flatten <axis: int = @axis> (X_real) parts = Softmax <axis = -1> (rows) shape = Shape(X) "
        "real = Reshape <allowzero = 1> (parts, shape) ";
  }
  return nodes + quantized("real", "y_scale", "y_zero_point", true, "X", "Y");
}

std::string concat_body(const BodyNode& node) {
  std::string nodes, list;
  for (int i = 0; i + 5 <= node.input_count(); i += 3) {
    const std::string name = fmt::format("inputs_{}", i);
    nodes += dequantized(name, fmt::format("inputs_{}", i + 1), fmt::format("inputs_{}", i + 2), true);
    list += fmt::format("{}{}_real", list.empty() ? "" : ", ", name);
  }
  return nodes + fmt::format("real = Concat <axis: int = @axis> ({}) ", list) +
         quantized("real", "Y_scale", "Y_zero_point", true, "", "Y");
}

std::string where_body(const BodyNode&) {
  return dequantized("X", "x_scale", "x_zero_point", true) +
         dequantized("Y", "y_scale", "y_zero_point", true) + "real = Where(condition, X_real, Y_real) " +
         quantized("real", "z_scale", "z_zero_point", true, "X", "Z");
}

// The pooling nodes, from x to pooled, between the swaps of axes that channels_last asks for.
std::string pooled(const BodyNode& node, const std::string& pool) {
  const bool last = node.integer("channels_last") != 0;
  const std::size_t rank = last ? node.rank("X") : 0;
  std::string nodes = dequantized("X", "x_scale", "x_zero_point", node.has("x_zero_point"));
  nodes += (last ? channels_first("X_real", "x", rank) : "x = Identity(X_real) ") + pool;
  nodes += last ? channels_last("pooled", "real", rank) : "real = Identity(pooled) ";
  return nodes + quantized("real", "y_scale", "y_zero_point", node.has("y_zero_point"), "X", "Y");
}

std::string average_pool_body(const BodyNode& node) {
  return pooled(node,
                "pooled = AveragePool <auto_pad: string = @auto_pad, ceil_mode: int = @ceil_mode, "
                "count_include_pad: int = @count_include_pad, kernel_shape: ints = @kernel_shape, "
                "pads: ints = @pads, strides: ints = @strides> (x) ");
}

std::string global_average_pool_body(const BodyNode& node) {
  return pooled(node, "pooled = GlobalAveragePool(x) ");
}

constexpr const char* of_8_bits = "T: uint8, int8";
constexpr const char* of_two =
    "A: T; A_scale: tensor(float); A_zero_point: T?; B: T; B_scale: tensor(float); B_zero_point: T?; "
    "C_scale: tensor(float); C_zero_point: T?";
constexpr const char* of_one =
    "X: T; X_scale: tensor(float); X_zero_point: T?; Y_scale: tensor(float); Y_zero_point: T?";

constexpr AddedOperator qlinear_rows[] = {
    {"QLinearAdd", "C = Quantize(Dequantize(A) + Dequantize(B)).", "", of_two, "C: T", of_8_bits, add_body},
    {"QLinearAveragePool",
     "Y = Quantize(AveragePool(Dequantize(X))), channels on axis 1 or, with channels_last, last.",
     "auto_pad: string = NOTSET; ceil_mode: int = 0; channels_last: int = 0; count_include_pad: int = 0; "
     "kernel_shape: ints!; pads: ints; strides: ints",
     "X: T; x_scale: tensor(float); x_zero_point: T?; y_scale: tensor(float); y_zero_point: T?", "Y: T",
     of_8_bits, average_pool_body},
    {"QLinearConcat",
     "Y = Quantize(Concat(Dequantize(X) ...)); each X is followed by its scale and its zero point.",
     "axis: int!", "Y_scale: TF; Y_zero_point: T8; inputs: TV...", "Y: T8",
     "T8: uint8, int8; TF: float; TV: uint8, int8, float", concat_body},
    {"QLinearGlobalAveragePool", "Y = Quantize(GlobalAveragePool(Dequantize(X))).", "channels_last: int = 0",
     "X: T; x_scale: tensor(float); x_zero_point: T; y_scale: tensor(float); y_zero_point: T", "Y: T",
     of_8_bits, global_average_pool_body},
    {"QLinearLeakyRelu", "Y = Quantize(LeakyRelu(Dequantize(X))).", "alpha: float = 0.01", of_one, "Y: T",
     of_8_bits, leaky_relu_body},
    {"QLinearMul", "C = Quantize(Dequantize(A) * Dequantize(B)).", "", of_two, "C: T", of_8_bits, mul_body},
    {"QLinearSigmoid", "Y = Quantize(Sigmoid(Dequantize(X))).", "", of_one, "Y: T", of_8_bits, sigmoid_body},
    {"QLinearSoftmax", "Y = Quantize(Softmax(Dequantize(X))), Softmax as the opset has it.",
     "axis: int = -1; opset: int!",
     "X: T; X_scale: tensor(float); x_zero_point: T?; y_scale: tensor(float); y_zero_point: T", "Y: T",
     of_8_bits, softmax_body},
    {"QLinearWhere", "Z = Quantize(Where(condition, Dequantize(X), Dequantize(Y))).", "",
     "condition: B; X: T; x_scale: TF; x_zero_point: T; Y: T; y_scale: TF; y_zero_point: T; z_scale: TF; "
     "z_zero_point: T",
     "Z: T", "B: bool; TF: float; T: uint8, int8", where_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_qlinear_schemas() {
  return schemas_of(qlinear_rows, "com.microsoft");
}

}  // namespace grurun::opset
