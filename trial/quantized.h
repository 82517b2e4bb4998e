// Quantized values as the floats that they stand for, and the nodes that make them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::trial {

/// Elements that stand for others: (element - zero_point) * scale, along an axis.
struct Quantization {
  Tensor scale;                      // float, of rank 0, or [n] along the axis
  std::optional<Tensor> zero_point;  // of the elements' type
  std::int64_t axis = 1;
};

/// Elements of floats or integers. Throws Error(unsupported) for other types.
std::vector<double> numbers_of(const Tensor& tensor);

/// What they stand for.
std::vector<double> dequantized(const Tensor& tensor, const Quantization& by);

/// A tensor of integers as the floats that it stands for; anything else is handed back.
Value dequantized(const Value& value, const Quantization& by);

/// Floats as integers of the type, rounded to even and kept within its range; anything else is handed back.
Value quantized(const Value& value, const Quantization& by, DType dtype);

/// What a node computes, whether on floats or on quantized values: QLinearConv is a Conv of its x, w and B.
struct FloatForm {
  std::string_view domain, op_type;
  std::vector<std::string> data;  // what it reads but for scales and zero points
  bool is_quantized = false;
};

/// Of QLinearConv and QLinearMatMul of the standard, and of com.microsoft's QGemm and QLinear operators; of
/// others the node as it is.
FloatForm float_form(const onnx_io::Node& node);

/// Which values of a graph are quantized by scales and zero points that are constants: what QuantizeLinear
/// and the operators above make, and what others move of it.
class Quantizations {
 public:
  explicit Quantizations(const onnx_io::Graph& graph);

  /// nullptr: it is not quantized.
  const Quantization* find(const std::string& name) const;

 private:
  std::unordered_map<std::string, Quantization> by_name_;
};

}  // namespace grurun::trial
