#include "engine/ops/shared/integer_list.h"

#include <algorithm>

#include "engine/graph/refusal.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

ScratchVector<std::int64_t> integer_list(const Tensor& tensor) {
  if (tensor.rank() > 1) refuse();
  if (tensor.dtype() == DType::int32) {
    const auto values = tensor.span<std::int32_t>();
    return {values.begin(), values.end()};
  }
  if (tensor.dtype() != DType::int64) refuse();
  const auto values = tensor.span<std::int64_t>();
  return {values.begin(), values.end()};
}

std::int64_t integer_scalar(const Tensor& tensor) {
  if (tensor.size() != 1) refuse();
  return integer_list(tensor).front();
}

ScratchVector<std::int64_t> distinct_axes(std::span<const std::int64_t> axes, std::int64_t rank) {
  ScratchVector<std::int64_t> out;
  for (const std::int64_t axis : axes) out.push_back(normalized_axis(axis, rank));
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

ScratchVector<std::int64_t> normalized_axes(std::span<const std::int64_t> axes, std::int64_t rank) {
  ScratchVector<std::int64_t> out = distinct_axes(axes, rank);
  if (out.size() != axes.size()) refuse();
  return out;
}

}  // namespace grurun::engine
