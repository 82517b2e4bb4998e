#include "engine/ops/shared/copy_elements.h"

#include <algorithm>
#include <cstring>

#include "engine/graph/refusal.h"

namespace grurun::engine {

void copy_elements(Tensor& target, std::int64_t target_at, const Tensor& source, std::int64_t source_at,
                   std::int64_t count) {
  if (count == 0) return;
  if (source.dtype() == DType::string) {
    std::copy_n(source.data<std::string>() + source_at, count,
                target.mutable_data<std::string>() + target_at);
    return;
  }
  const std::size_t width = dtype_size(source.dtype());
  std::memcpy(static_cast<char*>(target.mutable_raw()) + static_cast<std::size_t>(target_at) * width,
              static_cast<const char*>(source.raw()) + static_cast<std::size_t>(source_at) * width,
              static_cast<std::size_t>(count) * width);
}

Tensor slice_at(const Tensor& tensor, std::size_t axis, std::int64_t index) {
  Shape shape = tensor.shape();
  const std::int64_t length = shape[axis];
  const std::int64_t before = shape.count(0, axis);
  const std::int64_t after = shape.count(axis + 1, shape.rank());
  shape.erase(axis);
  Tensor out(tensor.dtype(), shape);
  if (out.size() == 0) return out;  // before may be any number
  for (std::int64_t i = 0; i < before; ++i)
    copy_elements(out, i * after, tensor, (i * length + index) * after, after);
  return out;
}

Tensor stack(std::span<const Tensor> tensors, std::size_t axis) {
  const Tensor& first = tensors.front();
  const auto length = static_cast<std::int64_t>(tensors.size());
  const std::int64_t before = first.shape().count(0, axis);
  const std::int64_t after = first.shape().count(axis, first.rank());
  Shape shape = first.shape();
  shape.insert(axis, length);
  Tensor out(first.dtype(), shape);
  for (std::int64_t n = 0; n < length; ++n) {
    const Tensor& tensor = tensors[static_cast<std::size_t>(n)];
    if (tensor.dtype() != first.dtype() || !(tensor.shape() == first.shape())) refuse();
    for (std::int64_t i = 0; i < before && after != 0; ++i) {
      copy_elements(out, (i * length + n) * after, tensor, i * after, after);
    }
  }
  return out;
}

std::int64_t normalized_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) refuse();
  return axis < 0 ? axis + rank : axis;
}

}  // namespace grurun::engine
