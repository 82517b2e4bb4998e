#include "engine/kernels/vec/vec_softmax.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_softmax.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_divide-inl.h"
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "engine/kernels/vec/vec_math-inl.h"
#include "engine/kernels/vec/vec_reduce-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr size_t rows_together = 16, elements_together = 4096, columns_together = 512;

/// The greatest of n elements, if none is NaN.
float greatest_of(const float* x, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V ways[way_count];
  GRURUN_UNROLL
  for (V& way : ways) way = hn::Set(d, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + way_count * lanes <= n; i += way_count * lanes) {
    GRURUN_UNROLL
    for (size_t w = 0; w < way_count; ++w) ways[w] = hn::Max(ways[w], hn::LoadU(d, x + i + w * lanes));
  }
  for (; i + lanes <= n; i += lanes) ways[0] = hn::Max(ways[0], hn::LoadU(d, x + i));
  if (i < n) {
    const V last = hn::IfThenElse(hn::FirstN(d, n - i), load_first(d, x + i, n - i), ways[1]);
    ways[1] = hn::Max(ways[1], last);
  }
  return extreme_lane<false>(d, hn::Max(hn::Max(ways[0], ways[1]), hn::Max(ways[2], ways[3])));
}

/// e^less, where both are rounded to elements of T before they are used.
template <class T, class Vectors>
HWY_INLINE auto power_of(Vectors& less) {
  const auto rounded = [](auto v) GRURUN_VECTOR_BODY { return round_elements<T>(D(), v); };
  less = each(rounded, less);
  return each(rounded, vector_exp_of_negative(D(), less));
}

/// The sum of e^(x - m) for n <= reduce_block elements, in the order of reduce_sum. y becomes e^(x - m), or x
/// - m. Padded rows go on with -infinity to the end of a vector.
template <class T, bool keep_powers, bool padded>
double powers_of_block(const float* x, float greatest, float* y, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V m = hn::Set(d, greatest);
  V sum[way_count] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto take = [&](size_t at, size_t way) HWY_ATTR {
    V less = hn::Sub(hn::LoadU(d, x + at), m);
    const V power = power_of<T>(less);
    hn::StoreU(keep_powers ? power : less, d, y + at);
    sum[way] = hn::Add(sum[way], power);
  };
  size_t i = 0;
  for (; i + way_count * lanes <= n; i += way_count * lanes) {
    if constexpr (together == way_count) {
      auto less = sub(load_several<way_count>(d, x + i), m);
      const auto power = power_of<T>(less);
      store_several(keep_powers ? power : less, d, y + i);
      GRURUN_UNROLL
      for (size_t way = 0; way < way_count; ++way) sum[way] = hn::Add(sum[way], power.v[way]);
    } else {
      GRURUN_UNROLL
      for (size_t way = 0; way < way_count; ++way) take(i + way * lanes, way);
    }
  }
  for (; i + lanes <= n; i += lanes) take(i, 0);
  if (i < n && padded) {
    take(i, 1);
  } else if (i < n) {
    V less = hn::Sub(load_first(d, x + i, n - i), m);
    const V power = power_of<T>(less);
    store_first(keep_powers ? power : less, d, y + i, n - i);
    sum[1] = hn::Add(sum[1], hn::IfThenElseZero(hn::FirstN(d, n - i), power));
  }
  const V total = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
}

/// The sums of e^(x - m) of some rows; y becomes e^(x - m), or x - m. The rows take each step together: while
/// one waits for its last sum, the next one's are on their way.
template <class T, bool keep_powers>
void powers(const float* x, float* y, size_t rows, size_t n, double* sums) {
  float greatest[rows_together];
  for (size_t r = 0; r < rows; ++r)
    greatest[r] = greatest_of(x + r * n, n);  // a NaN makes the sum one, whatever this is
  for (size_t r = 0; r < rows; ++r) {
    sums[r] = 0;
    for (size_t i = 0; i < n; i += reduce_block) {
      sums[r] += powers_of_block<T, keep_powers, false>(x + r * n + i, greatest[r], y + r * n + i,
                                                        std::min<size_t>(reduce_block, n - i));
    }
  }
}

/// some(x, y, rows) for as many rows at a time as stay in L1.
template <class Some>
HWY_INLINE void for_rows_together(const float* x, float* y, size_t rows, size_t n, const Some& some) {
  const size_t most = std::clamp<size_t>(elements_together / n, 1, rows_together);
  for (size_t r = 0; r < rows; r += most) some(x + r * n, y + r * n, std::min(most, rows - r));
}

