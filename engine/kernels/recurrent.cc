#include "engine/kernels/recurrent.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/recurrent.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/gate_product-inl.h"
#include "engine/kernels/recurrent_cells-inl.h"
#include "engine/kernels/row_blocks-inl.h"
#include "engine/kernels/tile_product-inl.h"
#include "hwy/highway.h"
#include "tensor/error.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Pairs of float32 numbers take longer to widen than pairs of float64 to read.
constexpr bool kWidens = hn::MaxLanes(hn::ScalableTag<double>()) >= 4;
#if GRURUN_TILES
constexpr size_t kSplitBytes = size_t{1} << 19;  // of rows that a projection splits at a time
#endif

/// The panels of a range in its order, up to `most` of the same width at a time. body(begin, end, next):
/// panels [begin, end), and the one that follows, or -1.
template <class T, class Body>
HWY_INLINE void each_group(const GatePanels<T>& weights, PanelRange range, int64_t most, Body body) {
  const auto same = [&](int64_t a, int64_t b) { return weights.units(a) == weights.units(b); };
  int64_t begin = range.begin, end = range.end;
  while (begin < end && range.descending) {
    int64_t first = end - 1;
    while (first > begin && end - first < most && same(first - 1, end - 1)) --first;
    body(first, end, begin < first ? first - 1 : -1);
    end = first;
  }
  while (begin < end) {
    int64_t last = begin + 1;
    while (last < end && last - begin < most && same(last, begin)) ++last;
    body(begin, last, last < end ? last : -1);
    begin = last;
  }
}

/// Of panel `next` of weights, unless it is -1, the first gate is to be fetched.
template <class T>
struct Ahead {
  const GatePanels<T>& weights;
  int64_t next;
  bool descending;  // how panels are walked
};

template <class T>
void expect_arranged(const GatePanels<T>& weights) {
  if (weights.whole() == kWidest<T>) return;
  fail_internal("weights of a recurrent layer are arranged for another instruction set than the one in use");
}

/// From a panel's bias on in panel order; nullptr if there is none.
template <class T>
HWY_INLINE const T* panel_bias(const GatePanels<T>& weights, int64_t panel) {
  return weights.bias() == nullptr ? nullptr : weights.bias() + weights.first_column(panel);
}

