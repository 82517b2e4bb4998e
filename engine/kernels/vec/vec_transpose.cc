#include "engine/kernels/vec/vec_transpose.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_transpose.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/every_second-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void transpose_scalar(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to,
                      int64_t to_step) {
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) to[j * to_step + i] = from[i * from_step + j];
  }
}

/// A square of as many rows as 16 bytes hold elements: the rows are interleaved, each with the one half the
/// square away, until every element has changed places.
template <class T>
HWY_INLINE void transpose_square(const T* from, int64_t from_step, T* to, int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  transpose_scalar(from, from_step, 1, 1, to, to_step);
#else
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  constexpr size_t row_count = 16 / sizeof(T);
  hn::Vec<decltype(d)> row[row_count], next[row_count];
  GRURUN_UNROLL
  for (size_t i = 0; i < row_count; ++i) row[i] = hn::LoadU(d, from + static_cast<int64_t>(i) * from_step);
  GRURUN_UNROLL
  for (size_t round = 1; round < row_count; round *= 2) {
    GRURUN_UNROLL
    for (size_t i = 0; i < row_count / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, row[i], row[i + row_count / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, row[i], row[i + row_count / 2]);
    }
    GRURUN_UNROLL
    for (size_t i = 0; i < row_count; ++i) row[i] = next[i];
  }
  GRURUN_UNROLL
  for (size_t i = 0; i < row_count; ++i) hn::StoreU(row[i], d, to + static_cast<int64_t>(i) * to_step);
#endif
}

/// A block of whole squares.
template <class T>
HWY_INLINE void transpose_block(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to,
                                int64_t to_step) {
  constexpr int64_t square = HWY_TARGET == HWY_SCALAR ? 1 : 16 / sizeof(T);
  for (int64_t j = 0; j < columns; j += square) {
    for (int64_t i = 0; i < rows; i += square)
      transpose_square(from + i * from_step + j, from_step, to + j * to_step + i, to_step);
  }
}

/// By blocks of a cache line each way, so that each line is written as a whole; along the shorter side first,
/// so that few lines far apart are in use at a time.
template <class T>
HWY_INLINE void transpose(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to,
                          int64_t to_step) {
  constexpr int64_t square = HWY_TARGET == HWY_SCALAR ? 1 : 16 / sizeof(T), line = 64 / sizeof(T);
  const int64_t whole_rows = rows / square * square, whole_columns = columns / square * square;
  const auto block = [&](int64_t i, int64_t j) HWY_ATTR {
    transpose_block(from + i * from_step + j, from_step, std::min(line, whole_rows - i),
                    std::min(line, whole_columns - j), to + j * to_step + i, to_step);
  };
  if (rows < columns) {
    for (int64_t j = 0; j < whole_columns; j += line) {
      for (int64_t i = 0; i < whole_rows; i += line) block(i, j);
    }
  } else {
    for (int64_t i = 0; i < whole_rows; i += line) {
      for (int64_t j = 0; j < whole_columns; j += line) block(i, j);
    }
  }
  // What is left by squares, too, that take some elements for the second time.
  if (whole_columns < columns && columns >= square && whole_rows > 0) {
    const int64_t j = columns - square;
    transpose_block(from + j, from_step, whole_rows, square, to + j * to_step, to_step);
  } else {
    transpose_scalar(from + whole_columns, from_step, whole_rows, columns - whole_columns,
                     to + whole_columns * to_step, to_step);
  }
  if (whole_rows < rows && rows >= square && columns >= square) {
    const int64_t i = rows - square;
    transpose_block(from + i * from_step, from_step, square, whole_columns, to + i, to_step);
    const int64_t j = columns - square;
    transpose_square(from + i * from_step + j, from_step, to + j * to_step + i, to_step);
  } else {
    transpose_scalar(from + whole_rows * from_step, from_step, rows - whole_rows, columns, to + whole_rows,
                     to_step);
  }
}

#define GRURUN_EVERY_SECOND(NAME, T)                          \
  void every_second_##NAME(const T* from, int64_t n, T* to) { \
    every_second(from, static_cast<size_t>(n), to);           \
  }
GRURUN_EVERY_SECOND(u8, uint8_t)
GRURUN_EVERY_SECOND(u16, uint16_t)
GRURUN_EVERY_SECOND(u32, uint32_t)
GRURUN_EVERY_SECOND(u64, uint64_t)
#undef GRURUN_EVERY_SECOND

#define GRURUN_TRANSPOSE(NAME, T)                                                               \
  void transpose_##NAME(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to, \
                        int64_t to_step) {                                                      \
    transpose(from, from_step, rows, columns, to, to_step);                                     \
  }
GRURUN_TRANSPOSE(u8, uint8_t)
GRURUN_TRANSPOSE(u16, uint16_t)
GRURUN_TRANSPOSE(u32, uint32_t)
GRURUN_TRANSPOSE(u64, uint64_t)
GRURUN_TRANSPOSE(f32, float)
GRURUN_TRANSPOSE(f64, double)
#undef GRURUN_TRANSPOSE

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

#define GRURUN_TRANSPOSE(NAME, T)                                                            \
  HWY_EXPORT(transpose_##NAME);                                                              \
  void vec_transpose(const T* from, int64_t from_step, int64_t rows, int64_t columns, T* to, \
                     int64_t to_step) {                                                      \
    HWY_DYNAMIC_DISPATCH(transpose_##NAME)(from, from_step, rows, columns, to, to_step);     \
  }
GRURUN_TRANSPOSE(u8, uint8_t)
GRURUN_TRANSPOSE(u16, uint16_t)
GRURUN_TRANSPOSE(u32, uint32_t)
GRURUN_TRANSPOSE(u64, uint64_t)
GRURUN_TRANSPOSE(f32, float)
GRURUN_TRANSPOSE(f64, double)
#undef GRURUN_TRANSPOSE

#define GRURUN_EVERY_SECOND(NAME, T)                        \
  HWY_EXPORT(every_second_##NAME);                          \
  void vec_every_second(const T* from, int64_t n, T* to) {  \
    HWY_DYNAMIC_DISPATCH(every_second_##NAME)(from, n, to); \
  }
GRURUN_EVERY_SECOND(u8, uint8_t)
GRURUN_EVERY_SECOND(u16, uint16_t)
GRURUN_EVERY_SECOND(u32, uint32_t)
GRURUN_EVERY_SECOND(u64, uint64_t)
#undef GRURUN_EVERY_SECOND

}  // namespace grurun::kernels
#endif  // HWY_ONCE
