// Slice (ai.onnx 1, 10, 11, 13) and the experimental DynamicSlice (1), which is Slice-10 without steps.
//
// For each axis named, output takes elements start, start + step, ... up to but not including end. Starts and
// ends count from the end when negative and are clamped to the axis. Version 1 takes starts, ends, axes as
// attributes (step 1); later ones as inputs, with steps, which may be negative.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

struct Range {
  std::int64_t start, end, step;
};

// Where a start that lies before the first element leads to when steps go backwards: to nothing, as in numpy,
// which versions 10 and 11 name, or to the first element, by the text of version 13.
enum class BeforeFirst { nothing, first };

// The first index taken and how many follow, for one axis of this length.
std::pair<std::int64_t, std::int64_t> clamp(const Range& range, std::int64_t length, BeforeFirst before) {
  if (range.step == 0) refuse();
  const auto from_end = [length](std::int64_t at) { return at < 0 ? checked_add(at, length) : at; };
  if (range.step > 0) {
    const std::int64_t start = std::clamp<std::int64_t>(from_end(range.start), 0, length);
    const std::int64_t end = std::clamp<std::int64_t>(from_end(range.end), 0, length);
    return {start, end <= start ? 0 : (end - start - 1) / range.step + 1};
  }
  const std::int64_t least = before == BeforeFirst::first && length > 0 ? 0 : -1;
  const std::int64_t start = std::clamp<std::int64_t>(from_end(range.start), least, length - 1);
  const std::int64_t end = std::clamp<std::int64_t>(from_end(range.end), -1, length - 1);
  // In unsigned arithmetic, so that the lowest step has a magnitude too.
  const auto step = static_cast<std::uint64_t>(0) - static_cast<std::uint64_t>(range.step);
  return {start, end >= start
                     ? 0
                     : static_cast<std::int64_t>(static_cast<std::uint64_t>(start - end - 1) / step) + 1};
}

Tensor slice(const Tensor& data, std::span<const std::int64_t> starts, std::span<const std::int64_t> ends,
             std::optional<std::span<const std::int64_t>> axes,
             std::optional<std::span<const std::int64_t>> steps, BeforeFirst before) {
  const std::size_t count = starts.size();
  if (ends.size() != count || (axes && axes->size() != count) || (steps && steps->size() != count)) refuse();
  if (count > data.rank()) refuse();
  Shape shape = data.shape();
  ScratchVector<std::int64_t> strides = row_major_strides(shape);
  ScratchVector<bool> named(data.rank(), false);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t given = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    const auto axis =
        static_cast<std::size_t>(normalized_axis(given, static_cast<std::int64_t>(data.rank())));
    if (named[axis]) refuse();
    named[axis] = true;
    const Range range{starts[i], ends[i], steps ? (*steps)[i] : 1};
    const auto [first, length] = clamp(range, data.dim(axis), before);
    shape[axis] = length;
    if (length > 0) offset += first * strides[axis];
    if (length > 1) strides[axis] *= range.step;
  }
  return strided_copy(data, shape.element_count() == 0 ? 0 : offset, shape, strides);
}

ScratchVector<std::int64_t> list_of(const Tensor& tensor) {
  if (tensor.rank() != 1) refuse();
  return integer_list(tensor);
}

RunFunction prepare_slice(PrepareContext& node) {
  const BeforeFirst before = node.since_version() >= 13 ? BeforeFirst::first : BeforeFirst::nothing;
  return [before](RunContext& run) {
    ScratchVector<std::int64_t> axes, steps;
    std::optional<std::span<const std::int64_t>> given_axes, given_steps;
    if (const Tensor* input = run.optional_tensor(3)) given_axes = axes = list_of(*input);
    if (const Tensor* input = run.optional_tensor(4)) given_steps = steps = list_of(*input);
    run.set_output(0, slice(run.tensor(0), list_of(run.tensor(1)), list_of(run.tensor(2)), given_axes,
                            given_steps, before));
  };
}

RunFunction prepare_slice_1(PrepareContext& node) {
  const auto starts = node.ints_attribute("starts");
  const auto ends = node.ints_attribute("ends");
  const bool has_axes = node.has_attribute("axes");
  const auto axes = node.ints_attribute("axes");
  return [=](RunContext& run) {
    std::optional<std::span<const std::int64_t>> given_axes;
    if (has_axes) given_axes = axes;
    run.set_output(0, slice(run.tensor(0), starts, ends, given_axes, std::nullopt, BeforeFirst::nothing));
  };
}

}  // namespace

std::vector<OpRow> op_rows_slice() {
  return {{"", "Slice", {1}, prepare_slice_1},
          {"", "Slice", {10, 11, 13}, prepare_slice},
          {"", "DynamicSlice", {1}, prepare_slice}};
}

}  // namespace grurun::engine
