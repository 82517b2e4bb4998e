// Marks loops over a kernel's sums, which live in registers only if the loops are unrolled. Sanitizers keep
// them in memory anyway, where unrolled checks would take minutes to compile.
#pragma once

#include <cstddef>

#include "tensor/sanitizers.h"

#if GRURUN_ASAN || GRURUN_TSAN
#define GRURUN_UNROLL
#define GRURUN_UNROLL_PIECES
#else
#define GRURUN_UNROLL _Pragma("GCC unroll 16")
/// Of loops over a few pieces between products, which a branch that is predicted wrong would hold up.
#define GRURUN_UNROLL_PIECES _Pragma("GCC unroll 4")
#endif

namespace grurun::kernels {

/// How many sums each element of a tile is split into, so that additions in flight hide their latency.
constexpr std::size_t tile_ways(std::size_t rows, std::size_t vectors) {
  return rows * vectors >= 8 ? 1 : rows * vectors >= 4 ? 2 : 4;
}

}  // namespace grurun::kernels
