#include "engine/kernels/vec/vec_quantize.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_quantize.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T>
HWY_INLINE hn::Vec<D> load_integers(D d, const T* x) {
  const hn::Rebind<T, D> dt;
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(dt, x)));
}

/// Of all elements.
template <class T>
HWY_INLINE float zero_point_of(const Quantization<T>& by) {
  return by.zero_points == nullptr ? 0.0f : static_cast<float>(*by.zero_points);
}

/// step(d, i, scale, zero_point) for all elements.
template <bool step_count, class T, class Step>
HWY_INLINE void for_quantized(const Quantization<T>& by, size_t n, const Step& step) {
  const float scale = step_count ? 0.0f : *by.scales;
  const float zero_point = step_count ? 0.0f : zero_point_of(by);
  const float* scales = by.scales;
  const T* zero_points = by.zero_points;
  for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
    if constexpr (step_count) {
      step(d, i, hn::LoadU(d, scales + i),
           zero_points == nullptr ? hn::Zero(d) : load_integers(d, zero_points + i));
    } else {
      step(d, i, hn::Set(d, scale), hn::Set(d, zero_point));
    }
  });
}

/// The low bits of round(x) + zero_point, kept within least and most, all but x integers of up to 20 bits; of
/// NaN, those of zero_point. The sum with a large number rounds, and then ends in the integer.
template <class D, class V, class TU>
HWY_INLINE void store_rounded(D d, V x, V zero_point, V least, V most, TU* y) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<TU, D> dy;
  const V shift = hn::Set(d, sizeof(T) == 4 ? static_cast<T>(0x1.8p+23) : static_cast<T>(0x1.8p+52));
  const V number = hn::IfThenElseZero(hn::Eq(x, x), x);
  const V clamped = hn::Min(hn::Max(number, hn::Sub(least, zero_point)), hn::Sub(most, zero_point));
  const auto bits = hn::BitCast(du, hn::Add(clamped, shift));
  // Of an integer and `shift` the sum is exact, and ends in it, too.
  const auto sum = hn::Add(bits, hn::BitCast(du, hn::Add(zero_point, shift)));
  hn::StoreU(hn::TruncateTo(dy, sum), dy, y);
}

template <class D, class V, class T>
HWY_INLINE void store_quantized(D d, V x, V scale, V zero_point, T* y) {
  const auto least = hn::Set(d, static_cast<float>(std::numeric_limits<T>::min()));
  const auto most = hn::Set(d, static_cast<float>(std::numeric_limits<T>::max()));
  store_rounded(d, hn::Div(x, scale), zero_point, least, most, reinterpret_cast<hwy::MakeUnsigned<T>*>(y));
}

template <bool step_count, class T>
HWY_INLINE void quantize_with(const float* x, const Quantization<T>& by, T* y, size_t n) {
  for_quantized<step_count>(by, n, [=](auto d, size_t i, auto scale, auto zero_point) HWY_ATTR {
    store_quantized(d, hn::LoadU(d, x + i), scale, zero_point, y + i);
  });
}

template <class T>
HWY_INLINE void quantize(const float* x, const Quantization<T>& by, T* y, size_t n) {
  by.step == 0 ? quantize_with<false>(x, by, y, n) : quantize_with<true>(x, by, y, n);
}

template <class D, class V, class T>
HWY_INLINE V load_dequantized(D d, const T* x, V scale, V zero_point) {
  return hn::Mul(hn::Sub(load_integers(d, x), zero_point), scale);
}

template <bool step_count, class T>
HWY_INLINE void dequantize_with(const T* x, const Quantization<T>& by, float* y, size_t n) {
  for_quantized<step_count>(by, n, [=](auto d, size_t i, auto scale, auto zero_point) HWY_ATTR {
    hn::StoreU(load_dequantized(d, x + i, scale, zero_point), d, y + i);
  });
}

template <class T>
HWY_INLINE void dequantize(const T* x, const Quantization<T>& by, float* y, size_t n) {
  by.step == 0 ? dequantize_with<false>(x, by, y, n) : dequantize_with<true>(x, by, y, n);
}

template <bool multiplies, bool b_steps, class T>
HWY_INLINE void combine_with(const QuantizedArray<T>& a, const QuantizedArray<T>& b,
                             const Quantization<T>& by, T* y, size_t n) {
  const T *a_numbers = a.numbers, *b_numbers = b.numbers;
  const float a_scale = *a.by.scales, a_zero = zero_point_of(a.by);
  const float b_scale = *b.by.scales, b_zero = zero_point_of(b.by);
  const float still = n == 0 ? 0.0f : (static_cast<float>(*b_numbers) - b_zero) * b_scale;
  for_quantized<false>(by, n, [=](auto d, size_t i, auto scale, auto zero_point) HWY_ATTR {
    const auto left = load_dequantized(d, a_numbers + i, hn::Set(d, a_scale), hn::Set(d, a_zero));
    auto right = hn::Set(d, still);
    if constexpr (b_steps)
      right = load_dequantized(d, b_numbers + i, hn::Set(d, b_scale), hn::Set(d, b_zero));
    store_quantized(d, multiplies ? hn::Mul(left, right) : hn::Add(left, right), scale, zero_point, y + i);
  });
}

template <bool multiplies, class T>
HWY_INLINE void combine(const QuantizedArray<T>& a, const QuantizedArray<T>& b, const Quantization<T>& by,
                        T* y, size_t n) {
  if (n > 1 && !a.steps) return combine_with<multiplies, false>(b, a, by, y, n);
  if (n > 1 && !b.steps) return combine_with<multiplies, false>(a, b, by, y, n);
  combine_with<multiplies, true>(a, b, by, y, n);
}

