// Reshape (ai.onnx 1, 5, 13, 14, 19, 21, 23, 24, 25).
//
// reshaped has the elements of data under another shape. A 0 in the shape copies the input's dimension of
// that place (unless allowzero is 1, since 14); one -1 is worked out from the rest. Version 1 takes the shape
// as an attribute.
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"

namespace grurun::engine {

namespace {

Shape resolve(const Shape& input, std::span<const std::int64_t> wanted, bool allow_zero) {
  Shape shape(wanted);
  std::optional<std::size_t> open;
  std::int64_t known = 1;
  bool has_zero = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1) refuse();
    if (wanted[i] == -1) {
      if (open) refuse();
      open = i;
      continue;
    }
    if (wanted[i] == 0 && !allow_zero) {
      if (i >= input.rank()) refuse();
      shape[i] = input[i];
    }
    has_zero = has_zero || shape[i] == 0;
    known = checked_mul(known, shape[i]);
  }
  const std::int64_t count = input.element_count();
  if (open) {
    if (allow_zero && has_zero) refuse();
    if (known == 0 ? count != 0 : count % known != 0) refuse();
    shape[*open] = known == 0 ? 0 : count / known;
  } else if (known != count)
    refuse();
  return shape;
}

RunFunction prepare_reshape(PrepareContext& node) {
  const bool allow_zero = node.since_version() >= 14 && node.int_attribute("allowzero", 0) != 0;
  return [allow_zero](RunContext& run) {
    if (run.tensor(1).rank() != 1) refuse();
    const ScratchVector<std::int64_t> wanted = integer_list(run.tensor(1));
    Tensor data = run.take_tensor(0);
    run.set_output(0, data.reshaped(resolve(data.shape(), wanted, allow_zero)));
  };
}

RunFunction prepare_reshape_1(PrepareContext& node) {
  const auto wanted = node.ints_attribute("shape");
  return [wanted](RunContext& run) {
    Tensor data = run.take_tensor(0);
    run.set_output(0, data.reshaped(resolve(data.shape(), wanted, false)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_reshape() {
  return {{"", "Reshape", {1}, prepare_reshape_1},
          {"", "Reshape", {5, 13, 14, 19, 21, 23, 24, 25}, prepare_reshape}};
}

}  // namespace grurun::engine
