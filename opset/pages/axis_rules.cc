#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// An empty list says nothing.
void require_entries(const NodeFacts& facts, const char* attribute, std::int64_t wanted, const char* of) {
  const onnx_io::Attribute* list = facts.attribute(attribute);
  if (list == nullptr || list->ints.empty() || std::ssize(list->ints) == wanted) return;
  fail_invalid("attribute {} has {} entries, but must have one for each of the {} {}", attribute,
               list->ints.size(), wanted, of);
}

}  // namespace

// A size for each of axes, which are all where none are stated.
void check_cropped_axes(const NodeFacts& facts) {
  const SymbolicShape *data = facts.shape(0), *shape = facts.shape(1);
  if (data == nullptr || shape == nullptr) return;
  const onnx_io::Attribute* axes = facts.attribute("axes");
  const std::int64_t count = axes != nullptr ? std::ssize(axes->ints) : rank_of(*data);
  const Size sizes = shape->empty() ? 1 : size_of(shape, 0);
  if (sizes && *sizes != count) fail_invalid("input shape has {} sizes for {} axes", *sizes, count);
}

// Whatever auto_pad says of pads, and where output_shape settles the size, too.
void check_window_lists(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr || rank_of(*X) < 3) return;
  const std::int64_t axes = rank_of(*X) - 2;
  for (const char* list : {"dilations", "kernel_shape", "output_padding", "strides"})
    require_entries(facts, list, axes, "spatial axes");
  // ConvTranspose-1 does not say that batch and channels are left out.
  const onnx_io::Attribute* stated = facts.attribute("output_shape");
  const bool whole = stated != nullptr && std::ssize(stated->ints) == axes + 2;
  if (!whole || facts.since_version() >= 11) require_entries(facts, "output_shape", axes, "spatial axes");
  require_entries(facts, "pads", 2 * axes, "ends of spatial axes");
}

void check_block_lists(const NodeFacts& facts) {
  const Size axes = size_of(facts.shape(1), 0);
  if (!axes) return;
  require_entries(facts, "dilations", *axes, "axes of image_shape");
  require_entries(facts, "strides", *axes, "axes of image_shape");
  require_entries(facts, "pads", 2 * *axes, "ends of axes of image_shape");
}

namespace {

// Version 8 has the batch on axis 0 of all, and the steps behind it; later ones the axes that are stated.
void require_steps(const NodeFacts& facts, std::size_t states, std::size_t inputs) {
  const std::size_t first = facts.since_version() < 9 ? 1 : 0;
  Size batch, steps;
  const auto require_same = [&](std::size_t i, const char* what, const Size& size, Size& common) {
    if (!common) common = size;
    if (size && *size != *common)
      fail_invalid("input {} is {}: its {} is {}, but that of others is {}", i, to_string(*facts.shape(i)),
                   what, *size, *common);
  };
  for (std::size_t i = first; i < first + inputs; ++i) {
    const SymbolicShape* shape = facts.shape(i);
    const bool is_scanned = i >= first + states;
    if (shape == nullptr || (first == 0 && !is_scanned)) continue;
    const int rank = rank_of(*shape);
    if (first == 1) {
      if (rank < (is_scanned ? 2 : 1))
        fail_invalid("input {} is {}, but needs an axis for the batch{}", i, to_string(*shape),
                     is_scanned ? " and one for steps" : "");
      require_same(i, "batch size", size_of(shape, 0), batch);
      if (is_scanned) require_same(i, "number of steps", size_of(shape, 1), steps);
      continue;
    }
    const std::int64_t axis = facts.list_entry("scan_input_axes", static_cast<int>(i - states)).value_or(0);
    if (axis < -rank || axis >= rank)
      fail_invalid("scan_input_axes names axis {} of input {}, which is {}", axis, i, to_string(*shape));
    require_same(i, "number of steps", size_of(shape, static_cast<int>(axis < 0 ? axis + rank : axis)),
                 steps);
  }
  if (first == 0) return;
  require_sizes("sequence_lens", facts.shape(0), {batch}, "a length for each row of the batch");
  for (const std::int64_t length : integers_in(facts, 0).value_or(std::vector<std::int64_t>()))
    if (length < 0 || (steps && length > *steps))
      fail_invalid("sequence_lens holds {}, but must lie in [0, {}]", length, steps.value_or(length));
}

}  // namespace

