#include <string_view>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// C and M divide by group, and W holds C/group channels.
void check_groups(const NodeFacts& facts, std::size_t weights) {
  const SymbolicShape *X = facts.shape(0), *W = facts.shape(weights);
  const std::int64_t group = facts.int_attribute("group", 1);
  if (group < 1) fail_invalid("attribute group is {}, but must be at least 1", group);
  const Size C = size_of(X, 1), M = size_of(W, 0), channels = size_of(W, 1);
  if (C && (*C % group != 0 || (channels && *channels != *C / group))) {
    fail_invalid("X has {} channels and group is {}, but W is {}; its second size must be channels/group", *C,
                 group, W == nullptr ? "not known" : to_string(*W));
  }
  if (M && *M % group != 0)
    fail_invalid("W is {}: its {} filters do not divide by group {}", to_string(*W), *M, group);
}

void check_transposed_groups(const NodeFacts& facts) {
  const SymbolicShape *X = facts.shape(0), *W = facts.shape(1);
  const std::int64_t group = facts.int_attribute("group", 1);
  if (group < 1) fail_invalid("attribute group is {}, but must be at least 1", group);
  const Size C = size_of(X, 1), filters = size_of(W, 1);
  if (C && *C % group != 0) fail_invalid("the {} channels of X do not divide by group {}", *C, group);
  if (filters && *filters <= std::int64_t{1} << 31 && group <= std::int64_t{1} << 31)
    require_sizes("B", facts.shape(2), {*filters * group},
                  "a number for each of W's M/group filters of each group");
}

void check_kernel(const NodeFacts& facts, std::size_t weights) {
  const SymbolicShape* W = facts.shape(weights);
  const onnx_io::Attribute* kernel = facts.attribute("kernel_shape");
  if (W == nullptr || kernel == nullptr || kernel->ints.empty()) return;
  bool fits = kernel->ints.size() + 2 == W->size();
  for (std::size_t i = 0; fits && i < kernel->ints.size(); ++i)
    fits = (*W)[i + 2].value.value_or(kernel->ints[i]) == kernel->ints[i];
  if (!fits) fail_invalid("attribute kernel_shape is not that of W, which is {}", to_string(*W));
}

void check_offset_groups(const NodeFacts& facts) {
  const std::int64_t groups = facts.int_attribute("offset_group", 1);
  if (groups < 1) fail_invalid("attribute offset_group is {}, but must be at least 1", groups);
  const Size C = size_of(facts.shape(0), 1);
  if (C && *C % groups != 0) fail_invalid("offset_group {} does not divide the {} channels of X", groups, *C);
}

// Sizes and attributes beyond are of no model, and a run refuses them: products stay within int64.
constexpr std::int64_t largest = std::int64_t{1} << 24;

// nullopt where a size is not known.
struct WindowAxis {
  Size kernel, output;
};

WindowAxis read_axis(const NodeFacts& facts, std::size_t weights, int axis) {
  const int number = axis - 2, axes = rank_of(*facts.shape(0)) - 2;
  const Size stated = facts.list_entry("kernel_shape", number);
  const Size kernel = stated ? stated : size_of(facts.shape(weights), axis);
  const Size input = size_of(facts.shape(0), axis);
  const std::int64_t stride = facts.list_entry("strides", number).value_or(1);
  const std::int64_t dilation = facts.list_entry("dilations", number).value_or(1);
  const std::int64_t begin = facts.list_entry("pads", number).value_or(0);
  const std::int64_t end = facts.list_entry("pads", axes + number).value_or(0);
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

bool pads_to_same(const NodeFacts& facts) {
  const onnx_io::Attribute* auto_pad = facts.attribute("auto_pad");
  return auto_pad != nullptr && std::string_view(auto_pad->s).starts_with("SAME");
}

void check_weights(const NodeFacts& facts, std::size_t weights) {
  check_groups(facts, weights);
  check_kernel(facts, weights);
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr || pads_to_same(facts)) return;
  for (int axis = 2; axis < rank_of(*X); ++axis) read_axis(facts, weights, axis);
}

}  // namespace

void check_convolution(const NodeFacts& facts) {
  check_weights(facts, 1);
}

void check_quantized_convolution(const NodeFacts& facts) {
  check_weights(facts, 3);
}

void check_transposed_convolution(const NodeFacts& facts) {
  check_transposed_groups(facts);
  check_kernel(facts, 1);
}

void check_deformed_convolution(const NodeFacts& facts) {
  check_groups(facts, 1);
  check_kernel(facts, 1);
  check_offset_groups(facts);
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr || rank_of(*X) < 3) return;
  Size places = facts.int_attribute("offset_group", 1);  // of all groups' kernels
  Sizes outputs;
  for (int axis = 2; axis < rank_of(*X); ++axis) {
    const WindowAxis window = read_axis(facts, 1, axis);
    outputs.push_back(window.output);
    places = count_of({places, window.kernel});
  }
  Sizes offset = {size_of(X, 0), count_of({places, rank_of(*X) - 2})}, mask = {size_of(X, 0), places};
  offset.insert(offset.end(), outputs.begin(), outputs.end());
  mask.insert(mask.end(), outputs.begin(), outputs.end());
  require_sizes("offset", facts.shape(2), offset,
                "for each place of each group's kernel a number for each spatial axis, wherever Y has one");
  require_sizes("mask", facts.shape(4), mask,
                "a number for each place of each group's kernel, wherever Y has one");
}

}  // namespace grurun::opset
