#include "engine/graph/body_source.h"

#include <algorithm>

#include "onnx_io/models/walk.h"
#include "onnx_io/models/write_model.h"
#include "opset/inference/infer_types.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

using onnx_io::Attribute;
using onnx_io::Graph;
using onnx_io::Node;

constexpr std::int64_t ir_version = 10;  // initializers need not be listed as inputs

bool is_open(const ValueType& type) {
  using Kind = ValueType::Kind;
  if (type.kind == Kind::unknown) return true;
  if (type.kind != Kind::tensor) return false;
  return type.elem == DType::undefined || !type.shape ||
         std::ranges::any_of(*type.shape, [](const Dim& dim) { return !dim.value; });
}

// References to attributes of the function around a body become these attributes.
Graph bound(const Graph& graph, const AttributeBindings& bindings) {
  Graph made = graph;
  for (Node& node : made.nodes) {
    std::vector<Attribute> attributes;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.ref_attr_name.empty()) {
        attributes.push_back(attribute);
      } else if (const auto found = bindings.find(attribute.ref_attr_name); found != bindings.end()) {
        attributes.push_back(found->second);
        attributes.back().name = attribute.name;
      }
    }
    node.attributes = std::move(attributes);
    onnx_io::rewrite_bodies(node, [&](const Graph& inner) { return bound(inner, bindings); });
  }
  return made;
}

}  // namespace

bool leaves_types_open(const Graph& body) {
  return std::ranges::any_of(body.outputs,
                             [](const onnx_io::ValueInfo& output) { return is_open(output.type); });
}

BodySource::BodySource(const Context& context, std::vector<std::string> outer_names,
                       std::shared_ptr<const Plan> outer_values)
    : functions_(context.functions),
      outer_names_(std::move(outer_names)),
      outer_values_(std::move(outer_values)) {
  model_.ir_version = ir_version;
  model_.opset_imports = context.imports;
  model_.graph = context.attributes == nullptr ? context.body : bound(context.body, *context.attributes);
}

std::vector<ValueType> BodySource::output_types(const std::vector<ValueType>& inputs, RunContext& run) const {
  onnx_io::Model model = model_;
  if (functions_ != nullptr) model.functions = *functions_;
  for (std::size_t i = 0; i < inputs.size() && i < model.graph.inputs.size(); ++i) {
    ValueType& declared = model.graph.inputs[i].type;
    if (is_open(declared)) declared = inputs[i];
  }
  const Values outer = run.run_subgraph(*outer_values_, {});
  for (std::size_t i = 0; i < outer.size(); ++i)
    model.graph.inputs.push_back({outer_names_[i], outer[i].type()});
  std::vector<ValueType> types;
  for (const onnx_io::ValueInfo& output : model.graph.outputs) types.push_back(output.type);
  try {
    const auto inferred = opset::infer_types(onnx_io::reread(model), {});
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto found = inferred.find(model.graph.outputs[i].name);
      if (is_open(types[i]) && found != inferred.end()) types[i] = found->second;
    }
  } catch (const Error&) {  // a type stays unknown
  }
  return types;
}

}  // namespace grurun::engine
