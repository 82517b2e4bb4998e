#include "engine/kernels/integer/byte_taps.h"

#include <cstddef>
#include <cstring>

#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"
#include "tensor/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/integer/byte_taps.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

using DI = hn::ScalableTag<int32_t>;
using DB = hn::Repartition<uint8_t, DI>;
using VI = hn::Vec<DI>;
using VB = hn::Vec<DB>;

constexpr size_t lanes = hn::MaxLanes(DI());

/// Sums of products of unsigned and signed bytes, by pairs of int16, which hold those of one pair if one of
/// its weights is 0.
HWY_INLINE VI pair_products(VB a, VI b) {
#if HWY_TARGET == HWY_AVX3
  return VI{_mm512_madd_epi16(_mm512_maddubs_epi16(a.raw, b.raw), _mm512_set1_epi16(1))};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_madd_epi16(_mm256_maddubs_epi16(a.raw, b.raw), _mm256_set1_epi16(1))};
#else
  return VI{_mm_madd_epi16(_mm_maddubs_epi16(a.raw, b.raw), _mm_set1_epi16(1))};
#endif
}

/// sum + four products of each lane.
template <bool at_once>
HWY_INLINE VI add_products(VI sum, VB a, VI b) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (at_once) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
#endif
  const VI even = hn::And(b, hn::Set(DI(), 0x00ff00ff));
  sum = hn::Add(sum, pair_products(a, even));
  return hn::Add(sum, pair_products(a, hn::Xor(b, even)));
}

/// For each of the sums of a vector, the bytes under four taps, in its lane.
class Spread {
 public:
  explicit HWY_INLINE Spread(const ByteSteps& steps)
      : words_(hn::LoadU(DI(), steps.words())), bytes_(hn::LoadU(DB(), steps.bytes())) {}

  HWY_INLINE VB load(const uint8_t* x) const {
    VB loaded = hn::LoadU(DB(), x);
    if constexpr (lanes > 4) {
      const DI d;
      loaded = hn::BitCast(DB(), hn::TableLookupLanes(hn::BitCast(d, loaded), hn::IndicesFromVec(d, words_)));
    }
    return hn::TableLookupBytes(loaded, bytes_);
  }

 private:
  VI words_;
  VB bytes_;
};

template <bool at_once, size_t count>
HWY_INLINE void sum_vectors(const ByteTaps& p, const Spread& spread, const uint8_t* x, int32_t* y) {
  const DI d;
  const int64_t step = static_cast<int64_t>(lanes) * p.steps.stride(), dilation = p.steps.dilation();
  VI sums[count];
  GRURUN_UNROLL for (size_t v = 0; v < count; ++v) sums[v] = hn::Set(d, p.start);
  const int8_t* w = p.w;
  for (int64_t t = 0; t < p.tap_rows; ++t, x += p.tap_step) {
    for (int64_t k = 0; k < p.taps; k += 4, w += 4) {
      int32_t weights;
      std::memcpy(&weights, w, 4);
      const VI b = hn::Set(d, weights);
      GRURUN_UNROLL for (size_t v = 0; v < count; ++v) sums[v] =
          add_products<at_once>(sums[v], spread.load(x + k * dilation + static_cast<int64_t>(v) * step), b);
    }
  }
  GRURUN_UNROLL for (size_t v = 0; v < count; ++v) hn::StoreU(sums[v], d, y + v * lanes);
}

template <bool at_once>
void sum_rows(const ByteTaps& p, int64_t rows, int64_t n, int32_t* y, int64_t ldy) {
  constexpr int64_t least = byte_taps_at_once, most = 4 * lanes;
  const Spread spread(p.steps);
  const int64_t stride = p.steps.stride();
  const uint8_t* x = p.x;
  for (int64_t r = 0; r < rows; ++r, x += p.x_step, y += ldy) {
    int64_t i = 0;
    for (; i + most <= n; i += most) sum_vectors<at_once, 4>(p, spread, x + i * stride, y + i);
    for (; i < n; i += least) sum_vectors<at_once, least / lanes>(p, spread, x + i * stride, y + i);
  }
}

void sum_byte_taps_here(const ByteTaps& p, int64_t rows, int64_t n, int32_t* y, int64_t ldy) {
#if HWY_TARGET == HWY_AVX3
  if (multiplies_bytes()) return sum_rows<true>(p, rows, n, y, ldy);
#endif
  sum_rows<false>(p, rows, n, y, ldy);
}

bool has_byte_taps() {
  return true;
}

#else

void sum_byte_taps_here(const ByteTaps&, int64_t, int64_t, int32_t*, int64_t) {
  fail_internal("this instruction set has no sums of bytes under taps");
}

bool has_byte_taps() {
  return false;
}

#endif

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(sum_byte_taps_here);
HWY_EXPORT(has_byte_taps);

ByteSteps::ByteSteps(int64_t stride, int64_t dilation) : stride_(stride), dilation_(dilation) {
  constexpr int64_t block = 4;  // sums, whose bytes are taken out of 16
  for (int64_t i = 0; i < static_cast<int64_t>(words_.size()); ++i) {
    words_[static_cast<size_t>(i)] = static_cast<int32_t>(i / block * stride + i % block);
    for (int64_t k = 0; k < 4; ++k)
      bytes_[static_cast<size_t>(4 * i + k)] = static_cast<uint8_t>(i % block * stride + k * dilation);
  }
}

bool ByteSteps::knows(int64_t stride, int64_t dilation) {
  // 3 * (stride + dilation) < 16: what four taps of four sums read.
  return stride > 0 && dilation > 0 && stride + dilation <= 5 && HWY_DYNAMIC_DISPATCH(has_byte_taps)();
}

void sum_byte_taps(const ByteTaps& p, int64_t rows, int64_t n, int32_t* y, int64_t ldy) {
  HWY_DYNAMIC_DISPATCH(sum_byte_taps_here)(p, rows, n, y, ldy);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
