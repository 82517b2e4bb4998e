// Sums of products of small integers.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// out[j] = sum over i in [0, n) of a[i] * b[j][i], for a [n] and b [count, n], exactly. Elements lie in
/// [-255, 255]: they are 8-bit numbers less their zero points. Runs on the calling thread.
void integer_dots(const int16_t* a, const int16_t* b, int64_t n, int64_t count, int64_t* out);

}  // namespace grurun::kernels
