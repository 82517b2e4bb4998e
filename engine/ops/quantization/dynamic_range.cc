#include "engine/ops/quantization/dynamic_range.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/vec_reduce.h"

namespace grurun::engine {

DynamicRange dynamic_range(const float* x, std::int64_t n) {
  // NaN stays: it must not pass for a range.
  const float most = kernels::reduce_max(x, n), least = kernels::reduce_min(x, n);
  const float high = most < 0 ? 0.0f : most, low = least > 0 ? 0.0f : least;
  const float scale = (high == low ? 1.0f : high - low) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  return {scale, static_cast<std::uint8_t>(std::isnan(zero) ? 0 : zero)};
}

}  // namespace grurun::engine
