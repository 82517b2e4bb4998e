// Which float32 numbers the tile registers of AMX multiply well.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// Bits of magnitudes from 2^-50 on and below 2^126: products of their pieces are neither flushed to zero,
/// but for 2^-26 of the product, nor beyond what float32 holds.
struct TileRange {
  uint32_t least, most;
};
inline constexpr TileRange range_of_tiles{(127u - 50) << 23, ((127u + 126) << 23) - 1};

}  // namespace grurun::kernels
