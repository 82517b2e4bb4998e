#include "engine/ops/shared/window.h"

#include "engine/graph/refusal.h"

namespace grurun::engine {

namespace {

AutoPad parse_auto_pad(const std::string& name) {
  if (name == "NOTSET" || name.empty()) return AutoPad::notset;
  if (name == "VALID") return AutoPad::valid;
  if (name == "SAME_UPPER") return AutoPad::same_upper;
  return AutoPad::same_lower;
}

void require_length(const std::vector<std::int64_t>& list, std::size_t length) {
  if (!list.empty() && list.size() != length) refuse();
}

void pad_to_same(WindowAxis& axis, AutoPad mode) {
  axis.output = (axis.input + axis.stride - 1) / axis.stride;
  const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t total = std::max<std::int64_t>(0, (axis.output - 1) * axis.stride + extent - axis.input);
  axis.pad_begin = mode == AutoPad::same_upper ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

void count_windows(WindowAxis& axis, bool ceil_mode, bool may_be_empty) {
  const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t room = axis.input + axis.pad_begin + axis.pad_end - extent;
  if (room < 0 && !(may_be_empty && room >= -axis.stride)) refuse();
  if (room < 0) {  // floor(room / stride) + 1 is 0; ceil gives 1 but for a room of a whole stride
    axis.output = ceil_mode && room > -axis.stride && axis.input + axis.pad_begin > 0 ? 1 : 0;
    return;
  }
  axis.output = room / axis.stride + 1;
  if (!ceil_mode || room % axis.stride == 0) return;
  // A window that would start in the trailing pad covers no element and is not counted.
  if (axis.output * axis.stride < axis.input + axis.pad_begin) ++axis.output;
}

}  // namespace

void require_lengths(std::span<const std::int64_t> list, std::int64_t least, const char* name) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  for (const std::int64_t value : list) {
    if (value < least) refuse();
    if (value > most) fail(ErrorKind::limit, "{} holds {}, more than {}", name, value, most);
  }
}

std::int64_t entry_or(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t fallback) {
  return list.empty() ? fallback : list[i];
}

WindowAttributes window_attributes(PrepareContext& node, WindowForm form) {
  WindowAttributes attributes;
  if (form.auto_pad) attributes.auto_pad = parse_auto_pad(node.string_attribute("auto_pad", "NOTSET"));
  if (form.kernel_shape) attributes.kernel_shape = node.ints_attribute("kernel_shape");
  attributes.strides = node.ints_attribute("strides");
  attributes.pads = node.ints_attribute("pads");
  if (form.dilations) attributes.dilations = node.ints_attribute("dilations");
  if (form.ceil_mode) attributes.ceil_mode = node.int_attribute("ceil_mode", 0) != 0;
  require_lengths(attributes.kernel_shape, 1, "kernel_shape");
  require_lengths(attributes.strides, 1, "strides");
  require_lengths(attributes.dilations, 1, "dilations");
  require_lengths(attributes.pads, 0, "pads");
  return attributes;
}

WindowAxes window_axes(const WindowAttributes& attributes, std::span<const std::int64_t> input,
                       std::span<const std::int64_t> kernel, bool may_be_empty) {
  const std::size_t rank = input.size();
  if (kernel.size() != rank) refuse();
  require_length(attributes.strides, rank);
  require_length(attributes.dilations, rank);
  require_length(attributes.pads, 2 * rank);
  WindowAxes axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    WindowAxis& axis = axes[i];
    axis.input = input[i];
    axis.kernel = kernel[i];
    axis.stride = entry_or(attributes.strides, i, 1);
    axis.dilation = entry_or(attributes.dilations, i, 1);
    checked_mul(axis.kernel, axis.dilation);
    if (attributes.auto_pad == AutoPad::same_upper || attributes.auto_pad == AutoPad::same_lower) {
      pad_to_same(axis, attributes.auto_pad);
      continue;
    }
    if (attributes.auto_pad == AutoPad::notset) {
      axis.pad_begin = entry_or(attributes.pads, i, 0);
      axis.pad_end = entry_or(attributes.pads, i + rank, 0);
    }
    count_windows(axis, attributes.ceil_mode && attributes.auto_pad == AutoPad::notset, may_be_empty);
  }
  return axes;
}

}  // namespace grurun::engine
