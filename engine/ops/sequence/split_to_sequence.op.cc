// SplitToSequence (ai.onnx 11, 24).
//
// The input cut along axis (default 0) into a sequence. split: a list states each length; a scalar states one
// length for all, the last part being smaller when it does not divide; omitted: length 1 each, and then
// keepdims = 0 drops the axis.
#include "engine/graph/op_context.h"
#include "engine/ops/copy_elements.h"
#include "engine/ops/integer_list.h"
#include "engine/ops/strided.h"

namespace grurun::engine {

namespace {

ScratchVector<std::int64_t> part_lengths(const Tensor& split, std::int64_t length) {
  const ScratchVector<std::int64_t> stated = integer_list(split, "split");
  if (split.rank() == 1) {
    std::int64_t sum = 0;
    for (const std::int64_t part : stated) {
      if (part < 0) fail_invalid("split holds {}", part);
      sum = checked_add(sum, part);
    }
    if (sum != length) fail_invalid("the parts in split sum to {}, but the axis has length {}", sum, length);
    return stated;
  }
  if (stated[0] <= 0) fail_invalid("split is {}, but must be positive", stated[0]);
  ScratchVector<std::int64_t> parts;
  for (std::int64_t at = 0; at < length; at += std::min(stated[0], length - at)) {
    parts.push_back(std::min(stated[0], length - at));
  }
  return parts;
}

RunFunction prepare_split_to_sequence(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  const bool keepdims = node.int_attribute("keepdims", 1) != 0;
  return [axis, keepdims](RunContext& run) {
    const Tensor& input = run.tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(input.rank())));
    const std::int64_t length = input.dim(at);
    Sequence out{ValueType::tensor(input.dtype()), {}};
    if (!run.has_input(1) && !keepdims) {
      for (std::int64_t i = 0; i < length; ++i) out.items.emplace_back(slice_at(input, at, i));
      return run.set_output(0, std::move(out));
    }
    const ScratchVector<std::int64_t> parts =
        run.has_input(1) ? part_lengths(run.tensor(1), length)
                         : ScratchVector<std::int64_t>(static_cast<std::size_t>(length), 1);
    const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
    std::int64_t place = 0;
    for (const std::int64_t part : parts) {
      Shape shape = input.shape();
      shape[at] = part;
      out.items.emplace_back(strided_copy(input, place * strides[at], shape, strides));
      place += part;
    }
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_split_to_sequence() {
  return {{"", "SplitToSequence", {11, 24}, prepare_split_to_sequence}};
}

}  // namespace grurun::engine
