#include "onnx_io/values/stored_elements.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "tensor/error.h"

namespace grurun::onnx_io {

std::int64_t stored_elements(std::span<const std::int64_t> dims) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 64;
  std::int64_t count = std::ranges::find(dims, 0) != dims.end() ? 0 : 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) fail_invalid("dimension {} is negative", dim);
    if (__builtin_mul_overflow(count, dim, &count) || count > most)
      fail_invalid("shape [{}] has more elements than any memory holds", fmt::join(dims, ","));
  }
  return count;
}

}  // namespace grurun::onnx_io
