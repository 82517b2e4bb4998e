// Vectors to and from integers of 8 and 16 bits, for every instruction set. Included by sources that compile
// per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_QUANTIZE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_QUANTIZE_INL
#undef GRURUN_VEC_QUANTIZE_INL
#else
#define GRURUN_VEC_QUANTIZE_INL
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "engine/kernels/vec/vec_integers-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Of all elements.
template <class T, class S>
HWY_INLINE S zero_point_of(const Quantization<T, S>& by) {
  return by.zero_points == nullptr ? S(0) : static_cast<S>(*by.zero_points);
}

/// step(d, i, scale, zero_point) for all elements.
template <bool step_count, class T, class S, class Step>
HWY_INLINE void for_quantized(const Quantization<T, S>& by, size_t n, const Step& step) {
  const S scale = step_count ? S(0) : *by.scales;
  const S zero_point = step_count ? S(0) : zero_point_of(by);
  const S* scales = by.scales;
  const T* zero_points = by.zero_points;
  for_lanes<S>(n, [=](auto d, size_t i) HWY_ATTR {
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

/// Quotients computed in float, from sums and factors that were rounded to it. They are no more than 3 *
/// 2^-24 of their size away from what they should be: up to 256 that is 3/8 of 2^-13. Rounded to a multiple
/// of 2^-13 they are 7/8 of that away at most, so that only the one in the middle between two integers may
/// end in the wrong one.
class FloatRounding {
 public:
  explicit FloatRounding(const Requantization& by)
      : least_(static_cast<float>(by.least - by.zero_point)),
        offset_(static_cast<uint32_t>(by.zero_point - by.least) * whole + whole / 2 - shift_bits) {}

  /// In whole parts the bytes, less by.least, rounded down from a half more than they are.
  template <class D>
  HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> bits(D d, hn::Vec<D> quotient) const {
    const hn::RebindToUnsigned<D> du;
    const auto clamped = hn::Min(hn::Max(quotient, hn::Set(d, least_)), hn::Set(d, least_ + 255));
    return hn::Add(hn::BitCast(du, hn::Add(clamped, hn::Set(d, shift))), hn::Set(du, offset_));
  }

  /// Where a byte may be wrong.
  template <class V>
  static HWY_INLINE auto is_middle(V bits) {
    const hn::DFromV<V> du;
    return hn::Eq(hn::And(bits, hn::Set(du, whole - 1)), hn::Zero(du));
  }

  template <class V>
  static HWY_INLINE V whole_part(V bits) {
    return hn::ShiftRight<fraction_bits>(bits);
  }

 private:
  static constexpr int fraction_bits = 13;
  static constexpr uint32_t whole = 1u << fraction_bits;
  static constexpr float shift = 0x1.8p+10f;  // after whose addition so many bits of a fraction are left
  static constexpr uint32_t shift_bits = std::bit_cast<uint32_t>(shift);

  float least_;
  uint32_t offset_;
};

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
/// Four vectors of numbers below 256 as bytes.
template <class D, class V>
HWY_INLINE hn::Vec<hn::Repartition<uint8_t, D>> packed(D d, V a, V b, V c, V e) {
  constexpr size_t lanes = hn::MaxLanes(D());
  using Bytes = hn::Vec<hn::Repartition<uint8_t, D>>;
#if HWY_TARGET == HWY_AVX3
  const Bytes mixed{_mm512_packus_epi16(_mm512_packs_epi32(a.raw, b.raw), _mm512_packs_epi32(c.raw, e.raw))};
#elif HWY_TARGET == HWY_AVX2
  const Bytes mixed{_mm256_packus_epi16(_mm256_packs_epi32(a.raw, b.raw), _mm256_packs_epi32(c.raw, e.raw))};
#else
  const Bytes mixed{_mm_packus_epi16(_mm_packs_epi32(a.raw, b.raw), _mm_packs_epi32(c.raw, e.raw))};
#endif
  if constexpr (lanes == 4) return mixed;
  // A block of 16 bytes has four of each vector.
  HWY_ALIGN static constexpr auto places = [] {
    std::array<int32_t, lanes> from{};
    for (size_t i = 0; i < lanes; ++i) from[i] = static_cast<int32_t>(i % (lanes / 4) * 4 + i / (lanes / 4));
    return from;
  }();
  const hn::Repartition<int32_t, D> di;
  return hn::BitCast(hn::Repartition<uint8_t, D>(),
                     hn::TableLookupLanes(hn::BitCast(di, mixed), hn::SetTableIndices(di, places.data())));
}
#endif

template <class D, class V, class T>
HWY_INLINE void store_quotient(D d, V quotient, V zero_point, T* y) {
  using C = hn::TFromD<D>;
  const auto least = hn::Set(d, static_cast<C>(std::numeric_limits<T>::min()));
  const auto most = hn::Set(d, static_cast<C>(std::numeric_limits<T>::max()));
  store_rounded(d, quotient, zero_point, least, most, reinterpret_cast<hwy::MakeUnsigned<T>*>(y));
}

template <class D, class V, class T>
HWY_INLINE void store_quantized(D d, V x, V scale, V zero_point, T* y) {
  store_quotient(d, hn::Div(x, scale), zero_point, y);
}

template <class D, class V, class T>
HWY_INLINE V load_dequantized(D d, const T* x, V scale, V zero_point) {
  return hn::Mul(hn::Sub(load_integers(d, x), zero_point), scale);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
