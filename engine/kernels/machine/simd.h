#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grurun::kernels::detail {
extern bool fast_division;
}

/// Which instruction set the kernels use. The best that this processor has, unless someone chooses another.
namespace grurun::kernels {

/// Names of what this build has kernels for and this processor can run, best first: "amx" (AVX-512, and tile
/// registers for products of float32), "avx512", "avx2" (with FMA), "sse4", "scalar"; on Arm "neon".
std::vector<std::string> simd_targets();

/// The one in use.
std::string simd_target();

/// Uses `name`, one of simd_targets(), from now on, or the best again if it is empty. Throws Error(usage) for
/// a name that is not among them. Not to be called while kernels run; models planned before must be planned
/// anew, as their weights may be arranged otherwise: Error(internal) where they are run.
void use_simd_target(const std::string& name);

/// Whether AMD made this processor.
bool made_by_amd();

/// Whether this processor takes 64 bytes as two halves, one after the other.
bool halves_widest_vectors();

/// Bytes of this processor's second cache, or 1 MiB where the system does not tell.
int64_t second_cache_bytes();

/// True where AVX-512 divides faster than it multiplies by an estimate of the reciprocal and corrects that:
/// on processors of AMD. Kernels ask for each vector.
inline bool divides_fast() {
  return detail::fast_division;
}

/// True if AVX-512 is in use and the processor multiplies groups of four 8-bit integers (VNNI).
bool multiplies_bytes();

/// True if AMX's tile registers and their products of bfloat16 are to be used: "amx" is in use.
bool tile_registers();

}  // namespace grurun::kernels