/// y = finish(e^(x - m) or x - m, sum) for some rows that end within a vector. A store of a part of one is
/// slow, and so is a load of what it wrote: the steps before the last go through padded rows, and whole
/// vectors are written over the beginning of the next row, which follows.
template <class T, bool keep_powers, class Finish>
void short_rows(const float* x, float* y, size_t rows, size_t n, const Finish& finish) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const size_t whole = n / lanes * lanes, stride = whole + lanes;
  HWY_ALIGN float padded[elements_together];
  float greatest[rows_together];
  double sums[rows_together];
  const V lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (size_t r = 0; r < rows; ++r) {
    float* const row = padded + r * stride;
    V most = hn::IfThenElse(hn::FirstN(d, n - whole), load_first(d, x + r * n + whole, n - whole), lowest);
    hn::Store(most, d, row + whole);
    for (size_t i = 0; i < whole; i += lanes) {
      const V v = hn::LoadU(d, x + r * n + i);
      hn::Store(v, d, row + i);
      most = hn::Max(most, v);
    }
    greatest[r] = extreme_lane<false>(d, most);
  }
  for (size_t r = 0; r < rows; ++r) {
    float* const row = padded + r * stride;
    sums[r] = powers_of_block<T, keep_powers, true>(row, greatest[r], row, n);
  }
  for (size_t r = 0; r < rows; ++r) {
    const float* const row = padded + r * stride;
    const auto last_step = finish(sums[r]);
    for (size_t i = 0; i < whole; i += lanes) hn::StoreU(last_step(hn::Load(d, row + i)), d, y + r * n + i);
    const V last = last_step(hn::Load(d, row + whole));
    if (r + 1 < rows && n >= lanes) {
      hn::StoreU(last, d, y + r * n + whole);
    } else {
      store_first(last, d, y + r * n + whole, n - whole);
    }
  }
}

template <class T, bool keep_powers, class Finish>
HWY_INLINE void finished_rows(const float* x, float* y, size_t rows, size_t n, const Finish& finish) {
  const size_t lanes = hn::Lanes(D());
  if (n % lanes != 0 && (n / lanes + 1) * lanes * rows_together <= elements_together) {
    for (size_t r = 0; r < rows; r += rows_together)
      short_rows<T, keep_powers>(x + r * n, y + r * n, std::min(rows_together, rows - r), n, finish);
    return;
  }
  for_rows_together(x, y, rows, n, [&](const float* from, float* to, size_t count) HWY_ATTR {
    double sums[rows_together];
    powers<T, keep_powers>(from, to, count, n, sums);
    for (size_t r = 0; r < count; ++r, to += n) map_vectors(to, to, n, finish(sums[r]));
  });
}

template <class T>
HWY_INLINE void softmax_of_rows(const float* x, float* y, size_t rows, size_t n) {
  finished_rows<T, true>(x, y, rows, n, [](double sum) HWY_ATTR {
    const Divisor by_sum(static_cast<float>(T(static_cast<float>(sum))));
    return [=](V v) HWY_ATTR { return by_sum(v); };
  });
}
void softmax_rows(const float* x, float* y, size_t rows, size_t n) {
  softmax_of_rows<float>(x, y, rows, n);
}
void softmax_rows_f16(const float* x, float* y, size_t rows, size_t n) {
  softmax_of_rows<Float16>(x, y, rows, n);
}
void softmax_rows_bf16(const float* x, float* y, size_t rows, size_t n) {
  softmax_of_rows<BFloat16>(x, y, rows, n);
}

void log_softmax_rows(const float* x, float* y, size_t rows, size_t n) {
  finished_rows<float, false>(x, y, rows, n, [](double sum) HWY_ATTR {
    const V log = hn::Set(D(), static_cast<float>(std::log(sum)));
    return [=](V v) HWY_ATTR { return hn::Sub(v, log); };
  });
}

/// each(i, load(p), store(v, p)) for the vectors of `columns` floats, the last of which may be a part of one.
template <class Each>
HWY_INLINE void for_vectors(size_t columns, const Each& each) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= columns; i += lanes) {
    each(
        i, [=](const float* p) HWY_ATTR { return hn::LoadU(d, p); },
        [=](V v, float* p) HWY_ATTR { hn::StoreU(v, d, p); });
  }
  if (i == columns) return;
  const size_t left = columns - i;
  each(
      i, [=](const float* p) HWY_ATTR { return load_first(d, p, left); },
      [=](V v, float* p) HWY_ATTR { store_first(v, d, p, left); });
}

