#include "engine/kernels/vec/vec_combine_quantized.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_combine_quantized.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_quantize-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Operands, the first of which steps.
template <class T>
struct Operands {
  const T* a;
  const T* b;
  typename QuantizedPair<T>::Numbers by_a, by_b;
};

/// [done, n), for whatever scales.
template <bool multiplies, bool b_steps, class T>
HWY_INLINE void combine_any(const Operands<T>& in, typename QuantizedPair<T>::Numbers by, T* y, size_t done,
                            size_t n) {
  const T *a = in.a + done, *b = in.b + (b_steps ? done : 0);
  T* to = y + done;
  const auto by_a = in.by_a, by_b = in.by_b;
  const float still = done == n ? 0.0f : (static_cast<float>(*b) - by_b.zero_point) * by_b.scale;
  for_lanes<float>(n - done, [=](auto d, size_t i) HWY_ATTR {
    const auto left = load_dequantized(d, a + i, hn::Set(d, by_a.scale), hn::Set(d, by_a.zero_point));
    auto right = hn::Set(d, still);
    if constexpr (b_steps)
      right = load_dequantized(d, b + i, hn::Set(d, by_b.scale), hn::Set(d, by_b.zero_point));
    store_quantized(d, multiplies ? hn::Mul(left, right) : hn::Add(left, right), hn::Set(d, by.scale),
                    hn::Set(d, by.zero_point), to + i);
  });
}

#if HWY_TARGET != HWY_SCALAR
constexpr bool fuses_multiply_add =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64);

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using D16 = hn::Repartition<int16_t, D>;
template <class T>
using D8 = hn::Repartition<T, D>;

/// Four vectors of floats, as many as a vector of bytes holds: parts as InterleaveLower and InterleaveUpper
/// order them in blocks, twice.
struct Reals {
  V of[4];
};

/// What bytes stand for.
template <class T>
class Dequantizer {
 public:
  explicit Dequantizer(typename QuantizedPair<T>::Numbers by)
      : scale_(hn::Set(D(), by.scale)),
        // of the bytes, the zero point with the bits of 2^23 before them
        origin_(hn::Set(D(), 0x1p+23f + offset + by.zero_point)) {}

  HWY_INLINE Reals operator()(const T* x) const {
    const D8<uint8_t> d8;
    const hn::Repartition<uint16_t, D> d16;
    auto bytes = hn::LoadU(d8, reinterpret_cast<const uint8_t*>(x));
    if constexpr (std::is_signed_v<T>) bytes = hn::Xor(bytes, hn::Set(d8, 0x80));
    const auto none = hn::Zero(d8);
    const auto lower = hn::BitCast(d16, hn::InterleaveLower(d8, bytes, none));
    const auto upper = hn::BitCast(d16, hn::InterleaveUpper(d8, bytes, none));
    const auto high = hn::Set(d16, 0x4b00);  // of 2^23
    return {{real(hn::InterleaveLower(d16, lower, high)), real(hn::InterleaveUpper(d16, lower, high)),
             real(hn::InterleaveLower(d16, upper, high)), real(hn::InterleaveUpper(d16, upper, high))}};
  }

 private:
  static constexpr float offset = std::is_signed_v<T> ? 128 : 0;

  template <class V16>
  HWY_INLINE V real(V16 bits) const {
    return hn::Mul(hn::Sub(hn::BitCast(D(), bits), origin_), scale_);
  }

  V scale_, origin_;
};

/// Bytes from words in the order that InterleaveLower and InterleaveUpper made of them, saturated.
template <class T, class V16>
HWY_INLINE hn::Vec<D8<T>> narrowed_blocks(V16 lower, V16 upper) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (std::is_signed_v<T>)
    return {_mm512_packs_epi16(lower.raw, upper.raw)};
  else
    return {_mm512_packus_epi16(lower.raw, upper.raw)};
