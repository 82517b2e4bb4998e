#include "trial/precise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "onnx_io/models/walk.h"
#include "opset/inference/infer_types.h"
#include "opset/schema/registry.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/intermediates.h"
#include "trial/narrow_operators.h"

namespace grurun::trial {

std::vector<double> doubles_of(const Tensor& tensor) {
  std::vector<double> out(static_cast<std::size_t>(tensor.size()));
  dispatch(Floats{}, tensor.dtype(), [&]<typename T>() {
    std::ranges::transform(tensor.span<T>(), out.begin(), [](T value) { return static_cast<double>(value); });
  });
  return out;
}

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;

bool is_narrow(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
}

Tensor widened(const Tensor& tensor) {
  return is_narrow(tensor.dtype()) ? Tensor::from(tensor.shape(), doubles_of(tensor)) : tensor;
}

ValueType widened(ValueType type) {
  const bool holds_elements =
      type.kind == ValueType::Kind::tensor || type.kind == ValueType::Kind::sparse_tensor;
  if (holds_elements && is_narrow(type.elem)) type.elem = DType::float64;
  if (type.element) type.element = std::make_shared<const ValueType>(widened(*type.element));
  return type;
}

/// Attributes by which an operator names the type that it makes, or computes in.
bool names_a_type(const std::string& attribute) {
  static const std::array names{"to",         "dtype",     "output_datatype",  "output_dtype",
                                "stash_type", "precision", "softmax_precision"};
  return std::ranges::find(names, attribute) != names.end();
}

/// What is the same for the nodes of a graph.
struct Surroundings {
  onnx_io::OpsetImports& imports;
  const FloatConstants* outer;                    // of the graphs around it
  const std::map<std::string, ValueType>& types;  // of the main graph's values, before
};

onnx_io::Graph widened(onnx_io::Graph graph, const Surroundings& around);

Attribute widened(Attribute attribute, bool takes_double, const Surroundings& around) {
  for (Tensor& tensor : attribute.tensors) tensor = widened(tensor);
  for (ValueType& type : attribute.types) type = widened(type);
  onnx_io::rewrite_bodies(attribute, [&](const onnx_io::Graph& body) { return widened(body, around); });
  const bool is_number = attribute.type == AttributeType::int_ && names_a_type(attribute.name);
  if (is_number && is_valid_dtype(attribute.i) && is_narrow(static_cast<DType>(attribute.i)))
    attribute.i = static_cast<std::int64_t>(takes_double ? DType::float64 : DType::float32);
  return attribute;
}

/// Constant's value_float and value_floats say by their names that they make a float.
void widen_constant(Attribute& attribute) {
  const bool one = attribute.name == "value_float";
  if ((!one && attribute.name != "value_floats") || !attribute.ref_attr_name.empty()) return;
  const std::vector<double> values =
      one ? std::vector<double>{attribute.f}
          : std::vector<double>(attribute.floats.begin(), attribute.floats.end());
  const Shape shape = one ? Shape{} : Shape{static_cast<std::int64_t>(values.size())};
  Attribute out;
  out.name = "value";
  out.type = AttributeType::tensor;
  out.tensors.push_back(Tensor::from(shape, values));
  attribute = std::move(out);
}

void state(onnx_io::Node& node, const std::string& attribute, DType dtype) {
  Attribute stated;
  stated.name = attribute;
  stated.type = AttributeType::int_;
  stated.i = static_cast<std::int64_t>(dtype);
  node.attributes.push_back(std::move(stated));
}

const opset::SchemaInfo* schema_of(const onnx_io::Node& node, const onnx_io::OpsetImports& imports) {
  const auto import = imports.find(node.domain);
  return import == imports.end() ? nullptr : opset::find_schema(node.op_type, node.domain, import->second);
}

/// States double where an operator makes, or computes in, a float if nothing is said.
void widen_defaults(onnx_io::Node& node, const opset::SchemaInfo* schema) {
  const auto is_unsaid = [&](const char* op_type, const char* attribute) {
    return node.domain.empty() && node.op_type == op_type && node.find_attribute(attribute) == nullptr;
  };
  // Defaults that the schemas tell in words only.
  if (is_unsaid("SequenceEmpty", "dtype")) state(node, "dtype", DType::float64);
  if (is_unsaid("ConstantOfShape", "value")) {
    Attribute zero;
    zero.name = "value";
    zero.type = AttributeType::tensor;
    zero.tensors.push_back(Tensor::from(Shape{1}, std::vector<double>{0}));
    node.attributes.push_back(std::move(zero));
  }
  if (schema == nullptr || !admits_double(*schema)) return;
  for (const opset::AttributeInfo& info : schema->attributes) {
    if (!names_a_type(info.name) || !info.default_value || node.find_attribute(info.name) != nullptr)
      continue;
    const std::int64_t number = info.default_value->i;
    if (is_valid_dtype(number) && is_narrow(static_cast<DType>(number)))
      state(node, info.name, DType::float64);
  }
}

std::vector<onnx_io::Node> widened(std::vector<onnx_io::Node> nodes,
                                   const std::vector<onnx_io::Initializer>& initializers,
                                   const Surroundings& around) {
  for (onnx_io::Node& node : nodes) {
    if (node.op_type != "Constant" || !node.domain.empty()) continue;
    for (Attribute& attribute : node.attributes) {
      attribute = widened(std::move(attribute), true, around);
      widen_constant(attribute);
    }
  }
  const FloatConstants constants(initializers, nodes, around.outer);
  const Surroundings inside{around.imports, &constants, around.types};
  std::vector<onnx_io::Node> out = nodes;
  for (onnx_io::Node& node : out) {
    const opset::SchemaInfo* const schema = schema_of(node, around.imports);
    widen_defaults(node, schema);
    if (is_constant(node)) continue;
    for (Attribute& attribute : node.attributes)
      attribute = widened(std::move(attribute), schema == nullptr || admits_double(*schema), inside);
  }
  return with_casts(std::move(out), around.imports, constants, around.types);
}

onnx_io::Graph widened(onnx_io::Graph graph, const Surroundings& around) {
  for (auto* values : {&graph.inputs, &graph.outputs, &graph.value_info}) {
    for (onnx_io::ValueInfo& info : *values) info.type = widened(std::move(info.type));
  }
  for (onnx_io::Initializer& initializer : graph.initializers)
    initializer.tensor = widened(initializer.tensor);
  graph.nodes = widened(std::move(graph.nodes), graph.initializers, around);
  return graph;
}

/// The most units that a side is off; infinite where one is finite and the other is not.
double most_units(DType dtype, const std::vector<double>& truth, const std::vector<double>& side) {
  double most = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double t = truth[i], s = side[i];
    if (s == t || (std::isnan(s) && std::isnan(t))) continue;
    const bool comparable = std::isfinite(s) && std::isfinite(t);
    most = std::max(
        most, comparable ? std::fabs(s - t) / unit_at(dtype, t) : std::numeric_limits<double>::infinity());
  }
  return most;
}

