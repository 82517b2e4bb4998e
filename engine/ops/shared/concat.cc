#include "engine/ops/shared/concat.h"

#include <array>
#include <utility>

#include "engine/graph/refusal.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

Joined joined(std::span<const Tensor> tensors, std::int64_t axis) {
  if (tensors.empty()) refuse();
  const Tensor& first = tensors.front();
  const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(first.rank())));
  Shape shape = first.shape();
  shape[at] = 0;
  for (const Tensor& tensor : tensors) {
    bool fits = tensor.rank() == first.rank();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) fits = d == at || tensor.dim(d) == first.dim(d);
    if (!fits) refuse();
    shape[at] = checked_add(shape[at], tensor.dim(at));
  }
  return {std::move(shape), at};
}

Tensor concat(std::span<const Tensor> tensors, std::int64_t axis) {
  const auto [shape, at] = joined(tensors, axis);
  const DType dtype = tensors.front().dtype();
  for (const Tensor& tensor : tensors)
    if (tensor.dtype() != dtype) refuse();
  Tensor out(dtype, shape);
  if (out.size() == 0) return out;
  const std::int64_t before = shape.count(0, at), row = shape.count(at, shape.rank());
  std::int64_t place = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t run = tensor.shape().count(at, shape.rank());
    strided_copy_into(out, place, std::array{row, std::int64_t{1}}, tensor, 0,
                      std::array{run, std::int64_t{1}}, Shape{before, run});
    place += run;
  }
  return out;
}

}  // namespace grurun::engine
