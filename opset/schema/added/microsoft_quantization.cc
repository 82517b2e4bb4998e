#include <fmt/format.h>

#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

// A scale of one number is for the whole tensor, whatever its rank.
std::string scalars(const char* scale, bool has_zero, const char* zero_point) {
  return fmt::format("scale = Squeeze({}) ", scale) +
         (has_zero ? fmt::format("zero = Squeeze({}) ", zero_point) : "");
}

std::string dequantize_body(const BodyNode& node) {
  const bool has_zero = node.has("x_zero_point");
  return scalars("x_scale", has_zero, "x_zero_point") +
         fmt::format("y = DequantizeLinear <axis: int = @axis> (x, scale{}) ", has_zero ? ", zero" : "");
}

std::string quantize_body(const BodyNode& node) {
  const bool has_zero = node.has("y_zero_point");
  return scalars("y_scale", has_zero, "y_zero_point") +
         fmt::format("y = QuantizeLinear <axis: int = @axis> (x, scale{}) ", has_zero ? ", zero" : "");
}

constexpr AddedOperator quantization_rows[] = {
    {"DequantizeLinear", "y = (x - x_zero_point) * x_scale.", "axis: int = 1",
     "x: T1; x_scale: T2; x_zero_point: T1?", "y: T2",
     "T1: int8, uint8, int16, uint16, int32, int4, uint4; T2: float16, float", dequantize_body},
    {"QuantizeLinear", "y = Saturate(Round(x / y_scale) + y_zero_point).", "axis: int = 1",
     "x: T1; y_scale: T1; y_zero_point: T2?", "y: T2",
     "T1: float16, float; T2: int8, uint8, int16, uint16, int4, uint4", quantize_body},
};

}  // namespace

std::vector<onnx::OpSchema> microsoft_quantization_schemas() {
  return schemas_of(quantization_rows, "com.microsoft");
}

}  // namespace grurun::opset
