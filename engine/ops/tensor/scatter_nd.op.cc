// ScatterND (ai.onnx 11, 13, 16, 18).
//
// output is data, in which for each tuple t = indices[i..., :] the slice output[t] = reduce(what is there,
// updates[i...]). Indices count from the end when negative.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/scatter_reduction.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

void scatter(Tensor& out, const Tensor& indices, const Tensor& updates, ScatterReduction reduction) {
  if (out.rank() < 1 || indices.rank() < 1) refuse();
  const std::int64_t tuple = indices.dim(indices.rank() - 1);
  if (tuple > static_cast<std::int64_t>(out.rank())) refuse();
  const auto indexed = static_cast<std::size_t>(tuple);
  Shape wanted;
  for (std::size_t d = 0; d + 1 < indices.rank(); ++d) wanted.push_back(indices.dim(d));
  for (std::size_t d = indexed; d < out.rank(); ++d) wanted.push_back(out.dim(d));
  if (!(updates.shape() == wanted)) refuse();
  const ScratchVector<std::int64_t> strides = row_major_strides(out.shape());
  const std::int64_t slice = out.shape().count(indexed, out.rank());
  const std::int64_t tuples = indices.shape().count(0, indices.rank() - 1);
  const std::int64_t* place = indices.data<std::int64_t>();
  for (std::int64_t i = 0; i < tuples; ++i) {
    std::int64_t to = 0;
    for (std::size_t d = 0; d < indexed; ++d, ++place) {
      const std::int64_t at = *place < 0 ? *place + out.dim(d) : *place;
      if (at < 0 || at >= out.dim(d)) refuse();
      to += at * strides[d];
    }
    scatter_into(out, to, updates, i * slice, slice, reduction);
  }
}

RunFunction prepare_scatter_nd(PrepareContext& node) {
  const ScatterReduction reduction = scatter_reduction(node);
  return [reduction](RunContext& run) {
    const Tensor& indices = run.tensor(1);
    const Tensor& updates = run.tensor(2);
    Tensor out = run.take_tensor(0);
    scatter(out, indices, updates, reduction);
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_scatter_nd() {
  return {{"", "ScatterND", {11, 13, 16, 18}, prepare_scatter_nd}};
}

}  // namespace grurun::engine
