// Gather (ai.onnx 1, 11, 13).
//
// output[a..., i..., b...] = data[a..., indices[i...], b...] with indices in place of the axis (default 0).
// Indices (int32 or int64) count from the end when negative since 11; one out of range is an error.
#include "engine/graph/op_context.h"
#include "engine/ops/copy_elements.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

namespace {

template <typename Index>
Tensor gather(const Tensor& data, const Tensor& indices, std::size_t axis, bool from_end) {
  const std::int64_t length = data.dim(axis);
  const std::int64_t before = data.shape().count(0, axis);
  const std::int64_t after = data.shape().count(axis + 1, data.rank());
  Shape shape;
  for (std::size_t d = 0; d < axis; ++d) shape.push_back(data.dim(d));
  for (const std::int64_t dim : indices.shape()) shape.push_back(dim);
  for (std::size_t d = axis + 1; d < data.rank(); ++d) shape.push_back(data.dim(d));
  Tensor out(data.dtype(), shape);
  const auto places = indices.span<Index>();
  const auto count = static_cast<std::int64_t>(places.size());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = places[static_cast<std::size_t>(i)];
    if (place < 0 && from_end) place += length;
    if (place < 0 || place >= length) {
      fail_invalid("indices holds {}, but axis {} has length {}", places[static_cast<std::size_t>(i)], axis,
                   length);
    }
    for (std::int64_t a = 0; a < before; ++a) {
      copy_elements(out, (a * count + i) * after, data, (a * length + place) * after, after);
    }
  }
  return out;
}

RunFunction prepare_gather(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 0);
  const bool from_end = node.since_version() >= 11;
  return [axis, from_end](RunContext& run) {
    const Tensor& data = run.tensor(0);
    const Tensor& indices = run.tensor(1);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(data.rank())));
    run.set_output(0, dispatch(TypeList<std::int32_t, std::int64_t>{}, indices.dtype(),
                               [&]<typename Index>() { return gather<Index>(data, indices, at, from_end); }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_gather() {
  return {{"", "Gather", {1, 11, 13}, prepare_gather}};
}

}  // namespace grurun::engine