#elif HWY_TARGET == HWY_AVX2
  if constexpr (std::is_signed_v<T>)
    return {_mm256_packs_epi16(lower.raw, upper.raw)};
  else
    return {_mm256_packus_epi16(lower.raw, upper.raw)};
#else  // vectors of one block
  const hn::Half<D8<T>> half;
  return hn::Combine(D8<T>(), hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
#endif
}

/// round(x / scale) + zero point, x / scale being rounded to float first and below 2^20.
template <bool divides, class T>
class Quantizer {
 public:
  using DI = hn::Repartition<int32_t, D>;

  explicit Quantizer(const QuantizedPair<T>& by)
      : scale_(hn::Set(D(), by.result.scale)),
        reciprocal_(hn::Set(D(), by.reciprocal)),
        rest_(hn::Set(D(), by.rest)),
        shift_(hn::Set(D(), 0x1.8p+23f)),  // adding it rounds to an integer
        back_(hn::Set(DI(), static_cast<int32_t>(by.result.zero_point) - 0x4b400000)) {}

  HWY_INLINE hn::Vec<D8<T>> operator()(const Reals& x) const {
    const D16 d16;
    return narrowed_blocks<T>(hn::ReorderDemote2To(d16, integer(x.of[0]), integer(x.of[1])),
                              hn::ReorderDemote2To(d16, integer(x.of[2]), integer(x.of[3])));
  }

 private:
  HWY_INLINE hn::Vec<DI> integer(V x) const {
    const V quotient = divides ? hn::Div(x, scale_) : hn::MulAdd(x, reciprocal_, hn::Mul(x, rest_));
    return hn::Add(hn::BitCast(DI(), hn::Add(quotient, shift_)), back_);
  }

  V scale_, reciprocal_, rest_, shift_;
  hn::Vec<DI> back_;
};

/// Whole vectors of n; how many numbers they hold.
template <bool multiplies, bool b_steps, bool divides, class T>
HWY_INLINE size_t combine_usual(const Operands<T>& in, const QuantizedPair<T>& by, T* y, size_t n) {
  const T *a = in.a, *b = in.b;
  const Dequantizer<T> from_a(in.by_a), from_b(in.by_b);
  const Quantizer<divides, T> to(by);
  const V still = hn::Set(D(), (static_cast<float>(*b) - in.by_b.zero_point) * in.by_b.scale);
  const auto combined = [](V x, V z) HWY_ATTR { return multiplies ? hn::Mul(x, z) : hn::Add(x, z); };
  const size_t lanes = hn::Lanes(D8<T>());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Reals x = from_a(a + i), z = b_steps ? from_b(b + i) : Reals{{still, still, still, still}};
    hn::StoreU(to(Reals{{combined(x.of[0], z.of[0]), combined(x.of[1], z.of[1]), combined(x.of[2], z.of[2]),
                         combined(x.of[3], z.of[3])}}),
               D8<T>(), y + i);
  }
  return i;
}
#endif

template <bool multiplies, bool b_steps, class T>
HWY_INLINE void combine_with(const Operands<T>& in, const QuantizedPair<T>& by, T* y, size_t n) {
  size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  if (n > 0 && (multiplies ? by.products_are_usual : by.sums_are_usual)) {
    done = fuses_multiply_add && by.divides_by_multiplying
               ? combine_usual<multiplies, b_steps, !fuses_multiply_add>(in, by, y, n)
               : combine_usual<multiplies, b_steps, true>(in, by, y, n);
  }
#endif
  combine_any<multiplies, b_steps>(in, by.result, y, done, n);
}

template <bool multiplies, class T>
HWY_INLINE void combine(const QuantizedPair<T>& by, const T* a, bool a_steps, const T* b, bool b_steps, T* y,
                        size_t n) {
  const Operands<T> in{a, b, by.a, by.b}, turned{b, a, by.b, by.a};
  if (n > 1 && !a_steps) return combine_with<multiplies, false>(turned, by, y, n);
  if (n > 1 && !b_steps) return combine_with<multiplies, false>(in, by, y, n);
  combine_with<multiplies, true>(in, by, y, n);
}

