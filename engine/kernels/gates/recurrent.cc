#include "engine/kernels/gates/recurrent.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gates/recurrent.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/gates/panel_product-inl.h"
#include "engine/kernels/gates/recurrent_cells-inl.h"
#include "engine/kernels/gates/row_blocks-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if GRURUN_TILES
void project_by_tiles(const Projection<float>& p, const PanelRange& range) {
  const auto K = static_cast<size_t>(p.W->K());
  const RowBlocks rows{static_cast<size_t>(p.rows)};
  const size_t together = std::max<size_t>(1, tuning::split_bytes / SplitRows::bytes(row_block, K));
  const size_t groups = (rows.count() + together - 1) / together;
  for (size_t g = 0; g < groups; ++g) {
    const Span blocks = Span{0, rows.count()}.part(g, groups);
    const SplitBlocks pieces(rows, blocks, K, p.X);
    each_group(*p.W, range, 1, [&](const PanelGroup<float>& panel) HWY_ATTR {
      for (size_t i = blocks.begin; i < blocks.end; ++i) {
        const auto row = static_cast<int64_t>(rows.block(i).begin);
        multiply_by_tiles(
            {pieces.at(i)->rows(), p.X.from(row), {}, pieces.at(i)}, panel,
            {p.to.row(row) + p.W->first_column(panel.begin), static_cast<size_t>(p.to.ld), true});
      }
    });
  }
}
#endif

template <class T>
void project_panels(const Projection<T>& p, const PanelRange& range) {
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
  const Factor<T> factor{rows, X.rows(), scaled.rows()};
  each_group(W, range, 1, [&](const PanelGroup<T>& panel) HWY_ATTR {
    multiply(factor, panel, {p.to.data + W.first_column(panel.begin), static_cast<size_t>(p.to.ld), true});
  });
}

/// A step for some panels of the same width and some rows: together at most row_block.
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

  /// `count` rows from `row` on, those of A and X perhaps in pieces; `group` is of R.
  void run(const PanelGroup<T>& group, int64_t row, size_t count, const SplitRows* A, const SplitRows* X) {
    const size_t width = group.width();
    // Before the products, which drive all else out of the first cache.
    Sums<T> sums{.panels = group.count(),
                 .rows = count,
                 .units = group.units(),
                 .first_row = static_cast<size_t>(row),
                 .first_unit = static_cast<size_t>(group.weights.first_unit(group.begin)),
                 .hidden_size = static_cast<size_t>(group.weights.hidden_size()),
                 .product = {product_, count * width, width},
                 .start = {},
                 .bias = {group.bias(), width, 0}};
    for (size_t i = 0; count > 1 && step_.projected.data != nullptr && i < count; ++i) {
      fetch<2>(step_.projected.row(row + static_cast<int64_t>(i)) + group.weights.first_column(group.begin),
               group.count() * width);
    }
    // W and R take turns in being last, so that the one used last is still in the cache.
    if (!group.descending) sums.start = starts(group, row, count, X);
    if (A_.data == nullptr) {
      std::fill_n(product_, group.count() * count * width, T{0});
    } else {
      multiply(Factor<T>{count, A_.from(row), scaled_A_.rows(), A}, group, {product_, width, false});
    }
    if (group.descending) sums.start = starts(group, row, count, X);
    finish(cell_, step_, sums);
  }

 private:
  // Xt*(W^T) + Wb + Rb of the panels.
  HWY_INLINE GateBlock<const T> starts(const PanelGroup<T>& group, int64_t row, size_t count,
                                       const SplitRows* X) {
    const size_t width = group.width();
    if (step_.projected.data != nullptr) {
      const T* first = step_.projected.row(row) + group.weights.first_column(group.begin);
      return {first, width, static_cast<size_t>(step_.projected.ld)};
    }
    multiply(Factor<T>{count, step_.X.from(row), scaled_X_.rows(), X}, group.of(*cell_.W),
             {start_, width, true});
    return {start_, count * width, width};
  }

  static constexpr size_t most_width = lstm_gates * 4 * gate_lanes<T>;
  const Cell<T>& cell_;
  const CellStep<T>& step_;
  const Rows<const T> A_;
  const ScaledRows<T> scaled_A_, scaled_X_;  // all rows, which then are one block
  HWY_ALIGN T product_[row_block * most_width];
  HWY_ALIGN T start_[row_block * most_width];
};

template <class T>
void step_panels(const Cell<T>& cell, const CellStep<T>& step, const PanelRange& range) {
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
  const size_t group_rows = projected ? least_group_rows : 1;
  const auto together =
      static_cast<int64_t>(std::max<size_t>(1, group_rows / std::max<size_t>(rows.rows, 1)));
  each_group(*cell.R, range, together, [&](PanelGroup<T> group) HWY_ATTR {
    const int64_t next = group.next;
    for (size_t i = 0; i < rows.count(); ++i) {
      const Span span = rows.block(i);
      group.next = i + 1 < rows.count() ? group.begin : next;
      block.run(group, static_cast<int64_t>(span.begin), span.end - span.begin, pieces(A, i), pieces(X, i));
    }
  });
}

bool widest() {
  return is_widest<float>;
}
bool compacts() {
  return has_compact<float>;
}
bool widens() {
  return widens_double;
}
void project_f32(const Projection<float>& p, const PanelRange& range) {
  project_panels(p, range);
}
void project_f64(const Projection<double>& p, const PanelRange& range) {
  project_panels(p, range);
}
void step_f32(const Cell<float>& cell, const CellStep<float>& step, const PanelRange& range) {
  step_panels(cell, step, range);
}
void step_f64(const Cell<double>& cell, const CellStep<double>& step, const PanelRange& range) {
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
void project(const Projection<float>& p, const PanelRange& panels) {
  HWY_DYNAMIC_DISPATCH(project_f32)(p, panels);
}
void project(const Projection<double>& p, const PanelRange& panels) {
  HWY_DYNAMIC_DISPATCH(project_f64)(p, panels);
}
void cell_step(const Cell<float>& cell, const CellStep<float>& step, const PanelRange& panels) {
  HWY_DYNAMIC_DISPATCH(step_f32)(cell, step, panels);
}
void cell_step(const Cell<double>& cell, const CellStep<double>& step, const PanelRange& panels) {
  HWY_DYNAMIC_DISPATCH(step_f64)(cell, step, panels);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
