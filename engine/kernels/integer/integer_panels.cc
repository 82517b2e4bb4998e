#include "engine/kernels/integer/integer_panels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/integer/integer_panels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sum of from[i] ^ flip, for i in [0, n).
int64_t flipped_sum(const uint8_t* from, size_t n, uint8_t flip) {
  uint64_t sum = 0;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> wide;
  const auto mask = hn::Set(d, flip);
  auto sums = hn::Zero(wide);
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, from + i), mask)));
  HWY_ALIGN uint64_t parts[hn::MaxLanes(wide)];
  hn::Store(sums, wide, parts);
  for (const uint64_t part : parts) sum += part;
#endif
  for (; i < n; ++i) sum += static_cast<uint8_t>(from[i] ^ flip);
  return static_cast<int64_t>(sum);
}

/// to[i] = from[i] ^ flip in the type of `to`, for i in [0, n); gives the sum.
template <class To>
int64_t flip_row(const uint8_t* from, size_t n, uint8_t flip, To* to) {
  const hn::ScalableTag<To> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const auto mask = hn::Set(bytes, flip);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto x = hn::Xor(hn::LoadU(bytes, from + i), mask);
    if constexpr (std::is_same_v<To, uint8_t>) {
      hn::StoreU(x, d, to + i);
    } else {
      hn::StoreU(hn::PromoteTo(d, x), d, to + i);
    }
  }
  for (; i < n; ++i) to[i] = static_cast<To>(from[i] ^ flip);
  return flipped_sum(from, n, flip);
}

int64_t flip_to_bytes(const uint8_t* from, size_t n, uint8_t flip, uint8_t* to) {
  return flip_row(from, n, flip, to);
}
int64_t flip_to_pairs(const uint8_t* from, size_t n, uint8_t flip, int16_t* to) {
  return flip_row(from, n, flip, to);
}

void add_scaled_f32(const int32_t* x, float factor, const float* scale, size_t n, float* y) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<int32_t> di;
  const auto factors = hn::Set(d, factor);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const size_t left = n - i;
    const auto scaled = hn::Mul(hn::Mul(factors, load_first(d, scale + i, left)),
                                hn::ConvertTo(d, load_first(di, x + i, left)));
    store_first(hn::Add(load_first(d, y + i, left), scaled), d, y + i, left);
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {
namespace {

HWY_EXPORT(flip_to_bytes);
HWY_EXPORT(flip_to_pairs);
HWY_EXPORT(add_scaled_f32);

/// What turns an 8-bit number of A into uint8, and one of B into int8, as groups hold them.
template <class T>
constexpr uint8_t flip_of_a = std::is_signed_v<T> ? 0x80 : 0;
template <class T>
constexpr uint8_t flip_of_b = std::is_signed_v<T> ? 0 : 0x80;

constexpr int64_t line = tuning::cache_line;

int64_t up_to_line(int64_t bytes) {
  return (bytes + line - 1) / line * line;
}

template <class T>
int8_t as_int8(T value) {
  return static_cast<int8_t>(static_cast<uint8_t>(value) ^ flip_of_b<T>);
}

/// Number k of column j, in the groups of a panel.
template <class Stored>
Stored& place(Stored* panel, int64_t k, int64_t j) {
  constexpr int64_t group = 4 / static_cast<int64_t>(sizeof(Stored));
  return panel[(k / group * IntegerPanels::column_count + j) * group + k % group];
}

/// Adds to sums what the columns add up to.
template <class Stored, class T>
void fill_panel(const T* b, int64_t K, int64_t ld, std::span<const int64_t> columns, Stored* panel,
                int64_t* sums) {
  for (int64_t k = 0; k < K; ++k) {
    const T* row = b + k * ld;
    for (size_t j = 0; j < columns.size(); ++j) {
      if (columns[j] < 0) continue;
      const int8_t value = as_int8(row[columns[j]]);
      place(panel, k, static_cast<int64_t>(j)) = value;
      sums[j] += value;
    }
  }
}

}  // namespace

template <class T>
IntegerPanels::IntegerPanels(const T* b, int64_t K, int64_t ld, std::span<const int64_t> columns,
                             const T* zero_points, int64_t step)
    : K_(K), N_(static_cast<int64_t>(columns.size())), holds_bytes_(multiplies_bytes()) {
  const int64_t padded = panels() * column_count;
  data_.assign(static_cast<size_t>(panels() * groups() * line), 0);
  zero_points_.assign(static_cast<size_t>(padded), 0);
  sums_.assign(static_cast<size_t>(padded), 0);
  for (int64_t j = 0; j < N_; ++j) {
    const int64_t column = columns[static_cast<size_t>(j)];
    if (column >= 0) zero_points_[static_cast<size_t>(j)] = as_int8(zero_points[column * step]);
  }
  has_zero_points_ = std::ranges::any_of(zero_points_, [](int32_t zero) { return zero != 0; });
  const int64_t grain = tuning::packed_integers_of_thread / (K * column_count + 1) + 1;
  parallel_for(panels(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * column_count;
      const auto some = columns.subspan(static_cast<size_t>(first),
                                        static_cast<size_t>(std::min(column_count, N_ - first)));
      uint8_t* panel = data_.data() + i * groups() * line;
      std::array<int64_t, column_count> sums{};
      if (holds_bytes_) {
        fill_panel(b, K, ld, some, reinterpret_cast<int8_t*>(panel), sums.data());
      } else {
        fill_panel(b, K, ld, some, reinterpret_cast<int16_t*>(panel), sums.data());
      }
      for (size_t j = 0; j < sums.size(); ++j) {
        const auto column = static_cast<size_t>(first) + j;
        sums_[column] = static_cast<int32_t>(sums[j] - K * zero_points_[column]);
      }
    }
  });
}

