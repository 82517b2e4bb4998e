#include "engine/kernels/vec/vec_byte_sums.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_byte_sums.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Of int8, with the highest bit turned over: each is 128 more as uint8.
template <class T>
HWY_INLINE int64_t sum_of_bytes(const T* x, size_t n) {
  int64_t total = 0;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  const size_t lanes = hn::Lanes(d);
  const auto turned = hn::Set(d, std::is_signed_v<T> ? 0x80 : 0);
  auto first = hn::Zero(d64), second = hn::Zero(d64);
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(x + i);
    first = hn::Add(first, hn::SumsOf8(hn::Xor(hn::LoadU(d, bytes), turned)));
    second = hn::Add(second, hn::SumsOf8(hn::Xor(hn::LoadU(d, bytes + lanes), turned)));
  }
  total = static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, hn::Add(first, second))));
  if constexpr (std::is_signed_v<T>) total -= 128 * static_cast<int64_t>(i);
#endif
  for (; i < n; ++i) total += x[i];
  return total;
}

template <class T>
HWY_INLINE void add_rows_of_bytes(const T* x, size_t rows, size_t step, int32_t* sums, size_t n) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr size_t most_rows = 256;  // whose sum 16 bits hold
  const hn::ScalableTag<uint16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto turned = hn::Set(d8, std::is_signed_v<T> ? 0x80 : 0);
  HWY_ALIGN uint16_t part[4 * hn::MaxLanes(d)];
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    for (size_t first = 0; first < rows; first += most_rows) {
      const size_t count = std::min(most_rows, rows - first);
      auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      const auto* row = reinterpret_cast<const uint8_t*>(x + first * step + i);
      for (size_t r = 0; r < count; ++r, row += step) {
        s0 = hn::Add(s0, hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, row), turned)));
        s1 = hn::Add(s1, hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, row + lanes), turned)));
        s2 = hn::Add(s2, hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, row + 2 * lanes), turned)));
        s3 = hn::Add(s3, hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, row + 3 * lanes), turned)));
      }
      hn::Store(s0, d, part);
      hn::Store(s1, d, part + lanes);
      hn::Store(s2, d, part + 2 * lanes);
      hn::Store(s3, d, part + 3 * lanes);
      const int32_t less = std::is_signed_v<T> ? 128 * static_cast<int32_t>(count) : 0;
      for (size_t k = 0; k < 4 * lanes; ++k) sums[i + k] += static_cast<int32_t>(part[k]) - less;
    }
  }
#endif
  for (size_t r = 0; i < n && r < rows; ++r) {
    for (size_t k = i; k < n; ++k) sums[k] += x[r * step + k];
  }
}

int64_t sum_bytes_i8(const int8_t* x, size_t n) {
  return sum_of_bytes(x, n);
}
int64_t sum_bytes_u8(const uint8_t* x, size_t n) {
  return sum_of_bytes(x, n);
}
void add_byte_rows_i8(const int8_t* x, size_t rows, size_t step, int32_t* sums, size_t n) {
  add_rows_of_bytes(x, rows, step, sums, n);
}
void add_byte_rows_u8(const uint8_t* x, size_t rows, size_t step, int32_t* sums, size_t n) {
  add_rows_of_bytes(x, rows, step, sums, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(sum_bytes_i8);
HWY_EXPORT(sum_bytes_u8);
HWY_EXPORT(add_byte_rows_i8);
HWY_EXPORT(add_byte_rows_u8);

int64_t sum_bytes(const int8_t* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(sum_bytes_i8)(x, static_cast<size_t>(std::max<int64_t>(n, 0)));
}
int64_t sum_bytes(const uint8_t* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(sum_bytes_u8)(x, static_cast<size_t>(std::max<int64_t>(n, 0)));
}
void add_byte_rows(const int8_t* x, int64_t rows, int64_t step, int32_t* sums, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_byte_rows_i8)
  (x, static_cast<size_t>(rows), static_cast<size_t>(step), sums,
   static_cast<size_t>(std::max<int64_t>(n, 0)));
}
void add_byte_rows(const uint8_t* x, int64_t rows, int64_t step, int32_t* sums, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_byte_rows_u8)
  (x, static_cast<size_t>(rows), static_cast<size_t>(step), sums,
   static_cast<size_t>(std::max<int64_t>(n, 0)));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
