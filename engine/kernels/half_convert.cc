#include "engine/kernels/half_convert.h"

#include <bit>

namespace grurun::kernels {

namespace {

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
float from_bits(std::uint32_t word) {
  return std::bit_cast<float>(word);
}

}  // namespace

// The loops select instead of branching, so that the compiler makes vector code of them.

void widen(const Float16* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t half = x[i].bits;
    const std::uint32_t magnitude = (half & 0x7fffu) << 13;
    // The bits of a half, taken for a float's, are 2^112 too small, subnormals included.
    const std::uint32_t scaled = bits(from_bits(magnitude) * 0x1p112f);
    const std::uint32_t special = magnitude | 0x7f800000u;
    const std::uint32_t word = magnitude >= 0x0f800000u ? special : scaled;
    y[i] = from_bits(word | ((half & 0x8000u) << 16));
  }
}

void widen(const BFloat16* __restrict x, float* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = from_bits(static_cast<std::uint32_t>(x[i].bits) << 16);
}

void narrow(const float* __restrict x, Float16* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t word = bits(x[i]);
    const std::uint32_t magnitude = word & 0x7fffffffu;
    const std::uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
    // Adding 0.5 leaves a subnormal's units in the last bits of the sum, rounded by the hardware.
    const std::uint32_t subnormal = bits(from_bits(magnitude) + 0.5f) - 0x3f000000u;
    const std::uint32_t infinite = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const std::uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
    const std::uint32_t half = magnitude >= 0x47800000u ? infinite : finite;
    y[i].bits = static_cast<std::uint16_t>(half | ((word >> 16) & 0x8000u));
  }
}

void narrow(const float* __restrict x, BFloat16* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t word = bits(x[i]);
    const std::uint32_t rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
    const std::uint32_t nan = (word >> 16) | 0x40u;
    y[i].bits = static_cast<std::uint16_t>((word & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
}

}  // namespace grurun::kernels
