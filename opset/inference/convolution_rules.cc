#include "opset/inference/convolution_rules.h"

#include <string_view>

#include "opset/inference/inferred_input.h"
#include "opset/inference/required_sizes.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::InferenceContext;
using onnx::TensorShapeProto;

// C and M divide by group, and W holds C/group channels.
void check_groups(const InferenceContext& context, std::size_t weights) {
  const TensorShapeProto *X = input_shape(context, 0), *W = input_shape(context, weights);
  const std::int64_t group = int_attribute(context, "group", 1);
  if (group < 1) fail_invalid("attribute group is {}, but must be at least 1", group);
  const Size C = size_of(X, 1), M = size_of(W, 0), channels = size_of(W, 1);
  if (C && (*C % group != 0 || (channels && *channels != *C / group))) {
    fail_invalid("X has {} channels and group is {}, but W is {}; its second size must be channels/group", *C,
                 group, W == nullptr ? "not known" : shape_text(*W));
  }
  if (M && *M % group != 0)
    fail_invalid("W is {}: its {} filters do not divide by group {}", shape_text(*W), *M, group);
}

void check_transposed_groups(const InferenceContext& context) {
  const TensorShapeProto *X = input_shape(context, 0), *W = input_shape(context, 1);
  const std::int64_t group = int_attribute(context, "group", 1);
  if (group < 1) fail_invalid("attribute group is {}, but must be at least 1", group);
  const Size C = size_of(X, 1), filters = size_of(W, 1);
  if (C && *C % group != 0) fail_invalid("the {} channels of X do not divide by group {}", *C, group);
  if (filters && *filters <= std::int64_t{1} << 31 && group <= std::int64_t{1} << 31)
    require_sizes("B", input_shape(context, 2), {*filters * group},
                  "a number for each of W's M/group filters of each group");
}

void check_kernel(const InferenceContext& context, std::size_t weights) {
  const TensorShapeProto* W = input_shape(context, weights);
  const onnx::AttributeProto* kernel = context.getAttribute("kernel_shape");
  if (W == nullptr || kernel == nullptr || kernel->ints_size() == 0) return;
  bool fits = kernel->ints_size() + 2 == W->dim_size();
  for (int i = 0; fits && i < kernel->ints_size(); ++i)
    fits = size_of(W, i + 2).value_or(kernel->ints(i)) == kernel->ints(i);
  if (!fits) fail_invalid("attribute kernel_shape is not that of W, which is {}", shape_text(*W));
}

void check_offset_groups(const InferenceContext& context) {
  const std::int64_t groups = int_attribute(context, "offset_group", 1);
  if (groups < 1) fail_invalid("attribute offset_group is {}, but must be at least 1", groups);
  const Size C = size_of(input_shape(context, 0), 1);
  if (C && *C % groups != 0) fail_invalid("offset_group {} does not divide the {} channels of X", groups, *C);
}

// Sizes and attributes beyond are of no model, and a run refuses them: products stay within int64.
constexpr std::int64_t largest = std::int64_t{1} << 24;

// nullopt where a size is not known.
struct WindowAxis {
  Size kernel, output;
};

WindowAxis read_axis(const InferenceContext& context, std::size_t weights, int axis) {
  const int number = axis - 2, axes = input_shape(context, 0)->dim_size() - 2;
  const Size stated = list_entry(context, "kernel_shape", number);
  const Size kernel = stated ? stated : size_of(input_shape(context, weights), axis);
  const Size input = size_of(input_shape(context, 0), axis);
  const std::int64_t stride = list_entry(context, "strides", number).value_or(1);
  const std::int64_t dilation = list_entry(context, "dilations", number).value_or(1);
  const std::int64_t begin = list_entry(context, "pads", number).value_or(0);
  const std::int64_t end = list_entry(context, "pads", axes + number).value_or(0);
  const auto is_usual = [](std::int64_t number, std::int64_t least) {
    return number >= least && number <= largest;
  };
  if (!is_usual(kernel.value_or(0), 1) || !is_usual(input.value_or(-1), 0) || !is_usual(stride, 1) ||
      !is_usual(dilation, 1) || !is_usual(begin, 0) || !is_usual(end, 0))
    return {kernel, std::nullopt};
  const std::int64_t extent = (*kernel - 1) * dilation + 1, room = *input + begin + end - extent;
  if (room < 0) {
    fail_invalid("a window of extent {} does not fit into spatial axis {} of length {} with pads {} and {}",
                 extent, number, *input, begin, end);
  }
  return {kernel, room / stride + 1};
}

bool pads_to_same(const InferenceContext& context) {
  const onnx::AttributeProto* auto_pad = context.getAttribute("auto_pad");
  return auto_pad != nullptr && std::string_view(auto_pad->s()).starts_with("SAME");
}

}  // namespace

void check_convolution(const InferenceContext& context, std::size_t weights) {
  check_groups(context, weights);
  check_kernel(context, weights);
  const TensorShapeProto* X = input_shape(context, 0);
  if (X == nullptr || pads_to_same(context)) return;
  for (int axis = 2; axis < X->dim_size(); ++axis) read_axis(context, weights, axis);
}

void check_transposed_convolution(const InferenceContext& context) {
  check_transposed_groups(context);
  check_kernel(context, 1);
}

void check_deformed_convolution(const InferenceContext& context) {
  check_groups(context, 1);
  check_kernel(context, 1);
  check_offset_groups(context);
  const TensorShapeProto* X = input_shape(context, 0);
  if (X == nullptr || X->dim_size() < 3) return;
  Size places = int_attribute(context, "offset_group", 1);  // of all groups' kernels
  Sizes outputs;
  for (int axis = 2; axis < X->dim_size(); ++axis) {
    const WindowAxis window = read_axis(context, 1, axis);
    outputs.push_back(window.output);
    places = count_of({places, window.kernel});
  }
  Sizes offset = {size_of(X, 0), count_of({places, X->dim_size() - 2})}, mask = {size_of(X, 0), places};
  offset.insert(offset.end(), outputs.begin(), outputs.end());
  mask.insert(mask.end(), outputs.begin(), outputs.end());
  require_sizes("offset", input_shape(context, 2), offset,
                "for each place of each group's kernel a number for each spatial axis, wherever Y has one");
  require_sizes("mask", input_shape(context, 4), mask,
                "a number for each place of each group's kernel, wherever Y has one");
}

}  // namespace grurun::opset
