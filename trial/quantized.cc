#include "trial/quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx_io/models/walk.h"
#include "opset/pages/page.h"
#include "tensor/dispatch.h"
#include "trial/intermediates.h"

namespace grurun::trial {
namespace {

using onnx_io::Node;

constexpr std::string_view microsoft = "com.microsoft";

/// An operator on quantized values. Places of inputs; -1 ends the list.
struct QuantizedOperator {
  std::string_view domain, op_type, stands_for;
  int data[4];
  int scale;  // of what it makes; its zero point stands behind it
};

constexpr QuantizedOperator quantized_operators[] = {
    {"", "QLinearConv", "Conv", {0, 3, 8, -1}, 6},
    {"", "QLinearMatMul", "MatMul", {0, 3, -1}, 6},
    {microsoft, "QGemm", "Gemm", {0, 3, 6, -1}, 7},
    {microsoft, "QLinearAdd", "Add", {0, 3, -1}, 6},
    {microsoft, "QLinearAveragePool", "AveragePool", {0, -1}, 3},
    {microsoft, "QLinearGlobalAveragePool", "GlobalAveragePool", {0, -1}, 3},
    {microsoft, "QLinearLeakyRelu", "LeakyRelu", {0, -1}, 3},
    {microsoft, "QLinearMul", "Mul", {0, 3, -1}, 6},
    {microsoft, "QLinearReduceMean", "ReduceMean", {0, -1}, 3},
    {microsoft, "QLinearSigmoid", "Sigmoid", {0, -1}, 3},
    {microsoft, "QLinearSoftmax", "Softmax", {0, -1}, 3},
    {microsoft, "QLinearWhere", "Where", {0, 1, 4, -1}, 7},
};

/// Of QLinearConcat the scale of what it makes comes first, then a value, its scale and its zero point each.
bool is_quantized_concat(const Node& node) {
  return node.op_type == "QLinearConcat" && node.domain == microsoft;
}

const QuantizedOperator* find_operator(const Node& node) {
  const auto* const found = std::ranges::find_if(quantized_operators, [&](const QuantizedOperator& each) {
    return each.op_type == node.op_type && each.domain == node.domain;
  });
  return found == std::end(quantized_operators) ? nullptr : found;
}

/// Where the scale of what the node makes stands among its inputs; nullopt: it quantizes nothing.
std::optional<std::size_t> place_of_scale(const Node& node) {
  if (is_quantized_concat(node)) return 0;
  if (node.op_type == "QuantizeLinear" && (node.domain.empty() || node.domain == microsoft)) return 1;
  const QuantizedOperator* const found = find_operator(node);
  return found == nullptr ? std::nullopt : std::optional(static_cast<std::size_t>(found->scale));
}

bool moves_elements(const Node& node) {
  const opset::Elements elements = opset::elements_of(node);
  return elements == opset::Elements::in_order || elements == opset::Elements::picked ||
         (node.op_type == "MaxPool" && node.domain.empty());
}

/// By element: which entry of the scales and zero points is its own.
class Entries {
 public:
  Entries(const Tensor& tensor, std::int64_t axis) {
    const auto rank = static_cast<std::int64_t>(tensor.rank());
    for (std::int64_t i = (axis < 0 ? axis + rank : axis) + 1; i < rank; ++i)
      behind_ *= static_cast<std::size_t>(std::max<std::int64_t>(1, tensor.dim(static_cast<std::size_t>(i))));
  }
  std::size_t of(std::size_t element, std::size_t count) const { return element / behind_ % count; }

 private:
  std::size_t behind_ = 1;
};

std::vector<double> zeros_of(const Quantization& by) {
  std::vector<double> zeros = by.zero_point ? numbers_of(*by.zero_point) : std::vector<double>();
  return zeros.empty() ? std::vector<double>{0} : zeros;
}

bool is_number_tensor(const Value& value) {
  return value.is_tensor() && Numbers::set.contains(value.tensor().dtype());
}

}  // namespace

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> out(static_cast<std::size_t>(tensor.size()));
  dispatch(Numbers{}, tensor.dtype(), [&]<typename T>() {
    std::ranges::transform(tensor.span<T>(), out.begin(), [](T each) { return static_cast<double>(each); });
  });
  return out;
}

