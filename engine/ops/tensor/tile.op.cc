// Tile (ai.onnx 1, 6, 13).
//
// The input repeated along its axes. repeats lists a count for each axis; in version 1 the inputs are scalars
// tiles and axis, of the input's own type.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

Tensor tile(const Tensor& input, std::span<const std::int64_t> repeats) {
  if (repeats.size() != input.rank()) refuse();
  // Each axis becomes two, [repeat (stride 0), size], which is the tiled axis once they are seen as one.
  const ScratchVector<std::int64_t> strides = row_major_strides(input.shape());
  Shape split, joined;
  ScratchVector<std::int64_t> from;
  for (std::size_t d = 0; d < input.rank(); ++d) {
    if (repeats[d] < 0) refuse();
    split.push_back(repeats[d]);
    split.push_back(input.dim(d));
    from.push_back(0);
    from.push_back(strides[d]);
    joined.push_back(checked_mul(repeats[d], input.dim(d)));
  }
  return strided_copy(input, 0, split, from).reshaped(joined);
}

RunFunction prepare_tile(PrepareContext&) {
  return [](RunContext& run) {
    if (run.tensor(1).rank() != 1) refuse();
    run.set_output(0, tile(run.tensor(0), integer_list(run.tensor(1))));
  };
}

std::int64_t whole_number(const Tensor& tensor) {
  if (tensor.size() != 1 || tensor.rank() > 1) refuse();
  return dispatch(TypeList<float, double, Float16>{}, tensor.dtype(), [&]<typename T>() {
    const auto number = static_cast<double>(static_cast<ComputeType<T>>(*tensor.data<T>()));
    if (!(std::abs(number) < 0x1p62) || number != std::trunc(number)) refuse();
    return static_cast<std::int64_t>(number);
  });
}

RunFunction prepare_tile_1(PrepareContext&) {
  return [](RunContext& run) {
    const Tensor& input = run.tensor(0);
    ScratchVector<std::int64_t> repeats(input.rank(), 1);
    const std::int64_t axis = whole_number(run.tensor(2));
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(input.rank())));
    repeats[at] = whole_number(run.tensor(1));
    run.set_output(0, tile(input, repeats));
  };
}

}  // namespace

std::vector<OpRow> op_rows_tile() {
  return {{"", "Tile", {1}, prepare_tile_1}, {"", "Tile", {6, 13}, prepare_tile}};
}

}  // namespace grurun::engine