/// Row by row, so that memory is read as it lies: the greatest of each column, then the powers and their
/// sums, then the quotients, or what is less the logarithms.
template <class T, bool log>
void softmax_of_columns(const float* x, float* y, size_t n, size_t columns, size_t step) {
  const D d;
  HWY_ALIGN float greatest[columns_together], block[columns_together], total[columns_together];
  std::fill_n(greatest, columns, -std::numeric_limits<float>::infinity());
  std::fill_n(total, columns, 0.0f);
  for (size_t k = 0; k < n; ++k) {
    for_vectors(columns, [&](size_t i, auto load, auto store) HWY_ATTR {
      store(hn::Max(load(greatest + i), load(x + k * step + i)), greatest + i);
    });
  }
  for (size_t first = 0; first < n; first += column_block) {
    const size_t end = std::min<size_t>(n, first + column_block);
    std::fill_n(block, columns, 0.0f);
    for (size_t k = first; k < end; ++k) {
      for_vectors(columns, [&](size_t i, auto load, auto store) HWY_ATTR {
        V less = hn::Sub(load(x + k * step + i), load(greatest + i));
        const V power = power_of<T>(less);
        store(log ? less : power, y + k * step + i);
        store(hn::Add(load(block + i), power), block + i);
      });
    }
    for_vectors(columns, [&](size_t i, auto load, auto store)
                             HWY_ATTR { store(hn::Add(load(total + i), load(block + i)), total + i); });
  }
  map_vectors(total, total, columns,
              [=](V v) HWY_ATTR { return log ? vector_log(d, v) : round_elements<T>(d, v); });
  for (size_t k = 0; k < n; ++k) {
    for_vectors(columns, [&](size_t i, auto load, auto store) HWY_ATTR {
      float* const at = y + k * step + i;
      store(log ? hn::Sub(load(at), load(total + i)) : hn::Div(load(at), load(total + i)), at);
    });
  }
}

template <class T, bool log>
HWY_INLINE void softmax_columns(const float* x, float* y, size_t n, size_t columns, size_t step) {
  for (size_t c = 0; c < columns; c += columns_together)
    softmax_of_columns<T, log>(x + c, y + c, n, std::min(columns_together, columns - c), step);
}
void softmax_columns_plain(const float* x, float* y, size_t n, size_t columns, size_t step) {
  softmax_columns<float, false>(x, y, n, columns, step);
}
void softmax_columns_f16(const float* x, float* y, size_t n, size_t columns, size_t step) {
  softmax_columns<Float16, false>(x, y, n, columns, step);
}
void softmax_columns_bf16(const float* x, float* y, size_t n, size_t columns, size_t step) {
  softmax_columns<BFloat16, false>(x, y, n, columns, step);
}
void softmax_columns_log(const float* x, float* y, size_t n, size_t columns, size_t step) {
  softmax_columns<float, true>(x, y, n, columns, step);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_rows_f16);
HWY_EXPORT(softmax_rows_bf16);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(softmax_columns_plain);
HWY_EXPORT(softmax_columns_f16);
HWY_EXPORT(softmax_columns_bf16);
HWY_EXPORT(softmax_columns_log);

#define GRURUN_SOFTMAX_ROWS(NAME, KERNEL)                                                  \
  void NAME(const float* x, float* y, int64_t rows, int64_t n) {                           \
    HWY_DYNAMIC_DISPATCH(KERNEL)(x, y, static_cast<size_t>(rows), static_cast<size_t>(n)); \
  }
GRURUN_SOFTMAX_ROWS(vec_softmax, softmax_rows)
template <>
GRURUN_SOFTMAX_ROWS(vec_softmax_in_steps<Float16>, softmax_rows_f16)
template <>
GRURUN_SOFTMAX_ROWS(vec_softmax_in_steps<BFloat16>, softmax_rows_bf16)
GRURUN_SOFTMAX_ROWS(vec_log_softmax, log_softmax_rows)
#undef GRURUN_SOFTMAX_ROWS

#define GRURUN_SOFTMAX_COLUMNS(NAME, KERNEL)                                                 \
  void NAME(const float* x, float* y, int64_t n, int64_t columns, int64_t step) {            \
    HWY_DYNAMIC_DISPATCH(KERNEL)                                                             \
    (x, y, static_cast<size_t>(n), static_cast<size_t>(columns), static_cast<size_t>(step)); \
  }
    GRURUN_SOFTMAX_COLUMNS(vec_softmax_columns, softmax_columns_plain) template <>
    GRURUN_SOFTMAX_COLUMNS(vec_softmax_columns_in_steps<Float16>, softmax_columns_f16)
    template <>
    GRURUN_SOFTMAX_COLUMNS(vec_softmax_columns_in_steps<BFloat16>, softmax_columns_bf16)
    GRURUN_SOFTMAX_COLUMNS(vec_log_softmax_columns, softmax_columns_log)
#undef GRURUN_SOFTMAX_COLUMNS

}  // namespace grurun::kernels
#endif  // HWY_ONCE