/// Rows of the left factor of a product; in pieces, if the tile registers are to multiply them.
template <class T>
struct Factor {
  Rows<const T> rows;
  const SplitRows* pieces = nullptr;
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

/// A times the gates of panels [begin, end), as they lie in memory in W.
template <class W, class T>
HWY_INLINE GateProduct<T, W> product_of(Rows<const T> A, const GatePanels<T>& weights, bool biased,
                                        int64_t begin, int64_t end, T* C, size_t ldc, bool descending) {
  const auto gates = static_cast<size_t>(weights.gates()), units = static_cast<size_t>(weights.units(begin));
  return {.K = static_cast<size_t>(weights.K()),
          .A = A.data,
          .lda = static_cast<size_t>(A.ld),
          .B = panel_in<W>(weights, begin),
          .columns = units,
          .start = biased ? panel_bias(weights, begin) : nullptr,
          .C = C,
          .ldc = ldc,
          .panels = static_cast<size_t>(end - begin) * gates,
          .panel_stride = units,
          .descending = descending,
          .ahead = nullptr,
          .ahead_lines = 0};
}

/// As multiply() below, by weights in W.
template <class W, class T>
HWY_INLINE void multiply_in(size_t rows, Rows<const T> A, const GatePanels<T>& weights, bool biased,
                            int64_t begin, int64_t end, T* C, size_t ldc, const Ahead<T>& ahead) {
  auto p = product_of<W>(A, weights, biased, begin, end, C, ldc, ahead.descending);
  const auto gates = static_cast<size_t>(weights.gates());
  const size_t units = p.columns;
  if (rows == 1) return gate_product(rows, p);
  // The caches may be too small for more than the product at hand and what the next one needs.
  const size_t products = std::exchange(p.panels, 1);
  for (size_t i = 0; i < products; ++i) {
    if (i > 0) p.C += i % gates == 0 ? rows * ldc - (gates - 1) * units : units;
    const W* next = p.B + p.K * units;
    size_t next_units = units;
    if (i + 1 == products) {
      next = ahead.next < 0 ? nullptr : panel_in<W>(weights, ahead.next);
      next_units = ahead.next < 0 ? 0 : static_cast<size_t>(weights.units(ahead.next));
    }
    p.ahead = reinterpret_cast<const char*>(next);
    p.ahead_lines = p.K * next_units * sizeof(W) / 64;
    gate_product(rows, p);
    p.B += p.K * units;
    if (p.start) p.start += units;
  }
}

/// C [rows, width of a panel] = A * panels [begin, end) of weights, which have the same width; plus their
/// bias if `biased`. Each panel's C is followed by the next one's.
template <class T>
HWY_INLINE void multiply(size_t rows, Rows<const T> A, const GatePanels<T>& weights, bool biased,
                         int64_t begin, int64_t end, T* C, size_t ldc, const Ahead<T>& ahead) {
  if constexpr (std::is_same_v<T, double> && kWidens) {
    if (rows <= kMostTileRows && weights.narrow_panel(begin) != nullptr)
      return multiply_in<float>(rows, A, weights, biased, begin, end, C, ldc, ahead);
  }
  multiply_in<T>(rows, A, weights, biased, begin, end, C, ldc, ahead);
}

/// The same by compact weights; `scaled` may hold no rows.
template <class T>
void multiply_compact(size_t rows, Rows<const T> A, Rows<const T> scaled, const GatePanels<T>& weights,
                      bool biased, int64_t begin, int64_t end, T* C, size_t ldc, bool descending) {
  const auto gates = static_cast<size_t>(weights.gates());
  CompactProduct p{product_of<T>(A, weights, biased, begin, end, C, ldc, descending), weights.compact(),
                   static_cast<size_t>(begin) * gates, scaled.data, static_cast<size_t>(scaled.ld)};
  const size_t units = p.columns;
  if (rows == 1) return gate_product(rows, p);
  const size_t products = std::exchange(p.panels, 1);
  for (size_t i = 0; i < products; ++i, ++p.matrix) {
    if (i > 0) p.C += i % gates == 0 ? rows * ldc - (gates - 1) * units : units;
    gate_product(rows, p);
    if (p.start) p.start += units;
  }
}

#if GRURUN_TILES
/// The same for one panel by the tile registers; what they cannot multiply well is done without.
inline void multiply(const Factor<float>& A, const GatePanels<float>& weights, bool biased, int64_t panel,
                     float* C, size_t ldc) {
  const auto gates = static_cast<size_t>(weights.gates()), units = static_cast<size_t>(weights.units(panel));
  const auto K = static_cast<size_t>(weights.K());
  const SplitRows& pieces = *A.pieces;
  configure_tiles(pieces);
  tile_product(pieces, {K, gates, units, weights.panel(panel), units, K * units},
               biased ? panel_bias(weights, panel) : nullptr, false, C, ldc);
  for (size_t row = 0; pieces.any_outside() && row < pieces.rows(); ++row) {
    if (!pieces.is_outside(row)) continue;
    multiply<float>(1, {A.rows.row(static_cast<int64_t>(row)), A.rows.ld}, weights, biased, panel, panel + 1,
                    C + row * ldc, ldc, {weights, -1, false});
  }
}
#endif

template <class T>
HWY_INLINE void multiply(size_t rows, const Factor<T>& A, const ScaledRows<T>& scaled,
                         const GatePanels<T>& weights, bool biased, int64_t begin, int64_t end, T* C,
                         size_t ldc, const Ahead<T>& ahead) {
#if GRURUN_TILES
  if constexpr (std::is_same_v<T, float>) {
    if (A.pieces != nullptr) return multiply(A, weights, biased, begin, C, ldc);
  }
#endif
  if constexpr (kCompacts<T>) {
    if (weights.compact() != nullptr) {
      return multiply_compact(rows, A.rows, scaled.rows(), weights, biased, begin, end, C, ldc,
                              ahead.descending);
    }
  }
  multiply(rows, A.rows, weights, biased, begin, end, C, ldc, ahead);
}

#if GRURUN_TILES
void project_by_tiles(const Projection<float>& p, PanelRange range) {
  const auto K = static_cast<size_t>(p.W->K());
  const RowBlocks rows{static_cast<size_t>(p.rows)};
  const size_t together = std::max<size_t>(1, kSplitBytes / SplitRows::bytes(kRowBlock, K));
  const size_t groups = (rows.count() + together - 1) / together;
  for (size_t g = 0; g < groups; ++g) {
    const Span blocks = Span{0, rows.count()}.part(g, groups);
    const SplitBlocks pieces(rows, blocks, K, p.X);
    each_group(*p.W, range, 1, [&](int64_t panel, int64_t, int64_t) HWY_ATTR {
      for (size_t i = blocks.begin; i < blocks.end; ++i) {
        const auto row = static_cast<int64_t>(rows.block(i).begin);
        multiply({{p.X.row(row), p.X.ld}, pieces.at(i)}, *p.W, true, panel,
                 p.to.row(row) + p.W->first_column(panel), static_cast<size_t>(p.to.ld));
      }
    });
  }
}
#endif

template <class T>
void project_panels(const Projection<T>& p, PanelRange range) {
  const GatePanels<T>& W = *p.W;
  expect_arranged(W);
#if GRURUN_TILES
  if constexpr (std::is_same_v<T, float>) {
    if (suit_tiles(static_cast<size_t>(p.rows), W)) return project_by_tiles(p, range);
  }
#endif
  const auto rows = static_cast<size_t>(p.rows);
  const ApartRows<T> X(rows, static_cast<size_t>(W.K()), p.X);
  const ScaledRows<T> scaled(p.rows, W, p.X);
  each_group(W, range, 1, [&](int64_t panel, int64_t end, int64_t next) HWY_ATTR {
    multiply(rows, Factor<T>{X.rows()}, scaled, W, true, panel, end, p.to.data + W.first_column(panel),
             static_cast<size_t>(p.to.ld), {W, next, range.descending});
  });
}

/// A step for some panels of the same width and some rows: together at most kRowBlock.
template <class T>
class StepBlock {
 public:
  /// A: step.A or a copy of it.
  StepBlock(const Cell<T>& cell, const CellStep<T>& step, Rows<const T> A)
      : cell_(cell),
        step_(step),
        A_(A),
        scaled_A_(step.rows, *cell.R, A),
        scaled_X_(step.rows, *cell.W, step.X) {}

