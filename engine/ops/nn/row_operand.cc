#include "engine/ops/nn/row_operand.h"

#include "engine/graph/refusal.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

namespace {

// Strides that read operand as a tensor of x's shape, zero where it repeats.
ScratchVector<std::int64_t> broadcast_strides(const Tensor& operand, const Shape& x) {
  const std::size_t missing = x.rank() - std::min(x.rank(), operand.rank());
  const ScratchVector<std::int64_t> own = row_major_strides(operand.shape());
  ScratchVector<std::int64_t> strides(x.rank(), 0);
  bool fits = operand.rank() <= x.rank();
  for (std::size_t d = 0; fits && d < operand.rank(); ++d) {
    if (operand.dim(d) == x[missing + d]) {
      strides[missing + d] = own[d];
    } else {
      fits = operand.dim(d) == 1;
    }
  }
  if (!fits) refuse();
  return strides;
}

}  // namespace

template <typename C>
RowOperand<C>::RowOperand(const Tensor& operand, const Shape& x, std::size_t axis) {
  ScratchVector<std::int64_t> strides = broadcast_strides(operand, x);
  bool repeats = true;  // along every axis before the rows
  for (std::size_t d = 0; d < axis; ++d) repeats = repeats && (strides[d] == 0 || x[d] == 1);
  const std::size_t from = repeats ? axis : 0;
  Shape shape(x.dims().subspan(from));
  strides.erase(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(from));
  step_ = repeats ? 0 : x.count(axis, x.rank());
  const bool as_it_is = operand.size() == shape.element_count();
  values_ = widened<C>(as_it_is ? operand.reshaped(shape) : strided_copy(operand, 0, shape, strides));
}

template class RowOperand<float>;
template class RowOperand<double>;

}  // namespace grurun::engine
