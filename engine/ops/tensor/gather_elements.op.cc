// GatherElements (ai.onnx 11, 13).
//
// output[i...] = data[i... with the place on axis replaced by indices[i...]]; output has the shape of
// indices, whose other dimensions must not pass those of data. Indices count from the end when negative.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/index_loop.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

template <typename Index>
Tensor gather(const Tensor& data, const Tensor& indices, std::size_t axis) {
  if (indices.rank() != data.rank()) refuse();
  for (std::size_t d = 0; d < data.rank(); ++d) {
    if (d != axis && indices.dim(d) > data.dim(d)) refuse();
  }
  ScratchVector<std::int64_t> strides = row_major_strides(data.shape());
  const std::int64_t stride = strides[axis];
  const std::int64_t length = data.dim(axis);
  strides[axis] = 0;
  Shape rows = indices.shape();
  const std::int64_t width = rows[rows.rank() - 1];
  const std::int64_t step = strides[rows.rank() - 1];
  rows[rows.rank() - 1] = 1;
  const Index* places = indices.data<Index>();
  Tensor out(data.dtype(), indices.shape());
  if (out.size() == 0) return out;
  dispatch_width(data.dtype(), [&]<typename T>() {
    const T* from = static_cast<const T*>(data.raw());
    T* to = static_cast<T*>(out.mutable_raw());
    for_each_index<1>(rows, {strides}, [&](const auto&, const auto& offsets) {
      const T* row = from + offsets[0];
      for (std::int64_t i = 0; i < width; ++i, row += step) {
        std::int64_t place = *places++;
        if (place < 0) place += length;
        if (place < 0 || place >= length) refuse();
        *to++ = row[place * stride];
      }
    });
  });
  return out;
}

RunFunction prepare_gather_elements(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  return [axis](RunContext& run) {
    const Tensor& data = run.tensor(0);
    const Tensor& indices = run.tensor(1);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(data.rank())));
    run.set_output(0, dispatch(TypeList<std::int32_t, std::int64_t>{}, indices.dtype(),
                               [&]<typename Index>() { return gather<Index>(data, indices, at); }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_gather_elements() {
  return {{"", "GatherElements", {11, 13}, prepare_gather_elements}};
}

}  // namespace grurun::engine
