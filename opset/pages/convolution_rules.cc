#include <algorithm>
#include <string_view>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

constexpr std::size_t no_weights =
    64;  // of an operator whose kernel_shape alone says how large its windows are

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
  for (int axis = 2; W != nullptr && axis < rank_of(*W); ++axis)
    if (size_of(W, axis) == 0) fail_invalid("W is {}: its kernels have no element", to_string(*W));
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

// nullopt where a size is not known, or beyond int64.
struct SpatialAxis {
  Size kernel, output;
  Size extent;  // of the window
  Size room;    // for windows to move
  std::int64_t stride = 1, begin = 0, end = 0;
};

Size sum_of(const Size& a, const Size& b) {
  std::int64_t sum = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &sum) ? Size(sum) : std::nullopt;
}

SpatialAxis read_axis(const NodeFacts& facts, std::size_t weights, int axis) {
  const int number = axis - 2, axes = rank_of(*facts.shape(0)) - 2;
  const Size stated = facts.list_entry("kernel_shape", number);
  SpatialAxis out;
  out.kernel = stated ? stated : size_of(facts.shape(weights), axis);
  out.stride = facts.list_entry("strides", number).value_or(1);
  const std::int64_t dilation = facts.list_entry("dilations", number).value_or(1);
  const onnx_io::Attribute* auto_pad = facts.attribute("auto_pad");
  if (auto_pad == nullptr || auto_pad->s != "VALID") {
    out.begin = facts.list_entry("pads", number).value_or(0);
    out.end = facts.list_entry("pads", axes + number).value_or(0);
  }
  if (!out.kernel || *out.kernel < 1 || out.stride < 1 || dilation < 1) return out;
  out.extent = sum_of(count_of({*out.kernel - 1, dilation}), 1);
  const Size padded = sum_of(size_of(facts.shape(0), axis), sum_of(out.begin, out.end));
  out.room = out.extent ? sum_of(padded, -*out.extent) : std::nullopt;
  if (out.room && *out.room >= 0) out.output = *out.room / out.stride + 1;
  return out;
}

SpatialAxis fitting_axis(const NodeFacts& facts, std::size_t weights, int axis, std::int64_t least_room = 0) {
  SpatialAxis out = read_axis(facts, weights, axis);
  if (out.room && *out.room < least_room)
    fail_invalid("a window of extent {} does not fit into spatial axis {} of length {} with pads {} and {}",
                 *out.extent, axis - 2, *size_of(facts.shape(0), axis), out.begin, out.end);
  return out;
}

bool pads_to_same(const NodeFacts& facts) {
  const onnx_io::Attribute* auto_pad = facts.attribute("auto_pad");
  return auto_pad != nullptr && std::string_view(auto_pad->s).starts_with("SAME");
}

void require_spatial_axis(const SymbolicShape* X) {
  if (X != nullptr && rank_of(*X) < 3)
    fail_invalid("X is {}, but must have a spatial axis behind [N,C]", to_string(*X));
}

void check_weights(const NodeFacts& facts, std::size_t weights) {
  const SymbolicShape* X = facts.shape(0);
  require_spatial_axis(X);
  check_groups(facts, weights);
  check_kernel(facts, weights);
  if (X == nullptr || pads_to_same(facts)) return;
  for (int axis = 2; axis < rank_of(*X); ++axis) fitting_axis(facts, weights, axis);
}

// What is left of axis 2 on when windows of X are put side by side and pads are cut off.
Size unpooled_size(const NodeFacts& facts, int axis) {
  const SpatialAxis window = read_axis(facts, no_weights, axis);
  const Size input = size_of(facts.shape(0), axis);
  if (!input || !window.kernel) return std::nullopt;
  const Size steps = count_of({std::max<std::int64_t>(*input - 1, 0), window.stride});
  const Size cut = sum_of(window.begin, window.end);
  const Size left = cut ? sum_of(sum_of(steps, window.kernel), -*cut) : std::nullopt;
  if (left && *left < 0)
    fail_invalid("pads {} leave nothing of axis {} when X {} is unpooled", *cut, axis,
                 to_string(*facts.shape(0)));
  return left;
}

}  // namespace

// From ceil((room - extent) / stride) + 1 on a pooling may have no place.
void check_pooling(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (!facts.list_entry("kernel_shape", 0)) fail_invalid("attribute kernel_shape is needed");
  if (X == nullptr || pads_to_same(facts)) return;
  for (int axis = 2; axis < rank_of(*X); ++axis)
    fitting_axis(facts, no_weights, axis, -facts.list_entry("strides", axis - 2).value_or(1));
}

void check_planes(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  for (int axis = 2; X != nullptr && axis < rank_of(*X); ++axis)
    if (size_of(X, axis) == 0) fail_invalid("X is {}: its planes have no element", to_string(*X));
}