#define GRURUN_COMBINE(NAME, T, MULTIPLIES)                                                       \
  void NAME(const QuantizedPair<T>& by, const T* a, bool a_steps, const T* b, bool b_steps, T* y, \
            size_t n) {                                                                           \
    combine<MULTIPLIES>(by, a, a_steps, b, b_steps, y, n);                                        \
  }
GRURUN_COMBINE(add_i8, int8_t, false)
GRURUN_COMBINE(add_u8, uint8_t, false)
GRURUN_COMBINE(multiply_i8, int8_t, true)
GRURUN_COMBINE(multiply_u8, uint8_t, true)
#undef GRURUN_COMBINE

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(add_i8);
HWY_EXPORT(add_u8);
HWY_EXPORT(multiply_i8);
HWY_EXPORT(multiply_u8);

namespace {

/// Whether x * rest + x * reciprocal, rounded once, is rounded to the same integer as x / scale, rounded to
/// float, for every float x.
///
/// It is off by less than 3 units of 2^-49 before it is rounded. Where that makes it another float than the
/// quotient, a number half-way between two floats lies between both. This matters only next to an odd
/// multiple of 1/2 below 512: beyond, results are saturated either way. Such numbers times scale differ from
/// any float by as many units at least as the last 15 bits of scale's significand are away from 0.
bool divides_exactly(float scale) {
  const uint32_t last = std::bit_cast<uint32_t>(scale) & 0x7fff;
  return last == 0 || (last >= 4 && last <= 0x7fff - 3);
}

template <class T>
typename QuantizedPair<T>::Numbers numbers_of(const Quantization<T>& by) {
  return {*by.scales, by.zero_points == nullptr ? 0.0f : static_cast<float>(*by.zero_points)};
}

}  // namespace

template <class T>
QuantizedPair<T>::QuantizedPair(const Quantization<T>& by_a, const Quantization<T>& by_b,
                                const Quantization<T>& by_result)
    : a(numbers_of(by_a)),
      b(numbers_of(by_b)),
      result(numbers_of(by_result)),
      reciprocal(1.0f / result.scale),
      rest(static_cast<float>(1.0 / result.scale - reciprocal)),
      divides_by_multiplying(divides_exactly(result.scale)) {
  constexpr double far = 0x1p+100;
  const double most_a = 255 * std::fabs(double{a.scale}), most_b = 255 * std::fabs(double{b.scale});
  const double unit = std::fabs(double{result.scale}), most = unit * 0x1p+20;
  const bool usual = most_a < far && most_b < far && unit > 0x1p-30 && unit < 0x1p+30;
  sums_are_usual = usual && most_a + most_b < most;
  products_are_usual = usual && most_a * most_b < most;
}

template struct QuantizedPair<int8_t>;
template struct QuantizedPair<uint8_t>;

#define GRURUN_COMBINE_QUANTIZED(FUNCTION, T, KERNEL)                                                 \
  void FUNCTION(const QuantizedPair<T>& by, const T* a, bool a_steps, const T* b, bool b_steps, T* y, \
                int64_t n) {                                                                          \
    HWY_DYNAMIC_DISPATCH(KERNEL)                                                                      \
    (by, a, a_steps, b, b_steps, y, static_cast<size_t>(std::max<int64_t>(n, 0)));                    \
  }
GRURUN_COMBINE_QUANTIZED(vec_add_quantized, int8_t, add_i8)
GRURUN_COMBINE_QUANTIZED(vec_add_quantized, uint8_t, add_u8)
GRURUN_COMBINE_QUANTIZED(vec_mul_quantized, int8_t, multiply_i8)
GRURUN_COMBINE_QUANTIZED(vec_mul_quantized, uint8_t, multiply_u8)
#undef GRURUN_COMBINE_QUANTIZED

}  // namespace grurun::kernels
#endif  // HWY_ONCE
