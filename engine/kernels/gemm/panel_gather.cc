#include "engine/kernels/gemm/panel_gather.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/panel_gather.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/every_second-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;

// Known vector counts and no tail: the loop over them disappears.
template <size_t vector_count, class T>
HWY_INLINE void gather_whole(const T* B, const int64_t* offset, size_t rows, T* HWY_RESTRICT packed) {
  constexpr size_t rows_ahead = tuning::rows_ahead, line = tuning::cache_line;
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t k = 0; k < rows; ++k) {
    const T *from = B + offset[k], *ahead = B + offset[std::min(rows - 1, k + rows_ahead)];
    GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
      if (v * lanes * sizeof(T) % line == 0) __builtin_prefetch(ahead + v * lanes);
      hn::Store(hn::LoadU(d, from + v * lanes), d, packed + (k * vector_count + v) * lanes);
    }
  }
}

template <class T>
void gather(const T* B, const int64_t* offset, int64_t rows_signed, int64_t columns_signed, T* packed) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t widest = static_cast<size_t>(columns_of_vector<T>), in_widest = widest / hn::MaxLanes(d);
  const auto rows = static_cast<size_t>(rows_signed), columns = static_cast<size_t>(columns_signed);
  if (columns == 3 * widest) return gather_whole<3 * in_widest>(B, offset, rows, packed);
  if (columns == 2 * widest) return gather_whole<2 * in_widest>(B, offset, rows, packed);
  const size_t width = (columns + widest - 1) / widest * widest;
  for (size_t k = 0; k < rows; ++k, packed += width) {
    const T* from = B + offset[k];
    size_t i = 0;
    for (; i + lanes <= columns; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, packed + i);
    std::fill(std::copy(from + i, from + columns, packed + i), packed + width, T(0));
  }
}

/// Few runs: where they are stays in registers.
template <size_t run_count, class T>
HWY_INLINE void gather_few_runs(const T* B, const int64_t* offset, size_t rows, const PanelRuns& runs,
                                size_t width, T* packed) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), unit = static_cast<size_t>(columns_of_vector<T>);
  int64_t from[run_count], to[run_count];
  std::copy_n(runs.from, run_count, from);
  std::copy_n(runs.to, run_count, to);
  for (size_t k = 0; k < rows; ++k, packed += width) {
    const T* row = B + offset[k];
    GRURUN_UNROLL for (size_t i = 0; i < run_count; ++i) {
      for (size_t v = 0; v < unit; v += lanes)
        hn::StoreU(hn::LoadU(d, row + from[i] + v), d, packed + to[i] + v);
    }
  }
}

template <class T>
void gather_by_runs(const T* B, const int64_t* offset, int64_t rows_signed, const PanelRuns& runs,
                    int64_t width_signed, T* packed) {
  const auto rows = static_cast<size_t>(rows_signed), width = static_cast<size_t>(width_signed);
  switch (runs.count) {
    case 1:
      return gather_few_runs<1>(B, offset, rows, runs, width, packed);
    case 2:
      return gather_few_runs<2>(B, offset, rows, runs, width, packed);
    case 3:
      return gather_few_runs<3>(B, offset, rows, runs, width, packed);
    case 4:
      return gather_few_runs<4>(B, offset, rows, runs, width, packed);
    case 5:
      return gather_few_runs<5>(B, offset, rows, runs, width, packed);
    case 6:
      return gather_few_runs<6>(B, offset, rows, runs, width, packed);
    default:
      break;
  }
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), unit = static_cast<size_t>(columns_of_vector<T>);
  for (size_t k = 0; k < rows; ++k, packed += width) {
    const T* row = B + offset[k];
    for (int64_t i = 0; i < runs.count; ++i) {
      for (size_t v = 0; v < unit; v += lanes)
        hn::StoreU(hn::LoadU(d, row + runs.from[i] + v), d, packed + runs.to[i] + v);
    }
  }
}

template <class T>
HWY_INLINE void split_pairs(const T* HWY_RESTRICT from, size_t n, T* HWY_RESTRICT first,
                            T* HWY_RESTRICT second) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto split = [&](size_t i) HWY_ATTR {
    hn::Vec<decltype(d)> even, odd;
    hn::LoadInterleaved2(d, from + 2 * i, even, odd);
    hn::StoreU(even, d, first + i);
    hn::StoreU(odd, d, second + i);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) split(i);
  if (i < n && n >= lanes) return split(n - lanes);  // some of them once more
  for (; i < n; ++i) first[i] = from[2 * i], second[i] = from[2 * i + 1];
}

template <class T>
HWY_INLINE void split_all(const RowsToSplit<T>& p, T* first, T* second) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const T* from = p.from + r * p.ld;
    if (second == nullptr) {
      every_second(from, static_cast<size_t>(p.n), first + r * p.ld_to);
    } else {
      split_pairs(from, static_cast<size_t>(p.n), first + r * p.ld_to, second + r * p.ld_to);
    }
  }
}

void split_f32(const RowsToSplit<float>& p, float* first, float* second) {
  split_all(p, first, second);
}
void split_f64(const RowsToSplit<double>& p, double* first, double* second) {
  split_all(p, first, second);
}
void gather_f32(const float* B, const int64_t* offset, int64_t rows, int64_t columns, float* packed) {
  gather(B, offset, rows, columns, packed);
}
void gather_f64(const double* B, const int64_t* offset, int64_t rows, int64_t columns, double* packed) {
  gather(B, offset, rows, columns, packed);
}
void runs_f32(const float* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
              float* packed) {
  gather_by_runs(B, offset, rows, runs, width, packed);
}
void runs_f64(const double* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
              double* packed) {
  gather_by_runs(B, offset, rows, runs, width, packed);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(split_f32);
HWY_EXPORT(split_f64);
HWY_EXPORT(gather_f32);
HWY_EXPORT(gather_f64);
HWY_EXPORT(runs_f32);
HWY_EXPORT(runs_f64);

void split_rows(const RowsToSplit<float>& p, float* first, float* second) {
  HWY_DYNAMIC_DISPATCH(split_f32)(p, first, second);
}
void split_rows(const RowsToSplit<double>& p, double* first, double* second) {
  HWY_DYNAMIC_DISPATCH(split_f64)(p, first, second);
}
void gather_panel(const float* B, const int64_t* offset, int64_t rows, int64_t columns, float* packed) {
  HWY_DYNAMIC_DISPATCH(gather_f32)(B, offset, rows, columns, packed);
}
void gather_panel(const double* B, const int64_t* offset, int64_t rows, int64_t columns, double* packed) {
  HWY_DYNAMIC_DISPATCH(gather_f64)(B, offset, rows, columns, packed);
}
void gather_runs(const float* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 float* packed) {
  HWY_DYNAMIC_DISPATCH(runs_f32)(B, offset, rows, runs, width, packed);
}
void gather_runs(const double* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 double* packed) {
  HWY_DYNAMIC_DISPATCH(runs_f64)(B, offset, rows, runs, width, packed);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
