#include "engine/ops/quantization/dynamic_range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

struct Extremes {
  float least, most;  // NaN stays: it must not pass for a range
};

Extremes extremes(const float* x, std::int64_t n) {
  constexpr std::int64_t block = 4096;  // of which a thread takes some
  if (n <= block) {
    Extremes out;
    kernels::reduce_min_max(x, n, &out.least, &out.most);
    return out;
  }
  const std::int64_t blocks = (n - 1) / block + 1;
  ScratchVector<float> least(static_cast<std::size_t>(blocks)), most(least.size());
  kernels::parallel_for(blocks, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      const Extremes here = extremes(x + b * block, std::min(block, n - b * block));
      least[static_cast<std::size_t>(b)] = here.least;
      most[static_cast<std::size_t>(b)] = here.most;
    }
  });
  return {kernels::reduce_min(least.data(), blocks), kernels::reduce_max(most.data(), blocks)};
}

}  // namespace

DynamicRange dynamic_range(const float* x, std::int64_t n) {
  const auto [least, most] = extremes(x, n);
  const float high = most < 0 ? 0.0f : most, low = least > 0 ? 0.0f : least;
  const float scale = (high == low ? 1.0f : high - low) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  return {scale, static_cast<std::uint8_t>(std::isnan(zero) ? 0 : zero)};
}

}  // namespace grurun::engine
