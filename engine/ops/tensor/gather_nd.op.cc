// GatherND (ai.onnx 11, 12, 13).
//
// The last axis of indices holds tuples that index data after its first batch_dims axes (0 before version
// 12):
//   output[b..., i...] = data[b..., indices[b..., i..., 0], indices[b..., i..., 1], ...]
// which is a slice when the tuple is shorter than what is left of data's rank. Indices count from the end
// when negative.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

Tensor gather(const Tensor& data, const Tensor& indices, std::size_t batch_dims) {
  if (batch_dims >= std::min(data.rank(), indices.rank())) refuse();
  for (std::size_t d = 0; d < batch_dims; ++d) {
    if (data.dim(d) != indices.dim(d)) refuse();
  }
  const auto tuple = indices.dim(indices.rank() - 1);
  if (tuple < 1 || tuple > static_cast<std::int64_t>(data.rank() - batch_dims)) refuse();
  const std::size_t indexed = batch_dims + static_cast<std::size_t>(tuple);
  Shape shape;
  for (std::size_t d = 0; d + 1 < indices.rank(); ++d) shape.push_back(indices.dim(d));
  for (std::size_t d = indexed; d < data.rank(); ++d) shape.push_back(data.dim(d));
  Tensor out(data.dtype(), shape);
  if (indices.size() == 0) return out;
  const std::int64_t slice = data.shape().count(indexed, data.rank());
  const std::int64_t batches = data.shape().count(0, batch_dims);
  const std::int64_t per_batch = indices.shape().count(batch_dims, indices.rank() - 1);
  const ScratchVector<std::int64_t> strides = row_major_strides(data.shape());
  const std::int64_t batch_stride = data.shape().count(batch_dims, data.rank());
  const std::int64_t* place = indices.data<std::int64_t>();
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t i = 0; i < per_batch; ++i) {
      std::int64_t from = b * batch_stride;
      for (std::size_t d = batch_dims; d < indexed; ++d, ++place) {
        const std::int64_t at = *place < 0 ? *place + data.dim(d) : *place;
        if (at < 0 || at >= data.dim(d)) refuse();
        from += at * strides[d];
      }
      copy_elements(out, (b * per_batch + i) * slice, data, from, slice);
    }
  }
  return out;
}

RunFunction prepare_gather_nd(PrepareContext& node) {
  const std::int64_t batch_dims = node.since_version() >= 12 ? node.int_attribute("batch_dims", 0) : 0;
  if (batch_dims < 0) refuse();
  return [batch_dims](RunContext& run) {
    run.set_output(0, gather(run.tensor(0), run.tensor(1), static_cast<std::size_t>(batch_dims)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_gather_nd() {
  return {{"", "GatherND", {11, 12, 13}, prepare_gather_nd}};
}

}  // namespace grurun::engine
