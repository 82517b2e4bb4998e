#include "engine/kernels/vec/vec_compare.h"

#include "engine/kernels/machine/simd_targets.h"

// Compiled once for each instruction set, whose vectors the compiler makes of these loops.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_compare.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {

#define GRURUN_COMPARE_ARRAYS(NAME, OPERATOR, T)                                                 \
  void NAME##_arrays_##T(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, bool* HWY_RESTRICT y, \
                         int64_t n) {                                                            \
    for (int64_t i = 0; i < n; ++i) y[i] = a[i] OPERATOR b[i];                                   \
  }
#define GRURUN_COMPARE_RIGHT(NAME, OPERATOR, T)                                          \
  void NAME##_right_##T(const T* HWY_RESTRICT a, T b, bool* HWY_RESTRICT y, int64_t n) { \
    for (int64_t i = 0; i < n; ++i) y[i] = a[i] OPERATOR b;                              \
  }
#define GRURUN_COMPARE_LEFT(NAME, OPERATOR, T)                                          \
  void NAME##_left_##T(T a, const T* HWY_RESTRICT b, bool* HWY_RESTRICT y, int64_t n) { \
    for (int64_t i = 0; i < n; ++i) y[i] = a OPERATOR b[i];                             \
  }
#define GRURUN_COMPARE(T)                  \
  GRURUN_COMPARE_ARRAYS(equal, ==, T)      \
  GRURUN_COMPARE_RIGHT(equal, ==, T)       \
  GRURUN_COMPARE_RIGHT(not_equal, !=, T)   \
  GRURUN_COMPARE_ARRAYS(less, <, T)        \
  GRURUN_COMPARE_RIGHT(less, <, T)         \
  GRURUN_COMPARE_LEFT(less, <, T)          \
  GRURUN_COMPARE_ARRAYS(less_equal, <=, T) \
  GRURUN_COMPARE_RIGHT(less_equal, <=, T)  \
  GRURUN_COMPARE_LEFT(less_equal, <=, T)

GRURUN_COMPARE(float)
GRURUN_COMPARE(double)
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
  void vec_##NAME(A a, B b, bool* y, int64_t n) {           \
    HWY_DYNAMIC_DISPATCH(NAME##_##WHICH##_##T)(a, b, y, n); \
  }
#define GRURUN_EXPORT_ALL(T)                               \
  GRURUN_EXPORT(equal, arrays, T, const T*, const T*)      \
  GRURUN_EXPORT(equal, right, T, const T*, T)              \
  GRURUN_EXPORT(not_equal, right, T, const T*, T)          \
  GRURUN_EXPORT(less, arrays, T, const T*, const T*)       \
  GRURUN_EXPORT(less, right, T, const T*, T)               \
  GRURUN_EXPORT(less, left, T, T, const T*)                \
  GRURUN_EXPORT(less_equal, arrays, T, const T*, const T*) \
  GRURUN_EXPORT(less_equal, right, T, const T*, T)         \
  GRURUN_EXPORT(less_equal, left, T, T, const T*)

GRURUN_EXPORT_ALL(float)
GRURUN_EXPORT_ALL(double)
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