// Inputs are states and then scan inputs, outputs the states and then scan outputs; behind sequence_lens in
// version 8, which has a direction for each scan input alone.
void check_scan(const NodeFacts& facts) {
  const bool has_lengths = facts.since_version() < 9;
  const auto inputs = static_cast<std::int64_t>(facts.input_count()) - (has_lengths ? 1 : 0);
  const auto outputs = static_cast<std::int64_t>(facts.output_count());
  const std::int64_t scanned = facts.int_attribute("num_scan_inputs", 1);
  if (scanned < 1 || scanned > inputs)
    fail_invalid("attribute num_scan_inputs is {}, but must lie between 1 and the {} states and scan inputs",
                 scanned, inputs);
  const std::int64_t states = inputs - scanned;
  if (outputs < states) fail_invalid("Scan has {} states, but only {} outputs", states, outputs);
  require_entries(facts, "directions", scanned, "scan inputs");
  require_entries(facts, "scan_input_directions", scanned, "scan inputs");
  require_entries(facts, "scan_input_axes", scanned, "scan inputs");
  require_entries(facts, "scan_output_directions", outputs - states, "scan outputs");
  require_entries(facts, "scan_output_axes", outputs - states, "scan outputs");
  require_steps(facts, static_cast<std::size_t>(states), static_cast<std::size_t>(inputs));
}

void check_extreme(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  if (data == nullptr || data->empty()) return;
  Sizes sizes = sizes_of(*data);
  const std::int64_t axis = facts.int_attribute("axis", 0);
  Size& along = sizes[static_cast<std::size_t>(axis < 0 ? axis + rank_of(*data) : axis)];
  if (along != 0) return;
  along = 1;
  if (std::ranges::all_of(sizes, [](const Size& size) { return size.value_or(0) > 0; }))
    fail_invalid("data is {}: of no element along axis {} there is no extreme", to_string(*data), axis);
}

void check_single_elements(const NodeFacts& facts) {
  for (std::size_t i = 0; i < (facts.op_type() == "If" ? 1U : 2U); ++i) {
    const SymbolicShape* shape = facts.shape(i);
    if (shape != nullptr && count_of(sizes_of(*shape)).value_or(1) != 1)
      fail_invalid("{} is {}, but must hold one element", input_name(facts, i), to_string(*shape));
  }
}

void check_wrapped(const NodeFacts& facts) {
  if (!facts.has_input(0) && facts.attribute("type") == nullptr)
    fail_invalid("Optional needs an input or the attribute type");
}

// Readers of ONNX take axes and flags for int: 2^32 would pass for 0.
std::optional<std::string> axis_range_fault(const onnx_io::Node& node) {
  const auto is_int = [](std::int64_t value) { return std::in_range<int>(value); };
  for (const char* name :
       {"axis", "batch_axis", "time_axis", "scan_input_axes", "scan_output_axes", "transA", "transB"}) {
    const onnx_io::Attribute* attribute = node.find_attribute(name);
    if (attribute == nullptr) continue;
    const auto listed = std::ranges::find_if_not(attribute->ints, is_int);
    if (is_int(attribute->i) && listed == attribute->ints.end()) continue;
    return fmt::format(
        "attribute {} is {}: {}", name, is_int(attribute->i) ? *listed : attribute->i,
        std::string_view(name).starts_with("trans") ? "it must be 0 or 1" : "no tensor has such an axis");
  }
  return std::nullopt;
}

}  // namespace grurun::opset
