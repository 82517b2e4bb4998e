#include "engine/kernels/vec/vec_quantize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_quantize.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_quantize-inl.h"
#include "hwy/highway.h"

// DO(T, name) for each type of integers; DO(X, Scale, T, name) for what is quantized to them.
#undef GRURUN_FOR_INTEGERS
#define GRURUN_FOR_INTEGERS(DO) DO(int8_t, i8) DO(uint8_t, u8) DO(int16_t, i16) DO(uint16_t, u16)
#undef GRURUN_FOR_QUANTIZED
#define GRURUN_FOR_QUANTIZED(DO)         \
  GRURUN_FROM(DO, float, float, f32)     \
  GRURUN_FROM(DO, Float16, float, f16)   \
  GRURUN_FROM(DO, BFloat16, float, bf16) \
  GRURUN_FROM(DO, int32_t, float, i32)   \
  GRURUN_FROM(DO, int32_t, double, i32_f64)
#undef GRURUN_FROM
#define GRURUN_FROM(DO, X, S, NAME) \
  DO(X, S, int8_t, NAME##_i8)       \
  DO(X, S, uint8_t, NAME##_u8) DO(X, S, int16_t, NAME##_i16) DO(X, S, uint16_t, NAME##_u16)

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool step_count, class X, class T, class S>
HWY_INLINE void quantize_with(const X* x, const Quantization<T, S>& by, T* y, size_t n) {
  for_quantized<step_count>(by, n, [=](auto d, size_t i, auto scale, auto zero_point) HWY_ATTR {
    hn::Vec<decltype(d)> v;
    if constexpr (std::is_integral_v<X>) v = load_integers(d, x + i);
    if constexpr (!std::is_integral_v<X>) v = load_elements(d, x + i);
    store_quotient(d, round_elements<X>(d, hn::Div(v, scale)), zero_point, y + i);
  });
}

template <class X, class T, class S>
HWY_INLINE void quantize(const X* x, const Quantization<T, S>& by, T* y, size_t n) {
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

#define GRURUN_QUANTIZE(X, S, T, NAME)                                             \
  void quantize_##NAME(const X* x, const Quantization<T, S>& by, T* y, size_t n) { \
    quantize(x, by, y, n);                                                         \
  }
#define GRURUN_DEQUANTIZE(T, NAME)                                                    \
  void dequantize_##NAME(const T* x, const Quantization<T>& by, float* y, size_t n) { \
    dequantize(x, by, y, n);                                                          \
  }
GRURUN_FOR_QUANTIZED(GRURUN_QUANTIZE)
GRURUN_FOR_INTEGERS(GRURUN_DEQUANTIZE)
#undef GRURUN_QUANTIZE
#undef GRURUN_DEQUANTIZE

/// Modulo 2^32; as unsigned numbers, whose sum no target's compiler takes for undefined.
template <class D, class V>
HWY_INLINE V add_wrapping(D d, V a, V b) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::Add(hn::BitCast(du, a), hn::BitCast(du, b)));
}

/// x[i ...] + addend.
template <bool adds, class D>
HWY_INLINE hn::Vec<D> load_sums(D d, const int32_t* x, const Requantization& by, size_t i) {
  const auto sum = hn::LoadU(d, x + i);
  return adds ? add_wrapping(d, sum, hn::LoadU(d, by.addends + i)) : sum;
}

/// Elements [begin, end) as they are defined.
template <bool divides, bool adds>
HWY_INLINE void requantize_exactly(const int32_t* x, const Requantization& by, uint8_t* y, size_t begin,
                                   size_t end) {
  const Requantization all = by;  // in registers: y may be anything
  for_lanes<double>(end - begin, [=](auto d, size_t k) HWY_ATTR {
    const size_t i = begin + k;
    const auto factor = all.step == 0 ? hn::Set(d, *all.factors) : hn::LoadU(d, all.factors + i);
    auto quotient =
        hn::Mul(hn::PromoteTo(d, load_sums<adds>(hn::Rebind<int32_t, decltype(d)>(), x, all, i)), factor);
    if constexpr (divides) quotient = hn::Div(quotient, hn::Set(d, all.scale));
    const double zero_point = all.zero_point, least = all.least;
    store_rounded(d, quotient, hn::Set(d, zero_point), hn::Set(d, least), hn::Set(d, least + 255), y + i);
  });
}

/// Of sums that lie in memory.
template <bool adds, bool steps>
class FloatQuotients : public FloatRounding {
 public:
  /// `factor`, of all elements where by.step is 0, is finite.
  FloatQuotients(const int32_t* x, const Requantization& by, float factor)
      : FloatRounding(by), x_(x), by_(by), factor_(factor) {}

  template <class D>
  HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> bits(D d, size_t i) const {
    const auto sum = hn::ConvertTo(d, load_sums<adds>(hn::Rebind<int32_t, D>(), x_, by_, i));
    return FloatRounding::bits(d, hn::Mul(sum, steps ? hn::LoadU(d, by_.nearest + i) : hn::Set(d, factor_)));
  }

