#include "trial/as_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/dispatch.h"
#include "trial/precise.h"

namespace grurun::trial {

Value as_dtype(const Value& value, DType dtype) {
  if (!value.is_tensor() || value.tensor().dtype() == dtype ||
      !Floats::set.contains(value.tensor().dtype()) || !Floats::set.contains(dtype))
    return value;
  const std::vector<double> wide = doubles_of(value.tensor());
  Tensor out(dtype, value.tensor().shape());
  dispatch(Floats{}, dtype, [&]<typename T>() {
    std::ranges::transform(wide, out.mutable_data<T>(), [](double each) { return static_cast<T>(each); });
  });
  return out;
}

Value as_type(const Value& value, const ValueType& type) {
  return type.kind == ValueType::Kind::tensor ? as_dtype(value, type.elem) : value;
}

void cast_expected(const onnx_io::Graph& graph, std::vector<Value>& expected) {
  for (std::size_t i = 0; i < expected.size() && i < graph.outputs.size(); ++i)
    expected[i] = as_type(expected[i], graph.outputs[i].type);
}

Comparison compare_cast(const Value& actual, const Value& expected, const Tolerances& tolerances) {
  const auto is_float = [](const Value& value) {
    return value.is_tensor() && Floats::set.contains(value.tensor().dtype());
  };
  if (!is_float(actual) || !is_float(expected) || actual.tensor().dtype() == expected.tensor().dtype())
    return compare_values(actual, expected, tolerances);
  Tolerances of_actual = tolerances;
  const Tolerance chosen = tolerances(actual.tensor().dtype());
  of_actual.flag = {chosen.rtol, chosen.atol};
  Comparison comparison = compare_values(widened(actual), widened(expected), of_actual);
  comparison.errors.max_ulp =
      compare_values(actual, as_dtype(expected, actual.tensor().dtype()), tolerances).errors.max_ulp;
  return comparison;
}

namespace {

/// Those that a caller has to feed: files of old IR versions list each initializer among the inputs, too.
std::vector<const onnx_io::ValueInfo*> inputs_to_feed(const onnx_io::Graph& graph) {
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
  std::vector<const onnx_io::ValueInfo*> out;
  for (const onnx_io::ValueInfo& input : graph.inputs)
    if (!initializers.contains(input.name)) out.push_back(&input);
  return out;
}

}  // namespace

const onnx_io::ValueInfo* partner_of_input(const onnx_io::Graph& graph, const onnx_io::Graph& other,
                                           const onnx_io::ValueInfo& input) {
  const auto same = std::ranges::find(graph.inputs, input.name, &onnx_io::ValueInfo::name);
  if (same != graph.inputs.end()) return &*same;
  const auto here = inputs_to_feed(graph), there = inputs_to_feed(other);
  const auto place = std::ranges::find(there, &input);
  return place == there.end() || here.size() != there.size()
             ? nullptr
             : here[static_cast<std::size_t>(place - there.begin())];
}

std::vector<Value> inputs_for(const onnx_io::Graph& other, const onnx_io::Graph& graph,
                              const std::vector<Value>& inputs) {
  std::vector<Value> given;
  for (const onnx_io::ValueInfo& wanted : other.inputs) {
    const onnx_io::ValueInfo* const same = partner_of_input(graph, other, wanted);
    given.push_back(same == nullptr
                        ? Value()
                        : as_type(inputs[static_cast<std::size_t>(same - graph.inputs.data())], wanted.type));
  }
  return given;
}

std::string fed_by_place(const onnx_io::Graph& other, const onnx_io::Graph& graph, const std::string& model) {
  std::string out;
  for (const onnx_io::ValueInfo& wanted : other.inputs) {
    const onnx_io::ValueInfo* const same = partner_of_input(graph, other, wanted);
    if (same == nullptr || same->name == wanted.name) continue;
    out += fmt::format("{}input '{}' is fed '{}' of {}", out.empty() ? "" : ", ", wanted.name, same->name,
                       model);
  }
  return out;
}

}  // namespace grurun::trial
