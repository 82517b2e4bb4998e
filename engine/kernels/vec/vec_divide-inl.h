// Division of many vectors by one number, correctly rounded, for every instruction set. Included by sources
// that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_DIVIDE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_DIVIDE_INL
#undef GRURUN_VEC_DIVIDE_INL
#else
#define GRURUN_VEC_DIVIDE_INL
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/kernels/machine/simd.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Divides by b as hn::Div does, bit for bit. With fused multiply-add, two steps from a * (1 / b), whose
/// remainders are exact, end in the correctly rounded quotient (Markstein): that is faster than dividing
/// vectors of 64 bytes where processors do not divide fast, though not smaller ones. It needs operands far
/// from overflow and underflow; vectors with others are divided.
class Divisor {
 public:
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;

  explicit Divisor(float b)
      : b_(hn::Set(D(), b)),
        reciprocal_(hn::Div(hn::Set(D(), 1.0f), b_)),
        multiplies_(HWY_TARGET == HWY_AVX3 && !divides_fast() && std::fabs(b) >= least_exact &&
                    std::fabs(b) <= most_exact) {}

  HWY_INLINE V operator()(V a) const {
    if (!multiplies_) return hn::Div(a, b_);
    const hn::RebindToUnsigned<D> du;
    const auto size = hn::BitCast(du, hn::Abs(a));
    const auto least = hn::Set(du, least_bits);
    const auto far = hn::Gt(hn::Sub(size, least), hn::Set(du, most_bits - least_bits));
    if (HWY_UNLIKELY(!hn::AllFalse(du, far)) &&
        !hn::AllFalse(du, hn::AndNot(hn::Eq(size, hn::Zero(du)), far)))
      return hn::Div(a, b_);  // of a zero, only the sign would be lost
    const V first = hn::Mul(a, reciprocal_);
    const V second = hn::MulAdd(hn::NegMulAdd(first, b_, a), reciprocal_, first);
    const V third = hn::MulAdd(hn::NegMulAdd(second, b_, a), reciprocal_, second);
    return hn::CopySign(third, first);
  }

 private:
  static constexpr float least_exact = 0x1p-60f, most_exact = 0x1p60f;
  static constexpr uint32_t least_bits = 0x21800000, most_bits = 0x5d800000;

  V b_, reciprocal_;
  bool multiplies_;
};

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
