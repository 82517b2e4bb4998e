// Split (ai.onnx 1, 2, 11, 13, 18).
//
// The input cut along axis (default 0) into as many parts as there are outputs: of the lengths that split
// states (attribute before 13, in version 1 an input of floats too), else of equal length. Since 18
// num_outputs states the number; the last part is smaller when the length does not divide.
#include <cmath>
#include <numeric>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

ScratchVector<std::int64_t> equal_parts(std::int64_t length, std::int64_t parts, bool uneven) {
  if (!uneven && length % parts != 0) refuse();
  const std::int64_t part = length / parts + (length % parts != 0 ? 1 : 0);
  ScratchVector<std::int64_t> lengths;
  std::int64_t left = length;
  for (std::int64_t i = 0; i < parts; ++i) {
    lengths.push_back(std::min(part, left));
    left -= lengths.back();
  }
  return lengths;
}

// Version 1 gives the lengths the input's type T, which is float16, float or double.
ScratchVector<std::int64_t> stated_lengths(const Tensor& split) {
  if (!is_floating(split.dtype())) return integer_list(split);
  if (split.rank() > 1) refuse();
  const Tensor wide = cast_tensor(split, DType::float64);
  ScratchVector<std::int64_t> lengths;
  for (const double length : wide.span<double>()) {
    if (!(length >= 0 && length <= 0x1p53 && length == std::floor(length))) refuse();
    lengths.push_back(static_cast<std::int64_t>(length));
  }
  return lengths;
}

void split(RunContext& run, std::int64_t axis, std::span<const std::int64_t> lengths) {
  const Tensor& input = run.tensor(0);
  const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(input.rank())));
  if (lengths.size() != run.output_count()) refuse();
  std::int64_t sum = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) refuse();
    sum = checked_add(sum, length);
  }
  if (sum != input.dim(at)) refuse();
  const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
  std::int64_t place = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Shape shape = input.shape();
    shape[at] = lengths[i];
    if (run.has_output(i)) run.set_output(i, strided_copy(input, place * strides[at], shape, strides));
    place += lengths[i];
  }
}

RunFunction prepare_split(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  const int version = node.since_version();
  const bool split_is_input = version == 1 || version >= 13;
  const bool has_attribute = version < 13 && node.has_attribute("split");
  std::vector<std::int64_t> stated;
  if (has_attribute) stated = node.ints_attribute("split");
  const auto num_outputs = version >= 18 ? node.optional_int("num_outputs") : std::nullopt;
  if (version >= 18 && num_outputs.has_value() == node.has_input(1)) refuse();
  if (num_outputs && *num_outputs != static_cast<std::int64_t>(node.output_count())) refuse();
  return [=](RunContext& run) {
    const Tensor& input = run.tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(input.rank())));
    if (has_attribute) {
      if (run.has_input(1)) refuse();
      return split(run, axis, stated);
    }
    if (split_is_input && run.has_input(1)) return split(run, axis, stated_lengths(run.tensor(1)));
    const auto parts = static_cast<std::int64_t>(run.output_count());
    split(run, axis, equal_parts(input.dim(at), parts, num_outputs.has_value()));
  };
}

}  // namespace

std::vector<OpRow> op_rows_split() {
  return {{"", "Split", {1, 2, 11, 13, 18}, prepare_split}};
}

}  // namespace grurun::engine
