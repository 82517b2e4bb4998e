// SplitToSequence (ai.onnx 11, 24).
//
// The input cut along axis (default 0) into a sequence. split: a list states each length; a scalar states one
// length for all, the last part being smaller when it does not divide; omitted: length 1 each, and then
// keepdims = 0 drops the axis.
#include <algorithm>

#include "engine/graph/executor.h"
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

ScratchVector<std::int64_t> part_lengths(const Tensor& split, std::int64_t length) {
  const ScratchVector<std::int64_t> stated = integer_list(split);
  if (stated.empty()) refuse();
  std::int64_t sum = 0;
  for (const std::int64_t part : stated) {
    if (part < 0) refuse();
    sum = checked_add(sum, part);
  }
  if (sum != length) refuse();
  return stated;
}

std::int64_t part_length(const Tensor& split) {
  const std::int64_t stated = integer_list(split)[0];
  if (stated <= 0) refuse();
  return stated;
}

// An axis of a tensor without elements may be of any length. Throws Error(limit).
void require_countable(RunContext& run, std::int64_t length, std::int64_t part) {
  const std::int64_t parts = length / part + (length % part != 0 ? 1 : 0);
  const std::int64_t most = run.options().max_iterations;
  if (parts > most)
    fail(ErrorKind::limit, "the sequence would hold {} tensors, which is more than {}", parts, most);
}

// All parts are of one length, but for the last.
Sequence equal_parts(RunContext& run, std::size_t axis, std::int64_t part, bool keepdims) {
  const Tensor& input = run.tensor(0);
  const std::int64_t length = input.dim(axis);
  require_countable(run, length, part);
  const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
  Sequence out{ValueType::tensor(input.dtype()), {}};
  Shape shape = input.shape();
  for (std::int64_t at = 0; at < length; at += shape[axis]) {
    if (out.items.size() % 1024 == 1023) run.check_limits();
    shape[axis] = std::min(part, length - at);
    out.items.emplace_back(keepdims ? strided_copy(input, at * strides[axis], shape, strides)
                                    : slice_at(input, axis, at));
  }
  return out;
}

Sequence stated_parts(const Tensor& input, std::size_t axis, const Tensor& split) {
  const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
  Sequence out{ValueType::tensor(input.dtype()), {}};
  std::int64_t place = 0;
  for (const std::int64_t part : part_lengths(split, input.dim(axis))) {
    Shape shape = input.shape();
    shape[axis] = part;
    out.items.emplace_back(strided_copy(input, place * strides[axis], shape, strides));
    place += part;
  }
  return out;
}

RunFunction prepare_split_to_sequence(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  const bool keepdims = node.flag_attribute("keepdims", true);
  return [axis, keepdims](RunContext& run) {
    const Tensor& input = run.tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(input.rank())));
    const Tensor* split = run.optional_tensor(1);
    if (split == nullptr) return run.set_output(0, equal_parts(run, at, 1, keepdims));
    if (split->rank() == 1) return run.set_output(0, stated_parts(input, at, *split));
    run.set_output(0, equal_parts(run, at, part_length(*split), true));
  };
}

}  // namespace

std::vector<OpRow> op_rows_split_to_sequence() {
  return {{"", "SplitToSequence", {11, 24}, prepare_split_to_sequence}};
}

}  // namespace grurun::engine