bool is_comparable(const Value& truth, const Value& side) {
  return truth.is_tensor() && side.is_tensor() && truth.tensor().dtype() == DType::float64 &&
         is_narrow(side.tensor().dtype()) && truth.tensor().shape() == side.tensor().shape();
}

}  // namespace

double unit_at(DType dtype, double value) {
  struct Format {
    int digits, least;  // bits after the point; exponent of the smallest normal number
  };
  const Format format = dtype == DType::float16    ? Format{10, -14}
                        : dtype == DType::bfloat16 ? Format{7, -126}
                        : dtype == DType::float64  ? Format{52, -1022}
                                                   : Format{23, -126};
  const int exponent =
      value == 0 || !std::isfinite(value) ? format.least : std::max(std::ilogb(value), format.least);
  return std::ldexp(1.0, exponent - format.digits);
}

Value widened(const Value& value) {
  if (value.is_tensor()) return widened(value.tensor());
  if (value.is_sequence()) {
    Sequence out{widened(value.sequence().element), {}};
    for (const Value& item : value.sequence().items) out.items.push_back(widened(item));
    return out;
  }
  if (value.is_optional()) {
    Optional out{widened(value.optional().element), nullptr};
    if (value.optional().item) out.item = std::make_shared<const Value>(widened(*value.optional().item));
    return out;
  }
  return value;
}

onnx_io::Model widened(const onnx_io::Model& model) {
  onnx_io::Model out = model;
  const std::map<std::string, ValueType> types = opset::infer_types(model, {});
  out.graph = widened(std::move(out.graph), Surroundings{out.opset_imports, nullptr, types});
  const std::map<std::string, ValueType> none;
  for (onnx_io::Function& function : out.functions) {
    const Surroundings inside{function.opset_imports, nullptr, none};
    for (Attribute& attribute : function.attribute_defaults)
      attribute = widened(std::move(attribute), true, inside);
    function.nodes = widened(std::move(function.nodes), {}, inside);
  }
  return out;
}

std::vector<Value> widened(const std::vector<Value>& values) {
  std::vector<Value> out;
  for (const Value& value : values) out.push_back(widened(value));
  return out;
}

void in_double(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    // The model itself has run: what is wrong now is that some operator has no double.
    if (error.kind() != ErrorKind::invalid_model && error.kind() != ErrorKind::unsupported) throw;
    fail_unsupported("the model cannot be computed in double precision: {}", error.what());
  }
}

std::vector<Value> run_in_double(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                 const Rerun& rerun) {
  std::vector<Value> outputs;
  in_double([&] { outputs = run_again(widened(model), widened(inputs), rerun); });
  return outputs;
}

std::string judge_by_truth(const Value& truth, const Value& actual, const Value& expected) {
  if (!is_comparable(truth, actual)) return {};
  const DType dtype = actual.tensor().dtype();
  const std::vector<double> true_values = doubles_of(truth.tensor());
  const double ours = most_units(dtype, true_values, doubles_of(actual.tensor()));
  if (expected.empty())
    return fmt::format("in double precision: actual is within {:.3g} ULP of the truth", ours);
  if (!is_comparable(truth, expected) || expected.tensor().dtype() != dtype) return {};
  const double theirs = most_units(dtype, true_values, doubles_of(expected.tensor()));
  if (ours == theirs)
    return fmt::format("in double precision: both sides are within {:.3g} ULP of the truth", ours);
  const bool we = ours < theirs;
  return fmt::format(
      "in double precision: {} is the nearer side, within {:.3g} ULP of the truth; {} is off by up to {:.3g} "
      "ULP",
      we ? "actual" : "expected", we ? ours : theirs, we ? "expected" : "actual", we ? theirs : ours);
}

}  // namespace grurun::trial
