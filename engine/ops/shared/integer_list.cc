#include "engine/ops/shared/integer_list.h"

#include <algorithm>

#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

ScratchVector<std::int64_t> integer_list(const Tensor& tensor, const char* what) {
  if (tensor.rank() > 1)
    fail_invalid("{} must be a list, but has shape {}", what, tensor.shape().to_string());
  if (tensor.dtype() == DType::int32) {
    const auto values = tensor.span<std::int32_t>();
    return {values.begin(), values.end()};
  }
  if (tensor.dtype() != DType::int64) {
    fail_invalid("{} must be int64 or int32, but is {}", what, dtype_name(tensor.dtype()));
  }
  const auto values = tensor.span<std::int64_t>();
  return {values.begin(), values.end()};
}

std::int64_t integer_scalar(const Tensor& tensor, const char* what) {
  if (tensor.size() != 1 || tensor.rank() > 1) {
    fail_invalid("{} must be a scalar, but has shape {}", what, tensor.shape().to_string());
  }
  return integer_list(tensor, what).front();
}

ScratchVector<std::int64_t> normalized_axes(std::span<const std::int64_t> axes, std::int64_t rank) {
  ScratchVector<std::int64_t> out;
  for (const std::int64_t axis : axes) out.push_back(normalized_axis(axis, rank, "axes"));
  std::ranges::sort(out);
  if (const auto twice = std::ranges::adjacent_find(out); twice != out.end()) {
    fail_invalid("axes names axis {} twice", *twice);
  }
  return out;
}

}  // namespace grurun::engine