  /// Rows from `row` on, those of A and X perhaps in pieces; `ahead` is of R.
  void run(int64_t begin, int64_t end, int64_t row, size_t rows, const SplitRows* A, const SplitRows* X,
           const Ahead<T>& ahead) {
    const GatePanels<T>& R = *cell_.R;
    const auto width = static_cast<size_t>(R.gates() * R.units(begin));
    GateBlock<const T> start;
    for (size_t i = 0; rows > 1 && step_.projected.data != nullptr && i < rows; ++i) {
      fetch<2>(step_.projected.row(row + static_cast<int64_t>(i)) + R.first_column(begin),
               static_cast<size_t>(end - begin) * width);
    }
    // W and R take turns in being last, so that the one used last is still in the cache.
    if (!ahead.descending) start = starts(begin, end, row, rows, X, ahead);
    if (A_.data == nullptr) {
      std::fill_n(product_, static_cast<size_t>(end - begin) * rows * width, T{0});
    } else {
      multiply(rows, Factor<T>{{A_.row(row), A_.ld}, A}, scaled_A_, R, false, begin, end, product_, width,
               ahead);
    }
    if (ahead.descending) start = starts(begin, end, row, rows, X, ahead);
    finish(cell_, step_,
           {.panels = static_cast<size_t>(end - begin),
            .rows = rows,
            .units = static_cast<size_t>(R.units(begin)),
            .first_row = static_cast<size_t>(row),
            .first_unit = static_cast<size_t>(R.first_unit(begin)),
            .hidden_size = static_cast<size_t>(R.hidden_size()),
            .product = {product_, rows * width, width},
            .start = start,
            .bias = {panel_bias(R, begin), width, 0}});
  }

 private:
  // Xt*(W^T) + Wb + Rb of the panels.
  HWY_INLINE GateBlock<const T> starts(int64_t begin, int64_t end, int64_t row, size_t rows,
                                       const SplitRows* X, const Ahead<T>& ahead) {
    const GatePanels<T>& R = *cell_.R;
    const auto width = static_cast<size_t>(R.gates() * R.units(begin));
    if (step_.projected.data != nullptr) {
      const T* first = step_.projected.row(row) + R.first_column(begin);
      return {first, width, static_cast<size_t>(step_.projected.ld)};
    }
    multiply(rows, Factor<T>{{step_.X.row(row), step_.X.ld}, X}, scaled_X_, *cell_.W, true, begin, end,
             start_, width, {*cell_.W, ahead.next, ahead.descending});
    return {start_, rows * width, width};
  }

