#include "engine/kernels/vec/vec_quantize.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_quantize.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_quantize-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace grurun::kernels
#endif  // HWY_ONCE