void check_unpooled(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (!facts.list_entry("kernel_shape", 0)) fail_invalid("attribute kernel_shape is needed");
  if (X == nullptr || rank_of(*X) < 3) return;
  Sizes unpooled = {size_of(X, 0), size_of(X, 1)};
  for (int axis = 2; axis < rank_of(*X); ++axis) unpooled.push_back(unpooled_size(facts, axis));
  if (const auto stated = integers_in(facts, 2)) {
    bool fits = stated->size() == unpooled.size();
    for (std::size_t i = 0; fits && i < stated->size(); ++i) {
      const std::int64_t size = (*stated)[i];
      fits = !unpooled[i] || (i < 2 ? size == *unpooled[i] : size >= *unpooled[i]);
    }
    if (!fits)
      fail_invalid("output_shape must have the batches and channels of {} and room for its axes",
                   text_of(unpooled));
  }
  const auto indices = integers_in(facts, 1);
  const Size count = count_of(unpooled);
  for (const std::int64_t index : indices&& count ? *indices : std::vector<std::int64_t>())
    if (index < 0 || index >= *count)
      fail_invalid("I holds {}, but counts the {} elements of {}, the shape that the attributes give", index,
                   *count, text_of(unpooled));
}

void check_columns(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  const auto image = integers_in(facts, 1), block = integers_in(facts, 2);
  if (image && block && image->size() != block->size())
    fail_invalid("block_shape has {} entries, but image_shape has {}", block->size(), image->size());
  if (image && image->empty()) fail_invalid("image_shape has no axis");
  if (!image || !block) return;
  Size places = 1, blocks = 1;
  for (std::size_t i = 0; i < image->size(); ++i) {
    const int axis = static_cast<int>(i);
    const std::int64_t stride = facts.list_entry("strides", axis).value_or(1);
    const Size pads = sum_of(facts.list_entry("pads", axis).value_or(0),
                             facts.list_entry("pads", axis + static_cast<int>(image->size())).value_or(0));
    const Size extent =
        sum_of(count_of({(*block)[i] - 1, facts.list_entry("dilations", axis).value_or(1)}), 1);
    const Size room = extent ? sum_of(sum_of((*image)[i], pads), -*extent) : std::nullopt;
    if (room && *room < 0)
      fail_invalid("a block of extent {} does not fit into axis {} of image_shape, which is {} with pads {}",
                   *extent, i, (*image)[i], *pads);
    places = count_of({places, (*block)[i]});
    blocks = count_of({blocks, room ? Size(*room / std::max<std::int64_t>(stride, 1) + 1) : std::nullopt});
  }
  const Size rows = size_of(input, 1), columns = size_of(input, 2);
  if (rows && places && *places > 0 && *rows % *places != 0)
    fail_invalid("input is {}: its second size is no multiple of the {} places of a block", to_string(*input),
                 *places);
  if (columns && blocks && *columns != *blocks)
    fail_invalid("input {} holds {} blocks, but the image has room for {}", to_string(*input), *columns,
                 *blocks);
}

void check_convolution(const NodeFacts& facts) {
  check_weights(facts, 1);
}

void check_quantized_convolution(const NodeFacts& facts) {
  check_weights(facts, 3);
}

void check_transposed_convolution(const NodeFacts& facts) {
  require_spatial_axis(facts.shape(0));
  check_transposed_groups(facts);
  check_kernel(facts, 1);
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr || pads_to_same(facts) || facts.list_entry("output_shape", 0)) return;
  for (int axis = 2; axis < rank_of(*X); ++axis) {
    const SpatialAxis window = read_axis(facts, 1, axis);
    const Size input = size_of(X, axis);
    if (!input || !window.extent) continue;
    const Size reach = count_of({window.stride, input});
    const Size full = sum_of(sum_of(reach, -window.stride),
                             sum_of(window.extent, facts.list_entry("output_padding", axis - 2).value_or(0)));
    const Size cut = sum_of(window.begin, window.end);
    if (full && *full < 0)
      fail_invalid("X is {}: spatial axis {} of Y would have {} places", to_string(*X), axis - 2, *full);
    if (full && cut && *cut > *full)
      fail_invalid("pads {} and {} remove more than the {} places of spatial axis {}", window.begin,
                   window.end, *full, axis - 2);
  }
}

void check_deformed_convolution(const NodeFacts& facts) {
  require_spatial_axis(facts.shape(0));
  check_groups(facts, 1);
  check_kernel(facts, 1);
  check_offset_groups(facts);
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr) return;
  Size places = facts.int_attribute("offset_group", 1);  // of all groups' kernels
  Sizes outputs;
  for (int axis = 2; axis < rank_of(*X); ++axis) {
    const SpatialAxis window = fitting_axis(facts, 1, axis);
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
