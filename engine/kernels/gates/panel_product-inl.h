// Products of rows with panels of a recurrent layer's weights, whatever form these have: as they were packed,
// in float32 for float64, compact, or on the tile registers. For every instruction set; included by
// recurrent.cc, after hwy/foreach_target.h.
#if defined(GRURUN_PANEL_PRODUCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_PANEL_PRODUCT_INL
#undef GRURUN_PANEL_PRODUCT_INL
#else
#define GRURUN_PANEL_PRODUCT_INL
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/kernels/gates/gate_product-inl.h"
#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/gates/row_blocks-inl.h"
#include "engine/kernels/gemm/tile_product-inl.h"
#include "hwy/highway.h"
#include "tensor/error.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Pairs of float32 numbers take longer to widen than pairs of float64 to read.
constexpr bool widens_double = hn::MaxLanes(hn::ScalableTag<double>()) >= 4;

template <class T>
void expect_arranged(const GatePanels<T>& weights) {
  if (weights.whole() == is_widest<T>) return;
  fail_internal("weights of a recurrent layer are arranged for another instruction set than the one in use");
}

/// Panels [begin, end) of weights, of the same width.
template <class T>
struct PanelGroup {
  const GatePanels<T>& weights;
  int64_t begin, end;
  int64_t next = -1;        // the panel whose first gate is to be fetched; -1: none
  bool descending = false;  // how panels are walked

  PanelGroup of(const GatePanels<T>& others) const { return {others, begin, end, next, descending}; }
  size_t count() const { return static_cast<size_t>(end - begin); }
  size_t gates() const { return static_cast<size_t>(weights.gates()); }
  size_t units() const { return static_cast<size_t>(weights.units(begin)); }
  size_t width() const { return gates() * units(); }
  /// From the first panel's bias on in panel order; nullptr if there is none.
  const T* bias() const {
    return weights.bias() == nullptr ? nullptr : weights.bias() + weights.first_column(begin);
  }
};

/// The panels of a range in its order, up to `most` of the same width at a time: body(group).
template <class T, class Body>
HWY_INLINE void each_group(const GatePanels<T>& weights, const PanelRange& range, int64_t most, Body body) {
  const auto same = [&](int64_t a, int64_t b) { return weights.units(a) == weights.units(b); };
  int64_t begin = range.begin, end = range.end;
  while (begin < end && range.descending) {
    int64_t first = end - 1;
    while (first > begin && end - first < most && same(first - 1, end - 1)) --first;
    body(PanelGroup<T>{weights, first, end, begin < first ? first - 1 : -1, true});
    end = first;
  }
  while (begin < end) {
    int64_t last = begin + 1;
    while (last < end && last - begin < most && same(last, begin)) ++last;
    body(PanelGroup<T>{weights, begin, last, last < end ? last : -1, false});
    begin = last;
  }
}

/// Rows of the left factor of a product, and what is made of them for some kinds of weights.
template <class T>
struct Factor {
  size_t count;
  Rows<const T> rows;
  Rows<const T> scaled{};             // for compact weights; may hold no rows
  const SplitRows* pieces = nullptr;  // for the tile registers; nullptr: without these
};

/// C [rows, width of a panel] of the first panel of a group, rows `ld` apart; each panel's is followed by the
/// next one's. It begins as the panels' bias if it is `biased`, else as zero.
template <class T>
struct PanelProducts {
  T* C;
  size_t ld;
  bool biased;
};

/// Panel i as it lies in memory in W.
template <class W, class T>
HWY_INLINE const W* panel_in(const GatePanels<T>& weights, int64_t i) {
  if constexpr (std::is_same_v<W, T>) {
    return weights.panel(i);
  } else {
    return weights.narrow_panel(i);
  }
}

/// A times the gates of a group, as they lie in memory in W.
template <class W, class T>
HWY_INLINE GateProduct<T, W> product_of(Rows<const T> A, const PanelGroup<T>& group,
                                        const PanelProducts<T>& to) {
  return {.K = static_cast<size_t>(group.weights.K()),
          .A = A.data,
          .lda = static_cast<size_t>(A.ld),
          .B = panel_in<W>(group.weights, group.begin),
          .columns = group.units(),
          .start = to.biased ? group.bias() : nullptr,
          .C = to.C,
          .ldc = to.ld,
          .panels = group.count() * group.gates(),
          .panel_stride = group.units(),
          .descending = group.descending,
          .ahead = nullptr,
          .ahead_lines = 0};
}

