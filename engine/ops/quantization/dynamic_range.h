// The range that values take, widened to hold 0, as the scale and zero point of uint8: the rule of
// DynamicQuantizeLinear.
#pragma once

#include <cstdint>

namespace grurun::engine {

struct DynamicRange {
  float scale;  // (max(0, max(x)) - min(0, min(x))) / 255; 1 / 255 where x is 0 throughout; NaN if an x is
  std::uint8_t zero_point;  // round(saturate(-min(0, min(x)) / scale)), ties to even
};

DynamicRange dynamic_range(const float* x, std::int64_t n);

}  // namespace grurun::engine