std::vector<double> dequantized(const Tensor& tensor, const Quantization& by) {
  std::vector<double> out = numbers_of(tensor);
  const std::vector<double> scales = numbers_of(by.scale), zeros = zeros_of(by);
  const Entries entries(tensor, by.axis);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = (out[i] - zeros[entries.of(i, zeros.size())]) * scales[entries.of(i, scales.size())];
  return out;
}

Value dequantized(const Value& value, const Quantization& by) {
  if (!is_number_tensor(value) || Floats::set.contains(value.tensor().dtype())) return value;
  Tensor out(DType::float32, value.tensor().shape());
  std::ranges::transform(dequantized(value.tensor(), by), out.mutable_data<float>(),
                         [](double each) { return static_cast<float>(each); });
  return out;
}

Value quantized(const Value& value, const Quantization& by, DType dtype) {
  if (!is_number_tensor(value) || !Floats::set.contains(value.tensor().dtype()) ||
      !Integers::set.contains(dtype))
    return value;
  const std::vector<double> from = numbers_of(value.tensor()), scales = numbers_of(by.scale),
                            zeros = zeros_of(by);
  const Entries entries(value.tensor(), by.axis);
  Tensor out(dtype, value.tensor().shape());
  dispatch(Integers{}, dtype, [&]<typename T>() {
    T* const to = out.mutable_data<T>();
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double zero = zeros[entries.of(i, zeros.size())];
      const double number = std::nearbyint(from[i] / scales[entries.of(i, scales.size())]) + zero;
      if (std::isnan(number) || number <= least)
        to[i] = std::isnan(number) ? static_cast<T>(zero) : std::numeric_limits<T>::min();
      else
        to[i] = number >= most ? std::numeric_limits<T>::max() : static_cast<T>(number);
    }
  });
  return out;
}

FloatForm float_form(const Node& node) {
  FloatForm form{node.domain, node.op_type, node.inputs};
  const auto input = [&](std::size_t i) { return i < node.inputs.size() ? node.inputs[i] : std::string(); };
  if (is_quantized_concat(node)) {
    form = {"", "Concat", {}, true};
    for (std::size_t i = 2; i < node.inputs.size(); i += 3) form.data.push_back(node.inputs[i]);
  } else if (const QuantizedOperator* const found = find_operator(node)) {
    form = {"", found->stands_for, {}, true};
    for (std::size_t i = 0; found->data[i] >= 0; ++i)
      form.data.push_back(input(static_cast<std::size_t>(found->data[i])));
  }
  while (!form.data.empty() && form.data.back().empty()) form.data.pop_back();
  return form;
}

Quantizations::Quantizations(const onnx_io::Graph& graph) {
  std::unordered_map<std::string, const Tensor*> constants;
  for (const onnx_io::Initializer& each : graph.initializers) constants.emplace(each.name, &each.tensor);
  for (const Node& node : graph.nodes) {
    const onnx_io::Attribute* const value = is_constant(node) ? node.find_attribute("value") : nullptr;
    if (value != nullptr && !value->tensors.empty()) constants.emplace(node.outputs[0], &value->tensors[0]);
  }
  const auto constant = [&](const Node& node, std::size_t i) {
    const auto found = i < node.inputs.size() ? constants.find(node.inputs[i]) : constants.end();
    return found == constants.end() || !Numbers::set.contains(found->second->dtype()) ||
                   found->second->size() == 0
               ? nullptr
               : found->second;
  };
  for (const Node& node : graph.nodes) {
    if (node.outputs.empty() || node.inputs.empty()) continue;
    if (const std::optional<std::size_t> place = place_of_scale(node)) {
      const Tensor* const scale = constant(node, *place);
      if (scale == nullptr) continue;
      Quantization made{*scale, std::nullopt, 1};
      if (const Tensor* const zero = constant(node, *place + 1)) made.zero_point = *zero;
      if (const onnx_io::Attribute* const axis = node.find_attribute("axis");
          axis != nullptr && node.op_type == "QuantizeLinear")
        made.axis = axis->i;
      by_name_.emplace(node.outputs[0], std::move(made));
    } else if (const auto moved = by_name_.find(node.inputs[0]);
               moved != by_name_.end() && moved->second.scale.size() == 1 && moves_elements(node)) {
      by_name_.emplace(node.outputs[0], Quantization(moved->second));
    }
  }
}

const Quantization* Quantizations::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

}  // namespace grurun::trial
