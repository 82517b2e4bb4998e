#include "engine/ops/rnn/layer_attributes.h"

#include "opset/recurrent/recurrent_rules.h"
#include "opset/recurrent/recurrent_schema.h"

namespace grurun::engine::rnn {
namespace {

const opset::SchemaInfo& schema_of(const PrepareContext& node, const LayerForm& form) {
  const int version = node.since_version();
  if (form.of->quantized) return *opset::find_schema(node.op_type(), node.domain(), version);
  return *opset::find_recurrent_schema(*form.of, version);
}

}  // namespace

std::span<const Activation> LayerAttributes::functions(std::int64_t direction_index) const {
  const std::size_t each = num_directions == 2 ? activations.size() / 2 : activations.size();
  return std::span(activations).subspan(static_cast<std::size_t>(direction_index) * each, each);
}

LayerForm lstm_form(PrepareContext& node, const opset::RecurrentForm& of, bool clip_cell_state) {
  return {.of = &of,
          .blocks = {{kernels::lstm_gates, kernels::CellKind::lstm}},
          .input_forget = node.int_attribute("input_forget", 0) == 1,
          .clip_cell_state = clip_cell_state};
}

LayerAttributes read_layer_attributes(PrepareContext& node, const LayerForm& form) {
  const opset::SchemaInfo& schema = schema_of(node, form);
  std::vector<onnx_io::Attribute> given;
  for (const opset::AttributeInfo& known : schema.attributes) {
    if (const auto* found = node.attribute(known.name.c_str(), known.type)) given.push_back(*found);
  }
  opset::RecurrentFindings findings;
  LayerAttributes attributes;
  attributes.stated = opset::read_recurrent_attributes(*form.of, schema, given, findings);
  opset::require_no_errors(*form.of, findings);
  attributes.num_directions = *attributes.stated.num_directions();
  attributes.first_reversed = attributes.stated.direction == "reverse";
  attributes.batch_first = attributes.stated.layout == 1;
  attributes.clip = attributes.stated.clip.value_or(no_clip);
  const std::vector<std::string>& names = attributes.stated.activations;
  attributes.activations = parse_activations(names, node.floats_attribute("activation_alpha"),
                                             node.floats_attribute("activation_beta"));
  for (std::size_t input = 0; input < opset::recurrent_inputs; ++input)
    attributes.input_dims[input] = opset::recurrent_input_dims(*form.of, input, attributes.batch_first);
  return attributes;
}

}  // namespace grurun::engine::rnn
