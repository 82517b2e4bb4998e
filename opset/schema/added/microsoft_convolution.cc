#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

std::string transposed(std::string_view in, std::string_view out, const std::vector<std::int64_t>& perm) {
  return fmt::format("{} = Transpose <perm: ints = {}> ({}) ", out, list_text(perm), in);
}

constexpr const char* window =
    "auto_pad: string = @auto_pad, dilations: ints = @dilations, kernel_shape: ints = @kernel_shape, "
    "pads: ints = @pads, strides: ints = @strides";

std::string fused_conv_body(const BodyNode& node) {
  std::string nodes =
      fmt::format("sum = Conv <{}, group: int = @group> (X, W{}) ", window, node.has("B") ? ", B" : "");
  nodes += node.has("Z") ? "all = Add(sum, Z) " : "all = Identity(sum) ";
  return nodes + activation_nodes(node.text("activation"), node.numbers("activation_params"), "all", "Y");
}

std::string qlinear_conv_body(const BodyNode& node) {
  const bool last = node.integer("channels_last") != 0;
  const std::size_t rank = last ? node.rank("x") : 0;
  std::string nodes = last ? channels_first("x", "first", rank) : "first = Identity(x) ";
  nodes += fmt::format(
      "made = QLinearConv <{}, group: int = @group> (first, x_scale, x_zero_point, w, w_scale, "
      "w_zero_point, y_scale, y_zero_point{}) ",
      window, node.has("B") ? ", B" : "");
  return nodes + (last ? channels_last("made", "y", rank) : "y = Identity(made) ");
}

std::string nhwc_max_pool_body(const BodyNode& node) {
  const std::size_t rank = node.rank("x");
  return channels_first("x", "first", rank) +
         fmt::format("made = MaxPool <{}, ceil_mode: int = @ceil_mode> (first) ", window) +
         channels_last("made", "y", rank);
}

// Without pads, and then cropped.
std::string dynamic_pads_body(const BodyNode& node) {
  std::string nodes = fmt::format(
      "whole = ConvTranspose <auto_pad: string = @auto_pad, dilations: ints = @dilations, group: int = "
      "@group, "
      "kernel_shape: ints = @kernel_shape, output_padding: ints = @output_padding, strides: ints = @strides> "
      "(X, W{}) ",
      node.has("B") ? ", B" : "");
  if (!node.has("Pads")) return nodes + "Y = Identity(whole) ";
  std::vector<std::int64_t> axes(node.rank("X"));
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin(), axes.begin() + std::min<std::ptrdiff_t>(2, std::ssize(axes)));
  return nodes + fmt::format(
                     "axes = Constant <value_ints = {}> () "
                     "begins, behind = Split <num_outputs = 2> (Pads) sizes = Shape <start = 2> (whole) "
                     "ends = Sub(sizes, behind) Y = Slice(whole, begins, ends, axes) ",
                     list_text(axes));
}

constexpr AddedOperator convolution_rows[] = {
    {"ConvTransposeWithDynamicPads", "ConvTranspose whose pads are the input Pads.",
     "auto_pad: string = NOTSET; dilations: ints; group: int = 1; kernel_shape: ints; output_padding: ints; "
     "strides: ints",
     "X: T; W: T; Pads: tensor(int64)?; B: T?", "Y: T", "T: float16, float, double", dynamic_pads_body},
    {"FusedConv", "Y = activation(Conv(X, W, B) + Z).",
     "activation: string; activation_params: floats; auto_pad: string = NOTSET; dilations: ints; group: int "
     "= 1; "
     "kernel_shape: ints; pads: ints; strides: ints",
     "X: T; W: T; B: T?; Z: T?", "Y: T", "T: float16, float, double", fused_conv_body},
    {"NhwcMaxPool", "MaxPool of x [N, spatial..., C].",
     "auto_pad: string = NOTSET; ceil_mode: int = 0; dilations: ints; kernel_shape: ints!; pads: ints; "
     "strides: ints",
     "x: T", "y: T", "T: int8, uint8", nhwc_max_pool_body},
    {"QLinearConv", "QLinearConv of ai.onnx; with channels_last, x and y hold channels on their last axis.",
     "auto_pad: string = NOTSET; channels_last: int = 0; dilations: ints; group: int = 1; kernel_shape: "
     "ints; "
     "pads: ints; strides: ints",
     "x: T1; x_scale: tensor(float); x_zero_point: T1; w: T2; w_scale: tensor(float); w_zero_point: T2; "
     "y_scale: tensor(float); y_zero_point: T3; B: T4?",
     "y: T3", "T1: int8, uint8; T2: int8, uint8; T3: int8, uint8; T4: int32", qlinear_conv_body},
};

}  // namespace

std::string channels_first(std::string_view in, std::string_view out, std::size_t rank) {
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (rank > 2) perm.insert(perm.begin() + 1, static_cast<std::int64_t>(rank) - 1), perm.pop_back();
  return transposed(in, out, perm);
}

std::string channels_last(std::string_view in, std::string_view out, std::size_t rank) {
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (rank > 2) perm.erase(perm.begin() + 1), perm.push_back(1);
  return transposed(in, out, perm);
}

std::vector<onnx::OpSchema> microsoft_convolution_schemas() {
  return schemas_of(convolution_rows, "com.microsoft");
}

}  // namespace grurun::opset
