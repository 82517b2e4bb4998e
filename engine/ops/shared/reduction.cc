#include "engine/ops/shared/reduction.h"

#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

ReductionShape reduction_shape(const Shape& input, std::span<const std::int64_t> axes, bool keepdims) {
  ScratchVector<bool> is_reduced(input.rank(), false);
  for (const std::int64_t axis : axes) is_reduced[static_cast<std::size_t>(axis)] = true;
  ReductionShape shape;
  for (std::size_t d = 0; d < input.rank(); ++d) {
    if (is_reduced[d]) shape.count = checked_mul(shape.count, input[d]);
    if (!is_reduced[d]) shape.output.push_back(input[d]);
    if (is_reduced[d] && keepdims) shape.output.push_back(1);
  }
  bool first = true;
  bool last_kind = false;
  // An input without elements may overflow it, and the extents: nothing is read then.
  std::int64_t stride = 1;
  for (std::size_t d = input.rank(); d-- > 0;) {
    const std::int64_t extent = input[d];
    if (extent == 1) continue;
    ScratchVector<ReductionShape::Dim>& dims = is_reduced[d] ? shape.reduced : shape.kept;
    if (first) shape.inner_reduced = is_reduced[d];
    if (!first && is_reduced[d] == last_kind) {
      dims.back().extent = wrapping_mul(dims.back().extent, extent);
    } else {
      dims.push_back({extent, stride});
    }
    first = false;
    last_kind = is_reduced[d];
    stride = wrapping_mul(stride, extent);
  }
  std::reverse(shape.kept.begin(), shape.kept.end());
  std::reverse(shape.reduced.begin(), shape.reduced.end());
  return shape;
}

namespace detail {

Odometer::Odometer(const ReductionShape::Dim* dims, std::size_t rank, std::int64_t position)
    : dims_(dims), rank_(rank), far_(rank <= near_.size() ? 0 : rank) {
  index_ = far_.empty() ? near_.data() : far_.data();
  for (std::size_t d = rank; d-- > 0;) {
    index_[d] = position % dims[d].extent;
    position /= dims[d].extent;
    offset_ += index_[d] * dims[d].stride;
  }
}

}  // namespace detail

}  // namespace grurun::engine
