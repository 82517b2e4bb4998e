#include "opset/schema/signature_fit.h"

#include <algorithm>
#include <array>

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Node;

bool counts_fit(const Node& node, const Signature& signature) {
  const auto within = [](std::size_t count, int least, int most) {
    return count >= static_cast<std::size_t>(least) && count <= static_cast<std::size_t>(most);
  };
  if (!within(node.inputs.size(), signature.min_input, signature.max_input) ||
      !within(node.outputs.size(), signature.min_output, signature.max_output))
    return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const SignatureInput& parameter = signature.inputs[std::min(i, signature.inputs.size() - 1)];
    if (node.inputs[i].empty() && parameter.kind != ParameterKind::optional) return false;
  }
  for (std::size_t i = 0; i < node.outputs.size() && i < signature.outputs.size(); ++i) {
    if (node.outputs[i].empty() && signature.outputs[i].kind == ParameterKind::single) return false;
  }
  return true;
}

bool attributes_fit(const Node& node, const Signature& signature) {
  std::size_t required = 0;
  for (auto at = node.attributes.begin(); at != node.attributes.end(); ++at) {
    const auto known = std::ranges::find_if(signature.attributes, [&](const SignatureAttribute& attribute) {
      return at->name == attribute.name;
    });
    if (known == signature.attributes.end() || known->type != at->type) return false;
    const auto is_same = [&](const Attribute& before) { return before.name == at->name; };
    if (std::any_of(node.attributes.begin(), at, is_same)) return false;
    if (known->required) ++required;
  }
  return required ==
         static_cast<std::size_t>(std::ranges::count_if(signature.attributes, &SignatureAttribute::required));
}

DType chosen_type(const Attribute& attribute) {
  static constexpr std::array names{"to", "dtype", "output_dtype", "output_datatype"};
  if ((attribute.name == "value" || attribute.name == "sparse_value") && attribute.tensors.size() == 1)
    return attribute.tensors[0].dtype();
  const bool is_number = attribute.type == onnx_io::AttributeType::int_ && is_valid_dtype(attribute.i);
  if (!is_number || std::ranges::find(names, attribute.name) == names.end()) return DType::undefined;
  return static_cast<DType>(attribute.i);
}

}  // namespace

bool plainly_fits(const Node& node, const Signature& signature) {
  return counts_fit(node, signature) && attributes_fit(node, signature);
}

DType refused_choice(const Node& node, const Signature& signature) {
  if (signature.outputs.empty()) return DType::undefined;
  const ParameterTypes& types = signature.outputs[0].types;
  for (const Attribute& attribute : node.attributes) {
    const DType chosen = chosen_type(attribute);
    if (chosen != DType::undefined && !types.tensors.contains(chosen) && !types.sequences.contains(chosen))
      return chosen;
  }
  return DType::undefined;
}

}  // namespace grurun::opset
