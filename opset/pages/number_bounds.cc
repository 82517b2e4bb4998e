#include "opset/pages/number_bounds.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using onnx_io::Node;

constexpr std::string_view ml_domain = "ai.onnx.ml";

constexpr auto bounds = std::to_array<NumberBound>({
    {"", "AveragePool", "kernel_shape", 1, 1},
    {"", "AveragePool", "strides", 1, 1},
    {"", "AveragePool", "pads", 1, 0},
    {"", "AveragePool", "dilations", 19, 1},
    {"", "Col2Im", "strides", 18, 1},
    {"", "Col2Im", "dilations", 18, 1},
    {"", "Col2Im", "pads", 18, 0},
    {"", "Conv", "kernel_shape", 1, 1},
    {"", "Conv", "strides", 1, 1},
    {"", "Conv", "dilations", 1, 1},
    {"", "Conv", "pads", 1, 0},
    {"", "ConvInteger", "kernel_shape", 10, 1},
    {"", "ConvInteger", "strides", 10, 1},
    {"", "ConvInteger", "dilations", 10, 1},
    {"", "ConvInteger", "pads", 10, 0},
    {"", "ConvTranspose", "kernel_shape", 1, 1},
    {"", "ConvTranspose", "strides", 1, 1},
    {"", "ConvTranspose", "dilations", 1, 1},
    {"", "ConvTranspose", "pads", 1, 0},
    {"", "ConvTranspose", "output_padding", 1, 0},
    {"", "ConvTranspose", "output_shape", 1, 0},
    {"", "DeformConv", "kernel_shape", 19, 1},
    {"", "DeformConv", "strides", 19, 1},
    {"", "DeformConv", "dilations", 19, 1},
    {"", "DeformConv", "pads", 19, 0},
    {"", "DequantizeLinear", "block_size", 21, 0},
    {"", "GlobalLpPool", "p", 2, 1},
    {"", "LpPool", "kernel_shape", 1, 1},
    {"", "LpPool", "strides", 1, 1},
    {"", "LpPool", "pads", 1, 0},
    {"", "LpPool", "p", 2, 1},
    {"", "LpPool", "dilations", 18, 1},
    {"", "LRN", "size", 1, 1},
    {"", "MaxPool", "kernel_shape", 1, 1},
    {"", "MaxPool", "strides", 1, 1},
    {"", "MaxPool", "pads", 1, 0},
    {"", "MaxPool", "dilations", 10, 1},
    {"", "MaxUnpool", "kernel_shape", 9, 1},
    {"", "MaxUnpool", "strides", 9, 1},
    {"", "MaxUnpool", "pads", 9, 0},
    {"", "Multinomial", "sample_size", 7, 0},
    {"", "QLinearConv", "kernel_shape", 10, 1},
    {"", "QLinearConv", "strides", 10, 1},
    {"", "QLinearConv", "dilations", 10, 1},
    {"", "QLinearConv", "pads", 10, 0},
    {"", "QuantizeLinear", "block_size", 21, 0},
    {"", "RandomNormal", "scale", 1, 0},
    {"", "RandomNormalLike", "scale", 1, 0},
    {"", "RoiAlign", "sampling_ratio", 10, 0},
    {"", "TfIdfVectorizer", "min_gram_length", 9, 1},
    {"", "TfIdfVectorizer", "max_gram_length", 9, 1},
    {"", "TfIdfVectorizer", "max_skip_count", 9, 0},
    {ml_domain, "SVMRegressor", "n_supports", 1, 0},
    {ml_domain, "TreeEnsemble", "n_targets", 5, 1},
    {ml_domain, "TreeEnsemble", "tree_roots", 5, 0},
    {ml_domain, "TreeEnsemble", "nodes_featureids", 5, 0},
    {ml_domain, "TreeEnsemble", "nodes_truenodeids", 5, 0},
    {ml_domain, "TreeEnsemble", "nodes_falsenodeids", 5, 0},
    {ml_domain, "TreeEnsemble", "leaf_targetids", 5, 0},
    {ml_domain, "TreeEnsembleRegressor", "n_targets", 1, 1},
});

// The first number that is below; "" where there is none.
std::string first_below(const Attribute& attribute, int least) {
  const auto in_list = [&](const auto& list) {
    for (const auto number : list) {
      if (number < static_cast<std::remove_const_t<decltype(number)>>(least))
        return fmt::format("holds {}, but must hold numbers from {} on", number, least);
    }
    return std::string();
  };
  const auto alone = [&](const auto number) {
    return number < static_cast<std::remove_const_t<decltype(number)>>(least)
               ? fmt::format("is {}, but must be at least {}", number, least)
               : std::string();
  };
  switch (attribute.type) {
    case AttributeType::int_:
      return alone(attribute.i);
    case AttributeType::float_:
      return alone(attribute.f);
    case AttributeType::ints:
      return in_list(attribute.ints);
    case AttributeType::floats:
      return in_list(attribute.floats);
    default:
      return "";
  }
}

}  // namespace

std::span<const NumberBound> all_number_bounds() {
  return bounds;
}

std::optional<std::string> number_bound_fault(const Node& node, int since_version) {
  for (const NumberBound& row : bounds) {
    if (row.op_type != node.op_type || row.domain != node.domain || row.since > since_version) continue;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name != row.attribute || !attribute.ref_attr_name.empty()) continue;
      const std::string fault = first_below(attribute, row.least);
      if (!fault.empty()) return fmt::format("{} {}", attribute.name, fault);
    }
  }
  return std::nullopt;
}

}  // namespace grurun::opset
