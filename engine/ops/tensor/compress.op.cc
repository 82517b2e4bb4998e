// Compress (ai.onnx 9, 11, 28).
//
// The slices of input along axis whose condition (bool [n], n at most the axis' length) is true; without
// axis, of the input flattened. axis counts from the end when negative since 11.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

Tensor compress(const Tensor& input, const Tensor& condition, std::size_t axis) {
  const std::int64_t length = input.dim(axis);
  if (condition.rank() != 1 || condition.size() > length) refuse();
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < condition.size(); ++i) {
    if (condition.data<bool>()[i]) kept.push_back(i);
  }
  Shape shape = input.shape();
  const auto count = static_cast<std::int64_t>(kept.size());
  shape[axis] = count;
  Tensor out(input.dtype(), shape);
  if (out.size() == 0) return out;
  const std::int64_t before = shape.count(0, axis);
  const std::int64_t after = shape.count(axis + 1, shape.rank());
  for (std::int64_t a = 0; a < before; ++a) {
    for (std::int64_t i = 0; i < count; ++i) {
      copy_elements(out, (a * count + i) * after, input,
                    (a * length + kept[static_cast<std::size_t>(i)]) * after, after);
    }
  }
  return out;
}

RunFunction prepare_compress(PrepareContext& node) {
  const auto axis = node.optional_int("axis");
  return [axis](RunContext& run) {
    const Tensor& input = run.tensor(0);
    const Tensor& condition = run.tensor(1);
    if (input.rank() == 0) refuse();
    if (!axis) return run.set_output(0, compress(input.reshaped(Shape{input.size()}), condition, 0));
    const std::int64_t at = normalized_axis(*axis, static_cast<std::int64_t>(input.rank()));
    run.set_output(0, compress(input, condition, static_cast<std::size_t>(at)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_compress() {
  return {{"", "Compress", {9, 11, 28}, prepare_compress}};
}

}  // namespace grurun::engine
