// Sums of products of small integers.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// out[r, j] = sum over i in [0, n) of a[r, i] * b[j, i], for a [rows, n], b [columns, n] and out
/// [rows, columns], exactly. Elements lie in [-255, 255]: they are 8-bit numbers less their zero points. Runs
/// on the calling thread.
void integer_dots(const int16_t* a, int64_t rows, const int16_t* b, int64_t columns, int64_t n, int64_t* out);
void integer_dots(const int16_t* a, int64_t rows, const int8_t* b, int64_t columns, int64_t n, int64_t* out);

}  // namespace grurun::kernels
