// Transpose (ai.onnx 1, 13, 21, 23, 24, 25).
//
// transposed[i_perm[0], i_perm[1], ...] = data[i_0, i_1, ...]; without perm the axes are reversed.
#include <algorithm>
#include <numeric>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

RunFunction prepare_transpose(PrepareContext& node) {
  const bool given = node.has_attribute("perm");
  const std::vector<std::int64_t> attribute = node.ints_attribute("perm");
  return [given, attribute](RunContext& run) {
    const Tensor& data = run.tensor(0);
    ScratchVector<std::int64_t> perm(attribute.begin(), attribute.end());
    if (!given) {
      perm.resize(data.rank());
      std::iota(perm.rbegin(), perm.rend(), 0);
    }
    ScratchVector<std::int64_t> sorted = perm;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size() || i < data.rank(); ++i) {
      if (sorted.size() != data.rank() || sorted[i] != static_cast<std::int64_t>(i)) refuse();
    }
    const ScratchVector<std::int64_t> strides = row_major_strides(data.shape());
    Shape shape;
    ScratchVector<std::int64_t> from;
    for (const std::int64_t axis : perm) {
      shape.push_back(data.dim(static_cast<std::size_t>(axis)));
      from.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    run.set_output(0, strided_copy(data, 0, shape, from));
  };
}

}  // namespace

std::vector<OpRow> op_rows_transpose() {
  return {{"", "Transpose", {1, 13, 21, 23, 24, 25}, prepare_transpose}};
}

}  // namespace grurun::engine
