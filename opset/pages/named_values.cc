#include "opset/pages/named_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Node;

constexpr std::string_view ml = "ai.onnx.ml";
constexpr std::string_view training = "ai.onnx.preview.training";

constexpr std::string_view paddings = "NOTSET, SAME_UPPER, SAME_LOWER, VALID";
constexpr std::string_view losses = "none, sum, mean";
constexpr std::string_view outside = "zeros, border, reflection";
constexpr std::string_view powers = "up, down, nearest";
constexpr std::string_view transforms = "NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT";
constexpr std::string_view kernels = "LINEAR, POLY, RBF, SIGMOID";
constexpr std::string_view flag = "0, 1";
constexpr std::string_view floats = "1, 10, 11, 16";  // float, float16, double, bfloat16
constexpr std::string_view branches =
    "BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, LEAF";

// The page of Resize-13 listed tf_half_pixel_for_nn, too, until onnx 1.11.
constexpr auto table = std::to_array<NamedValues>({
    {"", "AveragePool", "auto_pad", 1, paddings},
    {"", "Conv", "auto_pad", 1, paddings},
    {"", "ConvInteger", "auto_pad", 10, paddings},
    {"", "ConvTranspose", "auto_pad", 1, paddings},
    {"", "LpPool", "auto_pad", 1, paddings},
    {"", "MaxPool", "auto_pad", 1, paddings},
    {"", "QLinearConv", "auto_pad", 10, paddings},
    {"", "ArgMax", "keepdims", 1, flag},
    {"", "ArgMin", "keepdims", 1, flag},
    {"", "Attention", "is_causal", 23, flag},
    {"", "Attention", "qk_matmul_output_mode", 23, "0, 1, 2, 3"},
    {"", "Attention", "softmax_precision", 23, floats},
    {"", "BitShift", "direction", 11, "LEFT, RIGHT"},
    {"", "Cast", "round_mode", 24, powers},
    {"", "CastLike", "round_mode", 24, powers},
    {"", "CausalConvWithState", "activation", 27, "silu, swish, none"},
    {"", "BlackmanWindow", "periodic", 17, flag},
    {"", "HammingWindow", "periodic", 17, flag},
    {"", "HannWindow", "periodic", 17, flag},
    {"", "ConcatFromSequence", "new_axis", 11, flag},
    {"", "DFT", "inverse", 17, flag},
    {"", "DFT", "onesided", 17, flag},
    {"", "STFT", "onesided", 17, flag},
    {"", "DepthToSpace", "mode", 11, "DCR, CRD"},
    {"", "SpaceToDepth", "mode", 28, "DCR, CRD"},
    {"", "Gelu", "approximate", 20, "none, tanh"},
    {"", "GridSample", "mode", 16, "bilinear, nearest, bicubic"},
    {"", "GridSample", "mode", 20, "linear, nearest, cubic"},
    {"", "GridSample", "align_corners", 16, flag},
    {"", "GridSample", "padding_mode", 16, outside},
    {"", "GroupNormalization", "stash_type", 21, floats},
    {"", "ImageDecoder", "pixel_format", 20, "RGB, BGR, Grayscale"},
    {"", "LayerNormalization", "stash_type", 17, floats},
    {"", "LinearAttention", "update_rule", 27, "linear, gated, delta, gated_delta"},
    {"", "LpNormalization", "p", 1, "1, 2"},
    {"", "MaxPool", "storage_order", 8, flag},
    {"", "Mod", "fmod", 10, flag},
    {"", "NegativeLogLikelihoodLoss", "reduction", 12, losses},
    {"", "SoftmaxCrossEntropyLoss", "reduction", 12, losses},
    {"", "NonMaxSuppression", "center_point_box", 10, flag},
    {"", "Pad", "mode", 1, "constant, reflect, edge"},
    {"", "Pad", "mode", 19, "constant, reflect, edge, wrap"},
    {"", "QuantizeLinear", "precision", 23, "0, 1, 10, 11, 16"},
    {"", "Range", "stash_type", 27, floats},
    {"", "ReduceL1", "keepdims", 1, flag},
    {"", "ReduceL1", "noop_with_empty_axes", 18, flag},
    {"", "ReduceL2", "keepdims", 1, flag},
    {"", "ReduceL2", "noop_with_empty_axes", 18, flag},
    {"", "ReduceLogSum", "keepdims", 1, flag},
    {"", "ReduceLogSum", "noop_with_empty_axes", 18, flag},
    {"", "ReduceLogSumExp", "keepdims", 1, flag},
    {"", "ReduceLogSumExp", "noop_with_empty_axes", 18, flag},
    {"", "ReduceMax", "keepdims", 1, flag},
    {"", "ReduceMax", "noop_with_empty_axes", 18, flag},
    {"", "ReduceMean", "keepdims", 1, flag},
    {"", "ReduceMean", "noop_with_empty_axes", 18, flag},
    {"", "ReduceMin", "keepdims", 1, flag},
    {"", "ReduceMin", "noop_with_empty_axes", 18, flag},
    {"", "ReduceProd", "keepdims", 1, flag},
    {"", "ReduceProd", "noop_with_empty_axes", 18, flag},
    {"", "ReduceSum", "keepdims", 1, flag},
    {"", "ReduceSum", "noop_with_empty_axes", 13, flag},
    {"", "ReduceSumSquare", "keepdims", 1, flag},
    {"", "ReduceSumSquare", "noop_with_empty_axes", 18, flag},
    {"", "Resize", "mode", 10, "nearest, linear"},
    {"", "Resize", "mode", 11, "nearest, linear, cubic"},
    {"", "Resize", "nearest_mode", 11, "round_prefer_floor, round_prefer_ceil, floor, ceil"},
    {"", "Resize", "coordinate_transformation_mode", 11,
     "half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn, tf_crop_and_resize"},
    {"", "Resize", "coordinate_transformation_mode", 18,
     "half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize"},
    {"", "Resize", "coordinate_transformation_mode", 19,
     "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize"},
    {"", "Resize", "exclude_outside", 11, flag},
    {"", "Resize", "antialias", 18, flag},
    {"", "Resize", "keep_aspect_ratio_policy", 18, "stretch, not_larger, not_smaller"},
    {"", "RMSNormalization", "stash_type", 23, floats},
    {"", "RoiAlign", "mode", 10, "avg, max"},
    {"", "RoiAlign", "coordinate_transformation_mode", 16, "half_pixel, output_half_pixel"},
    {"", "Scan", "directions", 8, flag},
    {"", "Scan", "scan_input_directions", 9, flag},
    {"", "Scan", "scan_output_directions", 9, flag},
    {"", "ScatterElements", "reduction", 16, "none, add, mul"},
    {"", "ScatterElements", "reduction", 18, "none, add, mul, max, min"},
    {"", "ScatterND", "reduction", 16, "none, add, mul"},
    {"", "ScatterND", "reduction", 18, "none, add, mul, max, min"},
    {"", "SplitToSequence", "keepdims", 11, flag},
    {"", "StringNormalizer", "case_change_action", 10, "NONE, LOWER, UPPER"},
    {"", "TensorScatter", "mode", 24, "linear, circular"},
    {"", "TfIdfVectorizer", "mode", 9, "TF, IDF, TFIDF"},
    {"", "Upsample", "mode", 1, "nearest, bilinear"},
    {"", "Upsample", "mode", 7, "nearest, linear"},
    {ml, "CastMap", "cast_to", 1, "TO_FLOAT, TO_STRING, TO_INT64"},
    {ml, "CastMap", "map_form", 1, "DENSE, SPARSE"},
    {ml, "LinearClassifier", "multi_class", 1, flag},
    {ml, "LinearClassifier", "post_transform", 1, transforms},
    {ml, "LinearRegressor", "post_transform", 1, transforms},
    {ml, "Normalizer", "norm", 1, "MAX, L1, L2"},
    {ml, "SVMClassifier", "kernel_type", 1, kernels},
    {ml, "SVMClassifier", "post_transform", 1, transforms},
    {ml, "SVMRegressor", "kernel_type", 1, kernels},
    {ml, "SVMRegressor", "post_transform", 1, transforms},
    {ml, "TreeEnsemble", "aggregate_function", 5, "0, 1, 2, 3"},
    {ml, "TreeEnsemble", "post_transform", 5, "0, 1, 2, 3, 4"},
    {ml, "TreeEnsembleClassifier", "nodes_modes", 1, branches},
    {ml, "TreeEnsembleClassifier", "post_transform", 1, transforms},
    {ml, "TreeEnsembleRegressor", "aggregate_function", 1, "AVERAGE, SUM, MIN, MAX"},
    {ml, "TreeEnsembleRegressor", "nodes_modes", 1, branches},
    {ml, "TreeEnsembleRegressor", "post_transform", 1, transforms},
    {training, "Momentum", "mode", 1, "nesterov, standard"},
});

