#include "engine/kernels/vec/vec_compare.h"

#include <type_traits>

#include "engine/kernels/machine/simd_targets.h"

// Compiled once for each instruction set, whose vectors the compiler makes of these loops.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_compare.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {

/// What equal and less are asked of: the element, or of 16-bit floats an integer in their order, in which the
/// zeros are one.
template <class T>
HWY_INLINE T key_of(T x) {
  return x;
}
template <class Half>
HWY_INLINE int16_t key_of_half(Half x) {
  const auto bits = static_cast<int16_t>(x.bits);
  const auto ones = static_cast<int16_t>(bits >> 15);  // of a negative number, whose size is negated
  return static_cast<int16_t>((bits ^ (ones & 0x7fff)) - ones);
}
HWY_INLINE int16_t key_of(Float16 x) {
  return key_of_half(x);
}
HWY_INLINE int16_t key_of(BFloat16 x) {
  return key_of_half(x);
}

/// Of keys a and b whether neither is that of a NaN, where a is not above b. Here and below `&` instead of
/// `&&`, of which the compiler makes jumps.
template <class T, class Key>
HWY_INLINE int ordered([[maybe_unused]] Key a, [[maybe_unused]] Key b) {
  if constexpr (std::is_same_v<Key, int16_t>) {
    constexpr int16_t infinity = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80, negative = -infinity;
    return static_cast<int>(a >= negative) & static_cast<int>(b <= infinity);
  }
  return 1;
}

#define GRURUN_COMPARISON(NAME, OPERATOR)                            \
  template <class T, class Key>                                      \
  HWY_INLINE bool NAME(Key a, Key b) {                               \
    return (static_cast<int>(a OPERATOR b) & ordered<T>(a, b)) != 0; \
  }
GRURUN_COMPARISON(equal, ==)
GRURUN_COMPARISON(less, <)
GRURUN_COMPARISON(less_equal, <=)
#undef GRURUN_COMPARISON
template <class T, class Key>
HWY_INLINE bool not_equal(Key a, Key b) {
  return (static_cast<int>(a == b) & ordered<T>(a, b)) == 0;
}

#define GRURUN_COMPARE_ARRAYS(NAME, T)                                                           \
  void NAME##_arrays_##T(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, bool* HWY_RESTRICT y, \
                         int64_t n) {                                                            \
    for (int64_t i = 0; i < n; ++i) y[i] = NAME<T>(key_of(a[i]), key_of(b[i]));                  \
  }
#define GRURUN_COMPARE_RIGHT(NAME, T)                                                                 \
  void NAME##_right_##T(const T* HWY_RESTRICT a, ComputeType<T> b, bool* HWY_RESTRICT y, int64_t n) { \
    const auto key = key_of(T(b));                                                                    \
    for (int64_t i = 0; i < n; ++i) y[i] = NAME<T>(key_of(a[i]), key);                                \
  }
#define GRURUN_COMPARE_LEFT(NAME, T)                                                                 \
  void NAME##_left_##T(ComputeType<T> a, const T* HWY_RESTRICT b, bool* HWY_RESTRICT y, int64_t n) { \
    const auto key = key_of(T(a));                                                                   \
    for (int64_t i = 0; i < n; ++i) y[i] = NAME<T>(key, key_of(b[i]));                               \
  }
#define GRURUN_COMPARE(T)              \
  GRURUN_COMPARE_ARRAYS(equal, T)      \
  GRURUN_COMPARE_RIGHT(equal, T)       \
  GRURUN_COMPARE_RIGHT(not_equal, T)   \
  GRURUN_COMPARE_ARRAYS(less, T)       \
  GRURUN_COMPARE_RIGHT(less, T)        \
  GRURUN_COMPARE_LEFT(less, T)         \
  GRURUN_COMPARE_ARRAYS(less_equal, T) \
  GRURUN_COMPARE_RIGHT(less_equal, T)  \
  GRURUN_COMPARE_LEFT(less_equal, T)

GRURUN_COMPARE(float)
GRURUN_COMPARE(double)
GRURUN_COMPARE(Float16)
GRURUN_COMPARE(BFloat16)
GRURUN_COMPARE(int32_t)
GRURUN_COMPARE(int64_t)

void is_nan_f32(const float* HWY_RESTRICT x, bool* HWY_RESTRICT y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] != x[i];
}
void is_nan_f64(const double* HWY_RESTRICT x, bool* HWY_RESTRICT y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] != x[i];
}
/// Of the bits without the sign: above those of infinity.
template <uint16_t infinity, class Half>
HWY_INLINE void is_nan_of_bits(const Half* HWY_RESTRICT x, bool* HWY_RESTRICT y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(x[i].bits & 0x7fff) > int16_t{infinity};
}
void is_nan_f16(const Float16* x, bool* y, int64_t n) {
  is_nan_of_bits<0x7c00>(x, y, n);
}
void is_nan_bf16(const BFloat16* x, bool* y, int64_t n) {
  is_nan_of_bits<0x7f80>(x, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

#define GRURUN_EXPORT(NAME, WHICH, T, A, B)                 \
  HWY_EXPORT(NAME##_##WHICH##_##T);                         \
  template <>                                               \
  void vec_##NAME<T>(A a, B b, bool* y, int64_t n) {        \
    HWY_DYNAMIC_DISPATCH(NAME##_##WHICH##_##T)(a, b, y, n); \
  }
#define GRURUN_EXPORT_ALL(T)                                    \
  GRURUN_EXPORT(equal, arrays, T, const T*, const T*)           \
  GRURUN_EXPORT(equal, right, T, const T*, ComputeType<T>)      \
  GRURUN_EXPORT(not_equal, right, T, const T*, ComputeType<T>)  \
  GRURUN_EXPORT(less, arrays, T, const T*, const T*)            \
  GRURUN_EXPORT(less, right, T, const T*, ComputeType<T>)       \
  GRURUN_EXPORT(less, left, T, ComputeType<T>, const T*)        \
  GRURUN_EXPORT(less_equal, arrays, T, const T*, const T*)      \
  GRURUN_EXPORT(less_equal, right, T, const T*, ComputeType<T>) \
  GRURUN_EXPORT(less_equal, left, T, ComputeType<T>, const T*)

GRURUN_EXPORT_ALL(float)
GRURUN_EXPORT_ALL(double)
GRURUN_EXPORT_ALL(Float16)
GRURUN_EXPORT_ALL(BFloat16)
GRURUN_EXPORT_ALL(int32_t)
GRURUN_EXPORT_ALL(int64_t)

#define GRURUN_EXPORT_IS_NAN(T, NAME)               \
  HWY_EXPORT(is_nan_##NAME);                        \
  template <>                                       \
  void vec_is_nan(const T* x, bool* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(is_nan_##NAME)(x, y, n);   \
  }
GRURUN_EXPORT_IS_NAN(float, f32)
GRURUN_EXPORT_IS_NAN(double, f64)
GRURUN_EXPORT_IS_NAN(Float16, f16)
GRURUN_EXPORT_IS_NAN(BFloat16, bf16)

}  // namespace grurun::kernels
#endif  // HWY_ONCE
