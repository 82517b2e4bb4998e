// ScatterElements (ai.onnx 11, 13, 16, 18) and its old name Scatter (ai.onnx 9, 11).
//
// output is data, in which for each i of indices (the shape of updates)
//   output[i... with the place on axis replaced by indices[i...]] = reduce(what is there, updates[i...])
// Indices count from the end when negative; Scatter-9 does not say so, nor that they must not.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/index_loop.h"
#include "engine/ops/shared/scatter_reduction.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

void check_shapes(const Tensor& data, const Tensor& indices, const Tensor& updates, std::size_t axis) {
  bool fits = indices.rank() == data.rank() && indices.shape() == updates.shape();
  for (std::size_t d = 0; fits && d < data.rank(); ++d) fits = d == axis || indices.dim(d) <= data.dim(d);
  if (fits) return;
  refuse();
}

template <typename Index>
void scatter(Tensor& out, const Tensor& indices, const Tensor& updates, std::size_t axis,
             ScatterReduction reduction) {
  ScratchVector<std::int64_t> strides = row_major_strides(out.shape());
  const std::int64_t stride = strides[axis];
  const std::int64_t length = out.dim(axis);
  strides[axis] = 0;
  const Index* places = indices.data<Index>();
  constexpr std::size_t batch = 1024;
  ScratchVector<std::int64_t> found;
  found.reserve(batch);
  std::int64_t n = 0, done = 0;
  for_each_index<1>(indices.shape(), {strides}, [&](const auto&, const auto& offsets) {
    const std::int64_t place = places[n] < 0 ? places[n] + length : places[n];
    if (place < 0 || place >= length) refuse();
    found.push_back(offsets[0] + place * stride);
    ++n;
    if (found.size() < batch) return;
    scatter_at(out, found, updates, done, reduction);
    done = n;
    found.clear();
  });
  scatter_at(out, found, updates, done, reduction);
}

RunFunction prepare_scatter_elements(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  const ScatterReduction reduction = scatter_reduction(node);
  return [axis, reduction](RunContext& run) {
    const Tensor& indices = run.tensor(1);
    const Tensor& updates = run.tensor(2);
    Tensor out = run.take_tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(out.rank())));
    check_shapes(out, indices, updates, at);
    dispatch(TypeList<std::int32_t, std::int64_t>{}, indices.dtype(),
             [&]<typename Index>() { scatter<Index>(out, indices, updates, at, reduction); });
    run.set_output(0, std::move(out));
  };
}

}  // namespace

std::vector<OpRow> op_rows_scatter_elements() {
  return {{"", "ScatterElements", {11, 13, 16, 18}, prepare_scatter_elements},
          {"", "Scatter", {9, 11}, prepare_scatter_elements}};
}

}  // namespace grurun::engine