constexpr std::string_view separator = ", ";

bool lists(std::string_view values, std::string_view value) {
  for (;;) {
    const std::size_t end = values.find(separator);
    if (values.substr(0, end) == value) return true;
    if (end == values.npos) return false;
    values.remove_prefix(end + separator.size());
  }
}

bool speaks_of(const NamedValues& row, const Node& node, const Attribute& attribute) {
  return row.op_type == node.op_type && row.domain == node.domain && row.attribute == attribute.name;
}

std::optional<std::string> fault_of(const Node& node, const Attribute& attribute, const std::string& value,
                                    int since_version) {
  const NamedValues* now = nullptr;
  const NamedValues* later = nullptr;  // the first that lists the value
  for (const NamedValues& row : table) {
    if (!speaks_of(row, node, attribute)) continue;
    if (row.since <= since_version)
      now = &row;
    else if (later == nullptr && lists(row.values, value))
      later = &row;
  }
  if (now == nullptr || lists(now->values, value)) return std::nullopt;
  if (value.empty() && attribute.name == "auto_pad") return std::nullopt;
  std::string hint;
  if (later != nullptr)
    hint = fmt::format("; {0}-{1} has it: import opset {1} or newer", node.op_type, later->since);
  const bool number =
      attribute.type == onnx_io::AttributeType::int_ || attribute.type == onnx_io::AttributeType::ints;
  return fmt::format("{} is {}, but {}-{} knows {}{}", attribute.name, number ? value : "'" + value + "'",
                     node.op_type, since_version, now->values, hint);
}

}  // namespace

