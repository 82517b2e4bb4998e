#include "engine/kernels/recurrent.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/recurrent.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/gate_product-inl.h"
#include "engine/kernels/recurrent_cells-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kRowBlock = 32;  // rows whose sums are held at a time
constexpr size_t kGroupRows = 4;  // few rows are held for several panels, to have this many

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

/// A run of things that are counted, and its share `i` of `n`.
struct Span {
  size_t begin, end;

  Span part(size_t i, size_t n) const {
    const size_t count = end - begin;
    return {begin + count * i / n, begin + count * (i + 1) / n};
  }
};

/// Panel `next` of weights, unless it is -1, of which share `i` of `n` is to be fetched.
template <class T>
struct Ahead {
  const GatePanels<T>& weights;
  int64_t next;
  bool descending;  // how panels are walked
  size_t i = 0, n = 1;

  Span lines(size_t K) const {
    if (next < 0) return {0, 0};
    const auto width = static_cast<size_t>(weights.gates() * weights.units(next));
    return Span{0, K * width * sizeof(T) / 64}.part(i, n);
  }
  const char* line(size_t i) const {
    return next < 0 ? nullptr : reinterpret_cast<const char*>(weights.panel(next)) + 64 * i;
  }
};

/// From a panel's bias on in panel order; nullptr if there is none.
template <class T>
HWY_INLINE const T* panel_bias(const GatePanels<T>& weights, int64_t panel) {
  return weights.bias() == nullptr ? nullptr : weights.bias() + weights.first_column(panel);
}

/// C [rows, width of a panel] = A * panels [begin, end) of weights, which have the same width; plus their
/// bias if `biased`. Each panel's C is followed by the next one's.
template <class T>
HWY_INLINE void multiply(size_t rows, Rows<const T> A, const GatePanels<T>& weights, bool biased,
                         int64_t begin, int64_t end, T* C, size_t ldc, const Ahead<T>& ahead) {
  const auto gates = static_cast<size_t>(weights.gates()), units = static_cast<size_t>(weights.units(begin));
  GateProduct<T> p{.K = static_cast<size_t>(weights.K()),
                   .A = A.data,
                   .lda = static_cast<size_t>(A.ld),
                   .B = weights.panel(begin),
                   .columns = units,
                   .start = biased ? panel_bias(weights, begin) : nullptr,
                   .C = C,
                   .ldc = ldc,
                   .panels = static_cast<size_t>(end - begin) * gates,
                   .panel_stride = units,
                   .descending = ahead.descending,
                   .ahead = nullptr,
                   .ahead_lines = 0};
  if (rows == 1) return gate_product(rows, p);
  const size_t products = std::exchange(p.panels, 1);
  const Span lines = ahead.lines(p.K);
  for (size_t i = 0; i < products; ++i) {
    if (i > 0) p.C += i % gates == 0 ? rows * ldc - (gates - 1) * units : units;
    const Span own = lines.part(i, products);
    p.ahead = ahead.line(own.begin);
    p.ahead_lines = own.end - own.begin;
    gate_product(rows, p);
    p.B += p.K * units;
    if (p.start) p.start += units;
  }
}

template <class T>
void project_panels(const Projection<T>& p, PanelRange range) {
  const GatePanels<T>& W = *p.W;
  each_group(W, range, 1, [&](int64_t panel, int64_t end, int64_t next) HWY_ATTR {
    multiply(static_cast<size_t>(p.rows), p.X, W, true, panel, end, p.to.data + W.first_column(panel),
             static_cast<size_t>(p.to.ld), {W, next, range.descending});
  });
}

/// A step for some panels of the same width and some rows: together at most kRowBlock.
template <class T>
class StepBlock {
 public:
  StepBlock(const Cell<T>& cell, const CellStep<T>& step) : cell_(cell), step_(step) {}

  /// Rows from `row` on; `ahead` is of R.
  void run(int64_t begin, int64_t end, int64_t row, size_t rows, const Ahead<T>& ahead) {
    const GatePanels<T>& R = *cell_.R;
    const auto width = static_cast<size_t>(R.gates() * R.units(begin));
    const Rows<const T> A{step_.A.row(row), step_.A.ld};
    GateBlock<const T> start;
    // W and R take turns in being last, so that the one used last is still in the cache.
    if (!ahead.descending) start = starts(begin, end, row, rows, ahead);
    multiply(rows, A, R, false, begin, end, product_, width, ahead);
    if (ahead.descending) start = starts(begin, end, row, rows, ahead);
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
                                       const Ahead<T>& ahead) {
    const GatePanels<T>& R = *cell_.R;
    const auto width = static_cast<size_t>(R.gates() * R.units(begin));
    if (step_.projected.data != nullptr) {
      const T* first = step_.projected.row(row) + R.first_column(begin);
      return {first, width, static_cast<size_t>(step_.projected.ld)};
    }
    multiply(rows, {step_.X.row(row), step_.X.ld}, *cell_.W, true, begin, end, start_, width,
             {*cell_.W, ahead.next, ahead.descending, ahead.i, ahead.n});
    return {start_, rows * width, width};
  }

  static constexpr size_t kMostWidth = lstm_gates * 4 * kGateLanes<T>;
  const Cell<T>& cell_;
  const CellStep<T>& step_;
  HWY_ALIGN T product_[kRowBlock * kMostWidth];
  HWY_ALIGN T start_[kRowBlock * kMostWidth];
};

template <class T>
void step_panels(const Cell<T>& cell, const CellStep<T>& step, PanelRange range) {
  StepBlock<T> block(cell, step);
  const auto rows = static_cast<size_t>(step.rows);
  const size_t blocks = (rows + kRowBlock - 1) / kRowBlock;
  // Weights of X in between would make the panels of a group drive each other out of the cache.
  const size_t group_rows = step.projected.data != nullptr ? kGroupRows : 1;
  const auto together = static_cast<int64_t>(std::max<size_t>(1, group_rows / std::max<size_t>(rows, 1)));
  each_group(*cell.R, range, together, [&](int64_t begin, int64_t end, int64_t next) HWY_ATTR {
    int64_t row = 0;
    for (size_t i = 0; i < blocks; ++i) {
      const size_t count = rows / blocks + (i < rows % blocks ? 1 : 0);
      block.run(begin, end, row, count, {*cell.R, next, range.descending, i, blocks});
      row += static_cast<int64_t>(count);
    }
  });
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

HWY_EXPORT(project_f32);
HWY_EXPORT(project_f64);
HWY_EXPORT(step_f32);
HWY_EXPORT(step_f64);

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
