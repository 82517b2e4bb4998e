#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

void require_axis(const char* attribute, std::int64_t axis, const SymbolicShape& shape) {
  const std::int64_t rank = rank_of(shape);
  if (axis >= -rank && axis < rank) return;
  fail_invalid("attribute {} names axis {}, but must lie in [-r, r) of the input {}, whose rank r is {}",
               attribute, axis, to_string(shape), rank);
}

void require_entries(const NodeFacts& facts, const char* attribute, std::int64_t wanted, const char* of) {
  const onnx_io::Attribute* list = facts.attribute(attribute);
  if (list == nullptr || std::ssize(list->ints) == wanted) return;
  fail_invalid("attribute {} has {} entries, but must have one for each of the {} {}", attribute,
               list->ints.size(), wanted, of);
}

}  // namespace

// Of the first input.
void check_axis(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  const onnx_io::Attribute* axis = facts.attribute("axis");
  if (data != nullptr && axis != nullptr) require_axis("axis", axis->i, *data);
}

// A size for each of axes, which are all where none are stated.
void check_cropped_axes(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  if (data == nullptr) return;
  const onnx_io::Attribute* axes = facts.attribute("axes");
  const std::int64_t rank = rank_of(*data), count = axes != nullptr ? std::ssize(axes->ints) : rank;
  std::set<std::int64_t> named;
  for (std::int64_t i = 0; axes != nullptr && i < count; ++i) {
    const std::int64_t axis = axes->ints[static_cast<std::size_t>(i)];
    require_axis("axes", axis, *data);
    if (!named.insert(axis < 0 ? axis + rank : axis).second)
      fail_invalid("attribute axes names axis {} twice", axis < 0 ? axis + rank : axis);
  }
  const auto sizes = size_of(facts.shape(1), 0);
  if (sizes && *sizes != count) fail_invalid("input shape has {} sizes for {} axes", *sizes, count);
}

// Whatever auto_pad says of pads, and where output_shape settles the size, too. An empty list says nothing.
void check_window_lists(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr || rank_of(*X) < 3) return;
  const std::int64_t axes = rank_of(*X) - 2;
  const auto require = [&](const char* name, std::int64_t wanted, const char* of) {
    const onnx_io::Attribute* list = facts.attribute(name);
    if (list != nullptr && !list->ints.empty()) require_entries(facts, name, wanted, of);
  };
  for (const char* list : {"dilations", "kernel_shape", "output_padding", "output_shape", "strides"})
    require(list, axes, "spatial axes");
  require("pads", 2 * axes, "ends of spatial axes");
}

void check_block_lists(const NodeFacts& facts) {
  const Size axes = size_of(facts.shape(1), 0);
  if (!axes) return;
  require_entries(facts, "dilations", *axes, "axes of image_shape");
  require_entries(facts, "strides", *axes, "axes of image_shape");
  require_entries(facts, "pads", 2 * *axes, "ends of axes of image_shape");
}

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
}

// Mean and InvStdDev get a size of 1 from axis on, whatever it is.
void check_normalized_axis(const NodeFacts& facts) {
  const SymbolicShape* x = facts.shape(0);
  if (x == nullptr) return;
  const std::int64_t axis = facts.int_attribute("axis", -1), rank = rank_of(*x);
  if (axis < -rank || axis >= rank)
    fail_invalid("attribute axis is {}, but must lie in [-r, r) of an input of rank r, here {}", axis, rank);
}

// Dimensions of data from batch_dims + indices.shape[-1] on are copied.
void check_batch_dims(const NodeFacts& facts) {
  const std::int64_t batch_dims = facts.int_attribute("batch_dims", 0);
  if (batch_dims < 0) fail_invalid("attribute batch_dims is {}, but must not be negative", batch_dims);
  for (const std::size_t i : {0, 1}) {
    const SymbolicShape* shape = facts.shape(i);
    if (shape != nullptr && batch_dims >= std::max(rank_of(*shape), 1)) {
      fail_invalid("attribute batch_dims is {}, but must be less than the rank of {}, which is {}",
                   batch_dims, i == 0 ? "data" : "indices", rank_of(*shape));
    }
  }
}

// Readers of ONNX take axes for int: 2^32 would pass for 0.
void check_axis_range(const NodeFacts& facts) {
  const auto require_int = [](const char* name, std::int64_t value) {
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      fail_invalid("attribute {} is {}: no tensor has such an axis", name, value);
  };
  for (const char* name : {"axis", "batch_axis", "time_axis", "scan_input_axes", "scan_output_axes"}) {
    const onnx_io::Attribute* attribute = facts.attribute(name);
    if (attribute == nullptr) continue;
    require_int(name, attribute->i);
    for (const std::int64_t value : attribute->ints) require_int(name, value);
  }
}

}  // namespace grurun::opset
