// A table of 8-bit numbers. Runs on the calling thread.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y[i] = table[x[i]] for n elements; the table has 256 and is aligned to 16. y may be x, but must not
/// overlap it otherwise.
void vec_look_up(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n);

}  // namespace grurun::kernels
