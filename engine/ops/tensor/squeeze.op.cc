// Squeeze and Unsqueeze (ai.onnx 1, 11, 13, 21, 23, 24, 25).
//
// Squeeze drops the axes named, or all of size 1 when none are named. Unsqueeze puts axes of size 1 so that
// they stand at the places named in the result. axes is an attribute before 13 (negative since 11) and an
// input from 13 on.
#include <algorithm>
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"

namespace grurun::engine {

namespace {

using Axes = std::optional<std::span<const std::int64_t>>;
using Rule = Shape (*)(const Shape&, const Axes&);

Shape squeezed(const Shape& shape, const Axes& named) {
  Shape out;
  if (!named) {
    for (const std::int64_t dim : shape) {
      if (dim != 1) out.push_back(dim);
    }
    return out;
  }
  ScratchVector<bool> drops(shape.rank(), false);  // "axes" may name one twice
  for (const std::int64_t axis : *named)
    drops[static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(shape.rank())))] = true;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool drop = drops[i];
    if (drop && shape[i] != 1) refuse();
    if (!drop) out.push_back(shape[i]);
  }
  return out;
}

Shape unsqueezed(const Shape& shape, const Axes& named) {
  const std::size_t rank = shape.rank() + named->size();
  const auto axes = normalized_axes(*named, static_cast<std::int64_t>(rank));
  Shape out;
  const std::int64_t* next = shape.begin();
  for (std::size_t i = 0; i < rank; ++i) {
    out.push_back(std::ranges::binary_search(axes, static_cast<std::int64_t>(i)) ? 1 : *next++);
  }
  return out;
}

RunFunction prepare_squeeze(PrepareContext& node, Rule rule) {
  if (node.since_version() >= 13) {
    return [rule](RunContext& run) {
      ScratchVector<std::int64_t> list;
      Axes axes;
      if (const Tensor* given = run.optional_tensor(1)) axes = list = integer_list(*given);
      Tensor data = run.take_tensor(0);
      run.set_output(0, data.reshaped(rule(data.shape(), axes)));
    };
  }
  std::optional<std::vector<std::int64_t>> list;
  if (node.has_attribute("axes")) list = node.ints_attribute("axes");
  const bool from_end = node.since_version() >= 11;
  if (list && !from_end && std::ranges::any_of(*list, [](std::int64_t axis) { return axis < 0; })) refuse();
  return [rule, list](RunContext& run) {
    Axes axes;
    if (list) axes = *list;
    Tensor data = run.take_tensor(0);
    run.set_output(0, data.reshaped(rule(data.shape(), axes)));
  };
}

RunFunction prepare_squeeze(PrepareContext& node) {
  return prepare_squeeze(node, squeezed);
}
RunFunction prepare_unsqueeze(PrepareContext& node) {
  return prepare_squeeze(node, unsqueezed);
}

}  // namespace

std::vector<OpRow> op_rows_squeeze() {
  return {{"", "Squeeze", {1, 11, 13, 21, 23, 24, 25}, prepare_squeeze},
          {"", "Unsqueeze", {1, 11, 13, 21, 23, 24, 25}, prepare_unsqueeze}};
}

}  // namespace grurun::engine
