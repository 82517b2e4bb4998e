#include "engine/kernels/vec/vec_cast.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/vec/truncated.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_cast.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_integers-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The bits of `lost` cleared, and the lowest one above them set where one of them was: a number that is
/// rounded next keeps its side of a tie.
template <class D, class V>
HWY_INLINE V to_odd(D d, V v, hn::TFromD<D> lost) {
  const auto low = hn::Set(d, lost);
  const auto carry = hn::And(hn::Add(hn::And(v, low), low), hn::Set(d, static_cast<hn::TFromD<D>>(lost + 1)));
  return hn::Or(hn::AndNot(low, v), carry);
}

// Highway's emulation has no infinite results of these.
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
#define GRURUN_NARROWS_DOUBLES 0
#else
#define GRURUN_NARROWS_DOUBLES 1
#endif

#if GRURUN_NARROWS_DOUBLES
/// Doubles as floats that are rounded once more.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> to_odd_floats(D d, const double* x) {
  const hn::RebindToUnsigned<D> du;
  const auto odd = to_odd(du, hn::LoadU(du, reinterpret_cast<const uint64_t*>(x)), (uint64_t{1} << 29) - 1);
  return hn::DemoteTo(hn::Rebind<float, D>(), hn::BitCast(d, odd));
}

/// False where float holds fewer digits of a number than BFloat16 needs.
template <class D>
HWY_INLINE bool none_subnormal(D d, const double* x) {
  const auto size = hn::Abs(hn::LoadU(d, x));
  return hn::AllFalse(d, hn::And(hn::Gt(size, hn::Zero(d)), hn::Lt(size, hn::Set(d, 0x1p-126))));
}
#endif

template <class Half>
HWY_INLINE void doubles_to_half(const double* x, Half* y, size_t n) {
  size_t i = 0;
#if GRURUN_NARROWS_DOUBLES
  const hn::ScalableTag<float> d;
  const hn::Half<decltype(d)> half;
  const hn::RepartitionToWide<decltype(d)> wide;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) {
    const double *first = x + i, *second = x + i + lanes / 2;
    if constexpr (std::is_same_v<Half, BFloat16>) {
      if (HWY_UNLIKELY(!none_subnormal(wide, first) || !none_subnormal(wide, second))) {
        for (size_t k = i; k < i + lanes; ++k) y[k] = Half(x[k]);
        continue;
      }
    }
    const hn::Vec<decltype(half)> low = to_odd_floats(wide, first), high = to_odd_floats(wide, second);
    store_elements(hn::Combine(d, high, low), d, y + i);
  }
#endif
  for (; i < n; ++i) y[i] = Half(x[i]);
}

template <class From, class To>
HWY_INLINE void half_to_half(const From* x, To* y, size_t n) {
  for_element_lanes<float>(
      n, [=](auto d, size_t i) HWY_ATTR { store_elements(load_elements(d, x + i), d, y + i); });
}

/// Float16 has no number that float would have to round; of those that BFloat16 has, float holds the upper
/// digits.
template <class Half, class D, class V>
HWY_INLINE hn::Vec<D> words_to_floats(D d, V words) {
  if constexpr (std::is_same_v<Half, BFloat16>) {
    const hn::RebindToSigned<D> di;
    const auto is_large = hn::Gt(hn::Abs(words), hn::Set(di, 1 << 24));
    words = hn::IfThenElse(is_large, to_odd(di, words, 0x7f), words);
  }
  return hn::ConvertTo(d, words);
}

template <class Half, class T>
HWY_INLINE void integers_to_half(const T* x, Half* y, size_t n) {
  for_element_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
    if constexpr (std::is_same_v<T, int32_t>) {
      store_elements(words_to_floats<Half>(d, hn::LoadU(hn::RebindToSigned<decltype(d)>(), x + i)), d, y + i);
    } else {
      store_elements(load_integers(d, x + i), d, y + i);
    }
  });
}

template <class Half>
HWY_INLINE void longs_to_half(const int64_t* x, Half* y, size_t n) {
  size_t i = 0;
#if GRURUN_NARROWS_LONGS
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(di)> words;
    if (narrow_longs(di, x + i, words)) {
      store_elements(words_to_floats<Half>(d, words), d, y + i);
    } else {
      for (size_t k = i; k < i + lanes; ++k) y[k] = Half(sticky_double(x[k]));
    }
  }
#endif
  for (; i < n; ++i) y[i] = Half(sticky_double(x[i]));
}

