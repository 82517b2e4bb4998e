#include <fmt/format.h>

#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

// product = MatMulInteger(a, b), zero points of one number being scalars.
std::string integer_product(const std::string& a, const std::string& b, const std::string& a_zero,
                            const std::string& b_zero) {
  std::string nodes;
  if (!a_zero.empty()) nodes += fmt::format("a_zero = Squeeze({}) ", a_zero);
  if (!b_zero.empty()) nodes += fmt::format("b_zero = Identity({}) ", b_zero);
  return nodes + fmt::format("product = MatMulInteger({}, {}{}{}) ", a, b,
                             a_zero.empty() ? (b_zero.empty() ? "" : ", ") : ", a_zero",
                             b_zero.empty() ? "" : ", b_zero");
}

// Y = whole * a_scale * b_scale + bias; a bias with axes before its last stands for one without.
std::string scaled_and_biased(const BodyNode& node) {
  const std::string scaled = "whole = Cast <to = 1> (product) scale = Mul(a_scale, b_scale) ";
  if (!node.has("bias")) return scaled + "Y = Mul(whole, scale) ";
  return scaled +
         "scaled = Mul(whole, scale) one_axis = Constant <value_ints = [-1]> () "
         "row = Reshape(bias, one_axis) Y = Add(scaled, row) ";
}

std::string dynamic_quantize_body(const BodyNode& node) {
  return "a, a_scale, a_zero_point = DynamicQuantizeLinear(A) " +
         integer_product("a", "B", "a_zero_point", node.has("b_zero_point") ? "b_zero_point" : "") +
         scaled_and_biased(node);
}

std::string to_float_body(const BodyNode& node) {
  return integer_product("A", "B", node.has("a_zero_point") ? "a_zero_point" : "",
                         node.has("b_zero_point") ? "b_zero_point" : "") +
         scaled_and_biased(node);
}

std::string qgemm_body(const BodyNode& node) {
  const auto operand = [&](const char* name, const char* trans) {
    return node.integer(trans) != 0 ? fmt::format("{0}_ = Transpose <perm = [1, 0]> ({0}) ", name)
                                    : fmt::format("{0}_ = Identity({0}) ", name);
  };
  std::string nodes = operand("A", "transA") + operand("B", "transB") +
                      integer_product("A_", "B_", "a_zero_point", "b_zero_point");
  nodes += node.has("C") ? "sum = Add(product, C) " : "sum = Identity(product) ";
  nodes +=
      "whole = Cast <to = 1> (sum) scale_of_both = Mul(a_scale, b_scale) "
      "factor = Constant <value_float: float = @alpha> () scale = Mul(scale_of_both, factor) ";
  if (!node.has("y_scale")) return nodes + "Y = Mul(whole, scale) ";
  return nodes +
         "real = Mul(whole, scale) y_step = Squeeze(y_scale) y_zero = Squeeze(y_zero_point) "
         "Y = QuantizeLinear(real, y_step, y_zero) ";
}

constexpr AddedOperator quantized_matmul_rows[] = {
    {"DynamicQuantizeMatMul", "Y = MatMul(A, Dequantize(B)) + bias, A being quantized to uint8 by its range.",
     "", "A: T1; B: T2; b_scale: T1; b_zero_point: T2?; bias: T1?", "Y: T1", "T1: float; T2: int8, uint8",
     dynamic_quantize_body},
    {"MatMulIntegerToFloat", "Y = MatMulInteger(A, B) * a_scale * b_scale + bias.", "",
     "A: T1; B: T2; a_scale: T3; b_scale: T3; a_zero_point: T1?; b_zero_point: T2?; bias: T3?", "Y: T3",
     "T1: int8, uint8; T2: int8, uint8; T3: float", to_float_body},
    {"QGemm",
     "Y = alpha * a_scale * b_scale * (A * B + C) of matrices without their zero points, quantized where "
     "y_scale is "
     "given.",
     "alpha: float = 1; transA: int = 0; transB: int = 0",
     "A: TA; a_scale: T; a_zero_point: TA; B: TB; b_scale: T; b_zero_point: TB; C: TC?; y_scale: T?; "
     "y_zero_point: TYZ?",
     "Y: TY",
     "T: float; TA: uint8, int8; TB: uint8, int8; TC: int32; TYZ: uint8, int8; TY: float, uint8, int8",
     qgemm_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_quantized_matmul_schemas() {
  return schemas_of(quantized_matmul_rows, "com.microsoft");
}

}  // namespace grurun::opset