 private:
  const int32_t* x_;
  const Requantization by_;
  float factor_;
};

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
/// As many as there are in whole fours of vectors; how many that was.
template <bool divides, bool adds, bool steps>
HWY_INLINE size_t requantize_fours(const int32_t* x, const Requantization& by,
                                   const FloatQuotients<adds, steps>& quotients, uint8_t* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<uint8_t, decltype(d)> bytes;
  constexpr size_t lanes = hn::MaxLanes(d);
  const auto least = hn::Set(bytes, static_cast<uint8_t>(by.least));
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = quotients.bits(d, i), b = quotients.bits(d, i + lanes);
    const auto c = quotients.bits(d, i + 2 * lanes), e = quotients.bits(d, i + 3 * lanes);
    const auto together = packed(du, quotients.whole_part(a), quotients.whole_part(b),
                                 quotients.whole_part(c), quotients.whole_part(e));
    hn::StoreU(hn::Add(together, least), bytes, y + i);
    const auto middle = hn::Or(hn::Or(quotients.is_middle(a), quotients.is_middle(b)),
                               hn::Or(quotients.is_middle(c), quotients.is_middle(e)));
    if (HWY_UNLIKELY(!hn::AllFalse(du, middle)))
      requantize_exactly<divides, adds>(x, by, y, i, i + 4 * lanes);
  }
  return i;
}
#endif

template <bool divides, bool adds, bool steps>
HWY_INLINE void requantize_in_float(const int32_t* x, const Requantization& by, float factor, uint8_t* y,
                                    size_t n) {
  const FloatQuotients<adds, steps> quotients(x, by, factor);
  size_t done = 0;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  done = requantize_fours<divides>(x, by, quotients, y, n);
#endif
  const auto step = [=](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<uint8_t, decltype(d)> bytes;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto bits = quotients.bits(d, i);
    const auto numbers = hn::Add(quotients.whole_part(bits), hn::Set(du, static_cast<uint32_t>(by.least)));
    hn::StoreU(hn::TruncateTo(bytes, numbers), bytes, y + i);
    if (HWY_UNLIKELY(!hn::AllFalse(du, quotients.is_middle(bits))))
      requantize_exactly<divides, adds>(x, by, y, i, i + hn::Lanes(d));
  };
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = done;
  for (; i + lanes <= n; i += lanes) step(d, i);
  if (i == n) return;
  // The last of a vector, some of them for the second time.
  if (n >= lanes) return step(d, n - lanes);
  for (; i < n; ++i) step(hn::CappedTag<float, 1>(), i);
}

template <bool divides, bool adds>
HWY_INLINE void requantize(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  if (by.step != 0) {
    if (by.nearest != nullptr) return requantize_in_float<divides, adds, true>(x, by, 0, y, n);
  } else if (n != 0) {
    const auto factor = static_cast<float>(*by.factors / by.scale);
    if (std::isfinite(factor)) return requantize_in_float<divides, adds, false>(x, by, factor, y, n);
  }
  requantize_exactly<divides, adds>(x, by, y, 0, n);
}

template <bool divides>
HWY_INLINE void requantize(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  if (by.addends == nullptr) return requantize<divides, false>(x, by, y, n);
  requantize<divides, true>(x, by, y, n);
}

void requantize_i32(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  if (by.scale == 1) return requantize<false>(x, by, y, n);
  requantize<true>(x, by, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(requantize_i32);

namespace {
size_t count(int64_t n) {
  return static_cast<size_t>(std::max<int64_t>(n, 0));
}
}  // namespace

#define GRURUN_QUANTIZE(X, S, T, NAME)                                           \
  HWY_EXPORT(quantize_##NAME);                                                   \
  void vec_quantize(const X* x, const Quantization<T, S>& by, T* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(quantize_##NAME)(x, by, y, count(n));                   \
  }
#define GRURUN_DEQUANTIZE(T, NAME)                                                  \
  HWY_EXPORT(dequantize_##NAME);                                                    \
  void vec_dequantize(const T* x, const Quantization<T>& by, float* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(dequantize_##NAME)(x, by, y, count(n));                    \
  }
GRURUN_FOR_QUANTIZED(GRURUN_QUANTIZE)
GRURUN_FOR_INTEGERS(GRURUN_DEQUANTIZE)
#undef GRURUN_QUANTIZE
#undef GRURUN_DEQUANTIZE

ScratchVector<float> nearest_factors(std::span<const double> factors, double scale) {
  ScratchVector<float> out(factors.size());
  bool finite = true;
  for (size_t i = 0; i < factors.size(); ++i) {
    out[i] = static_cast<float>(factors[i] / scale);
    finite = finite && std::isfinite(out[i]);
  }
  if (!finite) out.clear();
  return out;
}

void vec_requantize(const int32_t* x, const Requantization& by, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(requantize_i32)(x, by, y, count(n));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