/// By weights in W.
template <class W, class T>
HWY_INLINE void multiply_in(const Factor<T>& A, const PanelGroup<T>& group, const PanelProducts<T>& to) {
  auto p = product_of<W>(A.rows, group, to);
  const size_t gates = group.gates(), units = p.columns;
  if (A.count == 1) return gate_product(A.count, p);
  // The caches may be too small for more than the product at hand and what the next one needs.
  const size_t products = std::exchange(p.panels, 1);
  for (size_t i = 0; i < products; ++i) {
    if (i > 0) p.C += i % gates == 0 ? A.count * to.ld - (gates - 1) * units : units;
    const W* next = p.B + p.K * units;
    size_t next_units = units;
    if (i + 1 == products) {
      next = group.next < 0 ? nullptr : panel_in<W>(group.weights, group.next);
      next_units = group.next < 0 ? 0 : static_cast<size_t>(group.weights.units(group.next));
    }
    p.ahead = reinterpret_cast<const char*>(next);
    p.ahead_lines = p.K * next_units * sizeof(W) / 64;
    gate_product(A.count, p);
    p.B += p.K * units;
    if (p.start) p.start += units;
  }
}

/// By weights as they were packed, or, of float64 and few rows, by their copy in float32.
template <class T>
HWY_INLINE void multiply_packed(const Factor<T>& A, const PanelGroup<T>& group, const PanelProducts<T>& to) {
  if constexpr (std::is_same_v<T, double> && widens_double) {
    if (A.count <= most_tile_rows && group.weights.narrow_panel(group.begin) != nullptr)
      return multiply_in<float>(A, group, to);
  }
  multiply_in<T>(A, group, to);
}

template <class T>
void multiply_compact(const Factor<T>& A, const PanelGroup<T>& group, const PanelProducts<T>& to) {
  const size_t gates = group.gates();
  CompactProduct p{product_of<T>(A.rows, group, to), group.weights.compact(),
                   static_cast<size_t>(group.begin) * gates, A.scaled.data, static_cast<size_t>(A.scaled.ld)};
  const size_t units = p.columns;
  if (A.count == 1) return gate_product(A.count, p);
  const size_t products = std::exchange(p.panels, 1);
  for (size_t i = 0; i < products; ++i, ++p.matrix) {
    if (i > 0) p.C += i % gates == 0 ? A.count * to.ld - (gates - 1) * units : units;
    gate_product(A.count, p);
    if (p.start) p.start += units;
  }
}

#if GRURUN_TILES
/// One panel by the tile registers; rows that they cannot multiply well are done without.
inline void multiply_by_tiles(const Factor<float>& A, const PanelGroup<float>& group,
                              const PanelProducts<float>& to) {
  const size_t K = static_cast<size_t>(group.weights.K()), units = group.units();
  const SplitRows& pieces = *A.pieces;
  configure_tiles(pieces);
  tile_product(pieces, {K, group.gates(), units, group.weights.panel(group.begin), units, K * units},
               to.biased ? group.bias() : nullptr, false, to.C, to.ld);
  for (size_t row = 0; pieces.any_outside() && row < pieces.rows(); ++row) {
    if (!pieces.is_outside(row)) continue;
    multiply_packed<float>({1, A.rows.from(static_cast<int64_t>(row))},
                           {group.weights, group.begin, group.begin + 1},
                           {to.C + row * to.ld, to.ld, to.biased});
  }
}
#endif

/// The products of A with a group of panels.
template <class T>
HWY_INLINE void multiply(const Factor<T>& A, const PanelGroup<T>& group, const PanelProducts<T>& to) {
#if GRURUN_TILES
  if constexpr (std::is_same_v<T, float>) {
    if (A.pieces != nullptr) return multiply_by_tiles(A, group, to);
  }
#endif
  if constexpr (has_compact<T>) {
    if (group.weights.compact() != nullptr) return multiply_compact(A, group, to);
  }
  multiply_packed(A, group, to);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
