#include "engine/kernels/vec/tree_masks.h"

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/tree_masks.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using MaskTag = hn::ScalableTag<float>;
using LeafTag = hn::RebindToUnsigned<MaskTag>;
using LeafVec = hn::Vec<LeafTag>;

/// The number of the lowest bit that is not set, if there is one.
HWY_INLINE LeafVec first_clear(LeafVec bits) {
  const LeafTag d;
  const hn::RebindToSigned<LeafTag> di;
  const auto bit = hn::AndNot(bits, hn::Add(bits, hn::Set(d, 1u)));
  // As a float it has its number as exponent, be it the sign's or not.
  const auto number = hn::BitCast(d, hn::ConvertTo(MaskTag(), hn::BitCast(di, bit)));
  return hn::Sub(hn::And(hn::ShiftRight<23>(number), hn::Set(d, 0xffu)), hn::Set(d, 127u));
}

template <bool nan_holds>
HWY_INLINE LeafVec add_where_it_holds(LeafVec passed, hn::Vec<MaskTag> x, hn::Vec<MaskTag> at, LeafVec more) {
  const LeafTag d;
  const auto holds = hn::RebindMask(d, nan_holds ? hn::Not(hn::Gt(x, at)) : hn::Le(x, at));
#if HWY_TARGET == HWY_AVX3
  return LeafVec{_mm512_mask_or_epi32(passed.raw, holds.raw, passed.raw, more.raw)};
#else
  return hn::Or(passed, hn::IfThenElseZero(holds, more));
#endif
}

/// Of C vectors of rows.
template <bool nan_holds, size_t C>
HWY_INLINE void leaves_of_vectors(const MaskTree& tree, const float* x, std::ptrdiff_t x_step,
                                  std::uint32_t* leaves) {
  const MaskTag df;
  const LeafTag d;
  const size_t lanes = hn::Lanes(d);
  LeafVec leaf[C];
  GRURUN_UNROLL for (size_t c = 0; c < C; ++c) leaf[c] = hn::Zero(d);
  // A word has its say where the words before it have none: in the last one with leaves, a bit is not set.
  for (size_t word = tree.words; word-- > 0;) {
    LeafVec passed[C];
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) passed[c] = hn::Zero(d);
    for (size_t i = word == 0 ? 0 : tree.ends[word - 1]; i < tree.ends[word]; ++i) {
      const MaskNode& node = tree.nodes[i];
      const auto at = hn::Set(df, node.at);
      const auto more = hn::Set(d, node.passed);
      const float* const of_feature = x + static_cast<std::ptrdiff_t>(node.feature) * x_step;
      GRURUN_UNROLL for (size_t c = 0; c < C; ++c) passed[c] =
          add_where_it_holds<nan_holds>(passed[c], hn::LoadU(df, of_feature + c * lanes), at, more);
    }
    const auto before = hn::Set(d, static_cast<std::uint32_t>(32 * word));
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) leaf[c] =
        hn::IfThenElse(hn::Eq(passed[c], hn::Set(d, ~0u)), leaf[c], hn::Add(first_clear(passed[c]), before));
  }
  GRURUN_UNROLL for (size_t c = 0; c < C; ++c) hn::StoreU(leaf[c], d, leaves + c * lanes);
}

template <bool nan_holds>
void leaves_of_rows(const MaskTree& tree, const float* x, std::ptrdiff_t x_step, std::size_t rows,
                    std::uint32_t* leaves) {
  const size_t lanes = hn::Lanes(LeafTag());
  size_t row = 0;
  for (; row + 3 * lanes < rows; row += 4 * lanes)
    leaves_of_vectors<nan_holds, 4>(tree, x + row, x_step, leaves + row);
  for (; row < rows; row += lanes) leaves_of_vectors<nan_holds, 1>(tree, x + row, x_step, leaves + row);
}

void find_all_leaves(const MaskTree& tree, const float* x, std::ptrdiff_t x_step, std::size_t rows,
                     std::uint32_t* leaves) {
  if (tree.nan_holds) {
    leaves_of_rows<true>(tree, x, x_step, rows, leaves);
  } else {
    leaves_of_rows<false>(tree, x, x_step, rows, leaves);
  }
}

std::size_t lanes_of_leaves() {
  return hn::Lanes(LeafTag());
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(find_all_leaves);
HWY_EXPORT(lanes_of_leaves);

void find_leaves(const MaskTree& tree, const float* x, std::ptrdiff_t x_step, std::size_t rows,
                 std::uint32_t* leaves) {
  HWY_DYNAMIC_DISPATCH(find_all_leaves)(tree, x, x_step, rows, leaves);
}
std::size_t mask_tree_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes_of_leaves)();
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
