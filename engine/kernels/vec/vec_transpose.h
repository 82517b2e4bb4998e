// Transposition in memory, by vectors.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns; steps in elements, either way.
/// `to` must not overlap `from`. Runs on the calling thread.
void vec_transpose(const uint8_t* from, int64_t from_step, int64_t rows, int64_t columns, uint8_t* to,
                   int64_t to_step);
void vec_transpose(const uint16_t* from, int64_t from_step, int64_t rows, int64_t columns, uint16_t* to,
                   int64_t to_step);
void vec_transpose(const uint32_t* from, int64_t from_step, int64_t rows, int64_t columns, uint32_t* to,
                   int64_t to_step);
void vec_transpose(const uint64_t* from, int64_t from_step, int64_t rows, int64_t columns, uint64_t* to,
                   int64_t to_step);
void vec_transpose(const float* from, int64_t from_step, int64_t rows, int64_t columns, float* to,
                   int64_t to_step);
void vec_transpose(const double* from, int64_t from_step, int64_t rows, int64_t columns, double* to,
                   int64_t to_step);

/// to[i] = from[2 * i] for i < n, of which no element beyond the last is read. `to` must not overlap `from`.
/// Runs on the calling thread.
void vec_every_second(const uint8_t* from, int64_t n, uint8_t* to);
void vec_every_second(const uint16_t* from, int64_t n, uint16_t* to);
void vec_every_second(const uint32_t* from, int64_t n, uint32_t* to);
void vec_every_second(const uint64_t* from, int64_t n, uint64_t* to);

}  // namespace grurun::kernels
