// Sums of 8-bit integers. All run on the calling thread.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// The sum of n numbers.
int64_t sum_bytes(const int8_t* x, int64_t n);
int64_t sum_bytes(const uint8_t* x, int64_t n);

/// sums[i] += x[i] for n numbers, of each of some rows of x, `step` apart. At most 2^22 rows a sum.
void add_byte_rows(const int8_t* x, int64_t rows, int64_t step, int32_t* sums, int64_t n);
void add_byte_rows(const uint8_t* x, int64_t rows, int64_t step, int32_t* sums, int64_t n);

}  // namespace grurun::kernels