std::span<const NamedValues> all_named_values() {
  return table;
}

std::vector<std::string> named_values_of(std::string_view domain, std::string_view op_type,
                                         std::string_view attribute, int since_version) {
  std::string_view values;
  for (const NamedValues& row : table) {
    if (row.domain == domain && row.op_type == op_type && row.attribute == attribute &&
        row.since <= since_version)
      values = row.values;
  }
  std::vector<std::string> list;
  while (!values.empty()) {
    const std::size_t end = std::min(values.find(separator), values.size());
    list.emplace_back(values.substr(0, end));
    values.remove_prefix(std::min(end + separator.size(), values.size()));
  }
  return list;
}

std::optional<std::string> named_value_fault(const Node& node, int since_version) {
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.ref_attr_name.empty()) continue;
    if (attribute.type == onnx_io::AttributeType::string) {
      if (auto fault = fault_of(node, attribute, attribute.s, since_version)) return fault;
    }
    if (attribute.type == onnx_io::AttributeType::int_) {
      if (auto fault = fault_of(node, attribute, std::to_string(attribute.i), since_version)) return fault;
    }
    for (const std::int64_t value : attribute.ints) {
      if (auto fault = fault_of(node, attribute, std::to_string(value), since_version)) return fault;
    }
    for (const std::string& value : attribute.strings) {
      if (auto fault = fault_of(node, attribute, value, since_version)) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace grurun::opset