template <class Integer>
HWY_INLINE void cut_doubles(const double* x, Integer* y, size_t n) {
  size_t i = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  // By way of 32 bits, where these hold all numbers of a vector.
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> words;
  const size_t lanes = hn::Lanes(d);
  const auto bound = hn::Set(d, 0x1p31);
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(hn::Abs(v), bound)))) {
      for (size_t k = i; k < i + lanes; ++k) y[k] = static_cast<Integer>(truncated<int64_t>(x[k]));
    } else if constexpr (sizeof(Integer) == 8) {
      const hn::Rebind<int64_t, decltype(d)> longs;
      hn::StoreU(hn::PromoteTo(longs, hn::DemoteTo(words, v)), longs, y + i);
    } else {
      using Bits = hwy::MakeUnsigned<Integer>;
      const hn::Rebind<Bits, decltype(d)> bits;
      const auto low = hn::BitCast(hn::Rebind<uint32_t, decltype(d)>(), hn::DemoteTo(words, v));
      hn::StoreU(hn::TruncateTo(bits, low), bits, reinterpret_cast<Bits*>(y + i));
    }
  }
#endif
  for (; i < n; ++i) y[i] = static_cast<Integer>(truncated<int64_t>(x[i]));
}

void convert_f16_bf16(const Float16* x, BFloat16* y, size_t n) {
  half_to_half(x, y, n);
}
void convert_bf16_f16(const BFloat16* x, Float16* y, size_t n) {
  half_to_half(x, y, n);
}
void convert_f64_f32(const double* x, float* y, size_t n) {
#if GRURUN_NARROWS_DOUBLES
  for_element_lanes<double>(n, [=](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> df;
    hn::StoreU(hn::DemoteTo(df, hn::LoadU(d, x + i)), df, y + i);
  });
#else
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
#endif
}
void convert_f32_f64(const float* x, double* y, size_t n) {
  for_element_lanes<double>(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), x + i)), d, y + i);
  });
}

#define GRURUN_TO_HALVES(KERNEL, T, NAME)                         \
  void convert_##NAME##_f16(const T* x, Float16* y, size_t n) {   \
    KERNEL(x, y, n);                                              \
  }                                                               \
  void convert_##NAME##_bf16(const T* x, BFloat16* y, size_t n) { \
    KERNEL(x, y, n);                                              \
  }
GRURUN_TO_HALVES(doubles_to_half, double, f64)
GRURUN_TO_HALVES(integers_to_half, int8_t, i8)
GRURUN_TO_HALVES(integers_to_half, uint8_t, u8)
GRURUN_TO_HALVES(integers_to_half, int16_t, i16)
GRURUN_TO_HALVES(integers_to_half, uint16_t, u16)
GRURUN_TO_HALVES(integers_to_half, int32_t, i32)
GRURUN_TO_HALVES(longs_to_half, int64_t, i64)
#undef GRURUN_TO_HALVES

#define GRURUN_CUT(T, NAME)                               \
  void truncate_##NAME(const double* x, T* y, size_t n) { \
    cut_doubles(x, y, n);                                 \
  }
GRURUN_CUT(int64_t, i64)
GRURUN_CUT(int8_t, i8)
GRURUN_CUT(uint8_t, u8)
GRURUN_CUT(int16_t, i16)
GRURUN_CUT(uint16_t, u16)
#undef GRURUN_CUT

#undef GRURUN_NARROWS_DOUBLES

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

#define GRURUN_EXPORT_CAST(FUNCTION, FROM, TO, KERNEL)                                \
  HWY_EXPORT(KERNEL);                                                                 \
  void FUNCTION(const FROM* x, TO* y, int64_t n) {                                    \
    HWY_DYNAMIC_DISPATCH(KERNEL)(x, y, static_cast<size_t>(std::max<int64_t>(n, 0))); \
  }
GRURUN_EXPORT_CAST(vec_convert, double, float, convert_f64_f32)
GRURUN_EXPORT_CAST(vec_convert, float, double, convert_f32_f64)
GRURUN_EXPORT_CAST(vec_convert, Float16, BFloat16, convert_f16_bf16)
GRURUN_EXPORT_CAST(vec_convert, BFloat16, Float16, convert_bf16_f16)

#define GRURUN_EXPORT_TO_HALVES(T, NAME)                            \
  GRURUN_EXPORT_CAST(vec_convert, T, Float16, convert_##NAME##_f16) \
  GRURUN_EXPORT_CAST(vec_convert, T, BFloat16, convert_##NAME##_bf16)
GRURUN_EXPORT_TO_HALVES(double, f64)
GRURUN_EXPORT_TO_HALVES(int8_t, i8)
GRURUN_EXPORT_TO_HALVES(uint8_t, u8)
GRURUN_EXPORT_TO_HALVES(int16_t, i16)
GRURUN_EXPORT_TO_HALVES(uint16_t, u16)
GRURUN_EXPORT_TO_HALVES(int32_t, i32)
GRURUN_EXPORT_TO_HALVES(int64_t, i64)

GRURUN_EXPORT_CAST(vec_truncate, double, int64_t, truncate_i64)
GRURUN_EXPORT_CAST(vec_truncate, double, int8_t, truncate_i8)
GRURUN_EXPORT_CAST(vec_truncate, double, uint8_t, truncate_u8)
GRURUN_EXPORT_CAST(vec_truncate, double, int16_t, truncate_i16)
GRURUN_EXPORT_CAST(vec_truncate, double, uint16_t, truncate_u16)

}  // namespace grurun::kernels
#endif  // HWY_ONCE