void add_i8(const QuantizedArray<int8_t>& a, const QuantizedArray<int8_t>& b, const Quantization<int8_t>& by,
            int8_t* y, size_t n) {
  combine<false>(a, b, by, y, n);
}
void add_u8(const QuantizedArray<uint8_t>& a, const QuantizedArray<uint8_t>& b,
            const Quantization<uint8_t>& by, uint8_t* y, size_t n) {
  combine<false>(a, b, by, y, n);
}
void multiply_i8(const QuantizedArray<int8_t>& a, const QuantizedArray<int8_t>& b,
                 const Quantization<int8_t>& by, int8_t* y, size_t n) {
  combine<true>(a, b, by, y, n);
}
void multiply_u8(const QuantizedArray<uint8_t>& a, const QuantizedArray<uint8_t>& b,
                 const Quantization<uint8_t>& by, uint8_t* y, size_t n) {
  combine<true>(a, b, by, y, n);
}

void quantize_i8(const float* x, const Quantization<int8_t>& by, int8_t* y, size_t n) {
  quantize(x, by, y, n);
}
void dequantize_i8(const int8_t* x, const Quantization<int8_t>& by, float* y, size_t n) {
  dequantize(x, by, y, n);
}
void quantize_u8(const float* x, const Quantization<uint8_t>& by, uint8_t* y, size_t n) {
  quantize(x, by, y, n);
}
void dequantize_u8(const uint8_t* x, const Quantization<uint8_t>& by, float* y, size_t n) {
  dequantize(x, by, y, n);
}
void quantize_i16(const float* x, const Quantization<int16_t>& by, int16_t* y, size_t n) {
  quantize(x, by, y, n);
}
void dequantize_i16(const int16_t* x, const Quantization<int16_t>& by, float* y, size_t n) {
  dequantize(x, by, y, n);
}
void quantize_u16(const float* x, const Quantization<uint16_t>& by, uint16_t* y, size_t n) {
  quantize(x, by, y, n);
}
void dequantize_u16(const uint16_t* x, const Quantization<uint16_t>& by, float* y, size_t n) {
  dequantize(x, by, y, n);
}

template <bool divides>
HWY_INLINE void requantize(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  const double zero_point = by.zero_point, least = by.least, scale = by.scale;
  for_lanes<double>(n, [=, factors = by.factors, step = by.step](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<int32_t, decltype(d)> di;
    const auto factor = step == 0 ? hn::Set(d, *factors) : hn::LoadU(d, factors + i);
    auto quotient = hn::Mul(hn::PromoteTo(d, hn::LoadU(di, x + i)), factor);
    if constexpr (divides) quotient = hn::Div(quotient, hn::Set(d, scale));
    store_rounded(d, quotient, hn::Set(d, zero_point), hn::Set(d, least), hn::Set(d, least + 255), y + i);
  });
}

void requantize_i32(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  if (by.scale == 1) return requantize<false>(x, by, y, n);
  requantize<true>(x, by, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(quantize_i8);
HWY_EXPORT(dequantize_i8);
HWY_EXPORT(quantize_u8);
HWY_EXPORT(dequantize_u8);
HWY_EXPORT(quantize_i16);
HWY_EXPORT(dequantize_i16);
HWY_EXPORT(quantize_u16);
HWY_EXPORT(dequantize_u16);
HWY_EXPORT(requantize_i32);
HWY_EXPORT(add_i8);
HWY_EXPORT(add_u8);
HWY_EXPORT(multiply_i8);
HWY_EXPORT(multiply_u8);

namespace {
size_t count(int64_t n) {
  return static_cast<size_t>(std::max<int64_t>(n, 0));
}
}  // namespace

void vec_quantize(const float* x, const Quantization<int8_t>& by, int8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(quantize_i8)(x, by, y, count(n));
}
void vec_dequantize(const int8_t* x, const Quantization<int8_t>& by, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(dequantize_i8)(x, by, y, count(n));
}
void vec_quantize(const float* x, const Quantization<uint8_t>& by, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(quantize_u8)(x, by, y, count(n));
}
void vec_dequantize(const uint8_t* x, const Quantization<uint8_t>& by, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(dequantize_u8)(x, by, y, count(n));
}
void vec_quantize(const float* x, const Quantization<int16_t>& by, int16_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(quantize_i16)(x, by, y, count(n));
}
void vec_dequantize(const int16_t* x, const Quantization<int16_t>& by, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(dequantize_i16)(x, by, y, count(n));
}
void vec_quantize(const float* x, const Quantization<uint16_t>& by, uint16_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(quantize_u16)(x, by, y, count(n));
}
void vec_dequantize(const uint16_t* x, const Quantization<uint16_t>& by, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(dequantize_u16)(x, by, y, count(n));
}

void vec_requantize(const int32_t* x, const Requantization& by, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(requantize_i32)(x, by, y, count(n));
}

void vec_add_quantized(const QuantizedArray<int8_t>& a, const QuantizedArray<int8_t>& b,
                       const Quantization<int8_t>& by, int8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_i8)(a, b, by, y, count(n));
}
void vec_add_quantized(const QuantizedArray<uint8_t>& a, const QuantizedArray<uint8_t>& b,
                       const Quantization<uint8_t>& by, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_u8)(a, b, by, y, count(n));
}
void vec_mul_quantized(const QuantizedArray<int8_t>& a, const QuantizedArray<int8_t>& b,
                       const Quantization<int8_t>& by, int8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(multiply_i8)(a, b, by, y, count(n));
}
void vec_mul_quantized(const QuantizedArray<uint8_t>& a, const QuantizedArray<uint8_t>& b,
                       const Quantization<uint8_t>& by, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(multiply_u8)(a, b, by, y, count(n));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
