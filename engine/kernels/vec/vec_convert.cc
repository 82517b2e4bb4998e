#include "engine/kernels/vec/vec_convert.h"

#include <cstddef>
#include <limits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/vec/truncated.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_convert.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_integers-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using U32 = hn::RebindToUnsigned<F32>;

void from_half(const Float16* x, float* y, size_t n) {
  for_element_lanes<float>(n,
                           [=](auto d, size_t i) HWY_ATTR { hn::StoreU(load_elements(d, x + i), d, y + i); });
}
void to_half(const float* x, Float16* y, size_t n) {
  for_element_lanes<float>(n,
                           [=](auto d, size_t i) HWY_ATTR { store_elements(hn::LoadU(d, x + i), d, y + i); });
}
void from_bfloat(const BFloat16* x, float* y, size_t n) {
  for_element_lanes<float>(n,
                           [=](auto d, size_t i) HWY_ATTR { hn::StoreU(load_elements(d, x + i), d, y + i); });
}
void to_bfloat(const float* x, BFloat16* y, size_t n) {
  for_element_lanes<float>(n,
                           [=](auto d, size_t i) HWY_ATTR { store_elements(hn::LoadU(d, x + i), d, y + i); });
}

void truncate_32(const float* x, int32_t* y, size_t n) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(d, -0x1p31f), high = hn::Set(d, 0x1p31f);
  const auto least = hn::Set(di, std::numeric_limits<int32_t>::min());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const auto fits = hn::And(hn::Ge(v, low), hn::Lt(v, high));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(di, fits), hn::ConvertTo(di, v), least), di, y + i);
  }
  for (; i < n; ++i) y[i] = truncated<int32_t>(x[i]);
}

void truncate_f64(const double* x, int32_t* y, size_t n) {
  size_t i = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, -0x1p31), bound = hn::Set(d, 0x1p31);
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const auto fits = hn::And(hn::Ge(v, least), hn::Lt(v, bound));
    hn::StoreU(hn::DemoteTo(di, hn::IfThenElse(fits, v, least)), di, y + i);
  }
#endif
  for (; i < n; ++i) y[i] = truncated<int32_t>(x[i]);
}

void from_int64(const int64_t* x, float* y, size_t n) {
  size_t i = 0;
#if GRURUN_NARROWS_LONGS
  // By way of 32 bits, where these hold all numbers of a vector.
  const F32 d;
  const hn::RebindToSigned<F32> d32;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d32)> words;
    if (narrow_longs(d32, x + i, words)) {
      hn::StoreU(hn::ConvertTo(d, words), d, y + i);
    } else {
      for (size_t k = i; k < i + lanes; ++k) y[k] = static_cast<float>(x[k]);
    }
  }
#endif
  for (; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

void truncate_64(const float* x, int64_t* y, size_t n) {
  size_t i = 0;
#if HWY_TARGET == HWY_AVX3
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> dh;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(d, -0x1p63), high = hn::Set(d, 0x1p63);
  const auto least = hn::Set(di, std::numeric_limits<int64_t>::min());
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::PromoteTo(d, hn::LoadU(dh, x + i));
    const auto fits = hn::And(hn::Ge(v, low), hn::Lt(v, high));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(di, fits), hn::ConvertTo(di, v), least), di, y + i);
  }
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  // There is no such conversion of vectors: by way of 32 bits, where these hold all numbers of a vector.
  const F32 d;
  const hn::RebindToSigned<F32> d32;
  const hn::Half<decltype(d32)> half;
  const hn::RepartitionToWide<decltype(d32)> d64;
  const size_t lanes = hn::Lanes(d);
  const auto bound = hn::Set(d, 0x1p31f);
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(v), bound)))) {
      const auto words = hn::ConvertTo(d32, v);
      hn::StoreU(hn::PromoteTo(d64, hn::LowerHalf(half, words)), d64, y + i);
      hn::StoreU(hn::PromoteTo(d64, hn::UpperHalf(half, words)), d64, y + i + lanes / 2);
    } else {
      for (size_t k = i; k < i + lanes; ++k) y[k] = truncated<int64_t>(x[k]);
    }
  }
#endif
  for (; i < n; ++i) y[i] = truncated<int64_t>(x[i]);
}

/// To 8 and 16 bits: the low ones of 64, which are those of 32 where these hold all numbers of a vector.
template <class Small>
HWY_INLINE void truncate_small(const float* x, Small* y, size_t n) {
  const F32 d;
  const U32 du;
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<hwy::MakeUnsigned<Small>, F32> ds;
  const size_t lanes = hn::Lanes(d);
  const auto bound = hn::Set(d, 0x1p31f);
  auto* to = reinterpret_cast<hwy::MakeUnsigned<Small>*>(y);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(v), bound)))) {
      hn::StoreU(hn::TruncateTo(ds, hn::BitCast(du, hn::ConvertTo(di, v))), ds, to + i);
    } else {
      for (size_t k = i; k < i + lanes; ++k) y[k] = static_cast<Small>(truncated<int64_t>(x[k]));
    }
  }
  for (; i < n; ++i) y[i] = static_cast<Small>(truncated<int64_t>(x[i]));
}
void truncate_i8(const float* x, int8_t* y, size_t n) {
  truncate_small(x, y, n);
}
void truncate_u8(const float* x, uint8_t* y, size_t n) {
  truncate_small(x, y, n);
}
void truncate_i16(const float* x, int16_t* y, size_t n) {
  truncate_small(x, y, n);
}
void truncate_u16(const float* x, uint16_t* y, size_t n) {
  truncate_small(x, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(from_half);
HWY_EXPORT(to_half);
HWY_EXPORT(from_bfloat);
HWY_EXPORT(to_bfloat);
HWY_EXPORT(from_int64);
HWY_EXPORT(truncate_32);
HWY_EXPORT(truncate_64);
HWY_EXPORT(truncate_f64);
HWY_EXPORT(truncate_i8);
HWY_EXPORT(truncate_u8);
HWY_EXPORT(truncate_i16);
HWY_EXPORT(truncate_u16);

namespace {

template <class From, class To>
void run(void (*convert)(const From*, To*, size_t), const From* x, To* y, int64_t n) {
  parallel_for(n, tuning::cheap_elements_of_thread, [=](int64_t begin, int64_t end) {
    convert(x + begin, y + begin, static_cast<size_t>(end - begin));
  });
}

}  // namespace

void vec_convert(const Float16* x, float* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(from_half), x, y, n);
}
void vec_convert(const BFloat16* x, float* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(from_bfloat), x, y, n);
}
void vec_convert(const float* x, Float16* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(to_half), x, y, n);
}
void vec_convert(const float* x, BFloat16* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(to_bfloat), x, y, n);
}
void vec_convert(const int64_t* x, float* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(from_int64), x, y, n);
}

void vec_truncate(const float* x, int32_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_32), x, y, n);
}
void vec_truncate(const float* x, int64_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_64), x, y, n);
}
void vec_truncate(const double* x, int32_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_f64), x, y, n);
}
void vec_truncate(const float* x, int8_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_i8), x, y, n);
}
void vec_truncate(const float* x, uint8_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_u8), x, y, n);
}
void vec_truncate(const float* x, int16_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_i16), x, y, n);
}
void vec_truncate(const float* x, uint16_t* y, int64_t n) {
  run(HWY_DYNAMIC_DISPATCH(truncate_u16), x, y, n);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