  static constexpr size_t kMostWidth = lstm_gates * 4 * kGateLanes<T>;
  const Cell<T>& cell_;
  const CellStep<T>& step_;
  const Rows<const T> A_;
  const ScaledRows<T> scaled_A_, scaled_X_;  // all rows, which then are one block
  HWY_ALIGN T product_[kRowBlock * kMostWidth];
  HWY_ALIGN T start_[kRowBlock * kMostWidth];
};

template <class T>
void step_panels(const Cell<T>& cell, const CellStep<T>& step, PanelRange range) {
  expect_arranged(*cell.R);
  const RowBlocks rows{static_cast<size_t>(step.rows)};
  const bool projected = step.projected.data != nullptr;
#if GRURUN_TILES
  const Span all{0, rows.count()};
  std::optional<SplitBlocks> A, X;
  if constexpr (std::is_same_v<T, float>) {
    if (step.A.data != nullptr && suit_tiles(rows.rows, *cell.R))
      A.emplace(rows, all, static_cast<size_t>(cell.R->K()), step.A);
    if (!projected && suit_tiles(rows.rows, *cell.W))
      X.emplace(rows, all, static_cast<size_t>(cell.W->K()), step.X);
  }
  const auto pieces = [](const std::optional<SplitBlocks>& of, size_t i) { return of ? of->at(i) : nullptr; };
#else
  const SplitRows *const A = nullptr, *const X = nullptr;
  const auto pieces = [](const SplitRows* none, size_t) { return none; };
#endif
  const ApartRows<T> apart(A || step.A.data == nullptr ? 0 : rows.rows, static_cast<size_t>(cell.R->K()),
                           step.A);
  StepBlock<T> block(cell, step, apart.rows());
  // Weights of X in between would make the panels of a group drive each other out of the cache.
  const size_t group_rows = projected ? kGroupRows : 1;
  const auto together =
      static_cast<int64_t>(std::max<size_t>(1, group_rows / std::max<size_t>(rows.rows, 1)));
  each_group(*cell.R, range, together, [&](int64_t begin, int64_t end, int64_t next) HWY_ATTR {
    for (size_t i = 0; i < rows.count(); ++i) {
      const Span span = rows.block(i);
      block.run(begin, end, static_cast<int64_t>(span.begin), span.end - span.begin, pieces(A, i),
                pieces(X, i), {*cell.R, i + 1 < rows.count() ? begin : next, range.descending});
    }
  });
}

bool widest() {
  return kWidest<float>;
}
bool compacts() {
  return kCompacts<float>;
}
bool widens() {
  return kWidens;
}
void project_f32(const Projection<float>& p, PanelRange range) {
  project_panels(p, range);
}
void project_f64(const Projection<double>& p, PanelRange range) {
  project_panels(p, range);
}
void step_f32(const Cell<float>& cell, const CellStep<float>& step, PanelRange range) {
  step_panels(cell, step, range);
}
void step_f64(const Cell<double>& cell, const CellStep<double>& step, PanelRange range) {
  step_panels(cell, step, range);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(widest);
HWY_EXPORT(widens);
HWY_EXPORT(compacts);
HWY_EXPORT(project_f32);
HWY_EXPORT(project_f64);
HWY_EXPORT(step_f32);
HWY_EXPORT(step_f64);

bool want_whole_gates() {
  return HWY_DYNAMIC_DISPATCH(widest)();
}
bool want_narrow_panels() {
  return HWY_DYNAMIC_DISPATCH(widens)();
}
bool want_compact_panels() {
  return HWY_DYNAMIC_DISPATCH(compacts)();
}
void project(const Projection<float>& p, PanelRange panels) {
  HWY_DYNAMIC_DISPATCH(project_f32)(p, panels);
}
void project(const Projection<double>& p, PanelRange panels) {
  HWY_DYNAMIC_DISPATCH(project_f64)(p, panels);
}
void cell_step(const Cell<float>& cell, const CellStep<float>& step, PanelRange panels) {
  HWY_DYNAMIC_DISPATCH(step_f32)(cell, step, panels);
}
void cell_step(const Cell<double>& cell, const CellStep<double>& step, PanelRange panels) {
  HWY_DYNAMIC_DISPATCH(step_f64)(cell, step, panels);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