template <class T>
IntegerRows::IntegerRows(const T* a, int64_t rows, const T* zero_points, int64_t step, const IntegerPanels& b)
    : rows_(rows),
      row_bytes_(up_to_line(b.groups() * 4)),
      data_(static_cast<size_t>(rows * row_bytes_ + 8 * rows)) {
  const int64_t K = b.K();
  auto* const data = static_cast<uint8_t*>(data_.data());
  auto* const facts = reinterpret_cast<int32_t*>(data + rows * row_bytes_);
  const auto* const from = reinterpret_cast<const uint8_t*>(a);
  parallel_for(rows, tuning::packed_rows_of_thread / (K + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint8_t* row = data + i * row_bytes_;
      const auto n = static_cast<size_t>(K);
      int64_t sum = 0;
      if (b.holds_bytes()) {
        sum = HWY_DYNAMIC_DISPATCH(flip_to_bytes)(from + i * K, n, flip_of_a<T>, row);
        std::memset(row + n, 0, static_cast<size_t>(row_bytes_) - n);
      } else {
        sum = HWY_DYNAMIC_DISPATCH(flip_to_pairs)(from + i * K, n, flip_of_a<T>,
                                                  reinterpret_cast<int16_t*>(row));
        std::memset(row + 2 * n, 0, static_cast<size_t>(row_bytes_) - 2 * n);
      }
      facts[2 * i] = static_cast<uint8_t>(static_cast<uint8_t>(zero_points[i * step]) ^ flip_of_a<T>);
      facts[2 * i + 1] = static_cast<int32_t>(sum);
    }
  });
}

template IntegerPanels::IntegerPanels(const int8_t*, int64_t, int64_t, std::span<const int64_t>,
                                      const int8_t*, int64_t);
template IntegerPanels::IntegerPanels(const uint8_t*, int64_t, int64_t, std::span<const int64_t>,
                                      const uint8_t*, int64_t);
template IntegerRows::IntegerRows(const int8_t*, int64_t, const int8_t*, int64_t, const IntegerPanels&);
template IntegerRows::IntegerRows(const uint8_t*, int64_t, const uint8_t*, int64_t, const IntegerPanels&);

template <class T>
void arrange_integers(const T* from, int64_t n, const IntegerPanels& b, uint8_t* to) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from);
  if (!b.holds_bytes()) {
    HWY_DYNAMIC_DISPATCH(flip_to_pairs)
    (bytes, static_cast<size_t>(n), flip_of_a<T>, reinterpret_cast<int16_t*>(to));
  } else if (flip_of_a<T> != 0 || bytes != to) {
    HWY_DYNAMIC_DISPATCH(flip_to_bytes)(bytes, static_cast<size_t>(n), flip_of_a<T>, to);
  }
}

template void arrange_integers(const int8_t*, int64_t, const IntegerPanels&, uint8_t*);
template void arrange_integers(const uint8_t*, int64_t, const IntegerPanels&, uint8_t*);

void add_scaled(const int32_t* x, float factor, const float* scale, int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(add_scaled_f32)(x, factor, scale, static_cast<size_t>(n), y);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
