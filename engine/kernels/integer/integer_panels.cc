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
#include "engine/kernels/vec/vec_quantize-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sum of from[i], for i in [0, n).
int64_t sum_of_bytes(const uint8_t* from, size_t n) {
  uint64_t sum = 0;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> wide;
  auto sums = hn::Zero(wide);
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(d, from + i)));
  HWY_ALIGN uint64_t parts[hn::MaxLanes(wide)];
  hn::Store(sums, wide, parts);
  for (const uint64_t part : parts) sum += part;
#endif
  for (; i < n; ++i) sum += from[i];
  return static_cast<int64_t>(sum);
}

/// to[i] = from[i] ^ flip in the type of `to`, for i in [0, n).
template <class To>
void flip_row(const uint8_t* from, size_t n, uint8_t flip, To* to) {
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
}

void flip_to_bytes(const uint8_t* from, size_t n, uint8_t flip, uint8_t* to) {
  flip_row(from, n, flip, to);
}
void flip_to_pairs(const uint8_t* from, size_t n, uint8_t flip, int16_t* to) {
  flip_row(from, n, flip, to);
}

/// to[i] = saturate(round(x[i] / scale) + zero_point) of uint8 in the type of `to`, for i in [0, n).
template <class To>
HWY_INLINE void quantize_row(const float* x, size_t n, float scale, float zero_point, To* to) {
  for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto quotient = hn::Div(hn::LoadU(d, x + i), hn::Set(d, scale));
    store_rounded(d, quotient, hn::Set(d, zero_point), hn::Zero(d), hn::Set(d, 255.0f), to + i);
  });
}

void quantize_to_bytes(const float* x, size_t n, float scale, float zero_point, uint8_t* to) {
  quantize_row(x, n, scale, zero_point, to);
}
void quantize_to_pairs(const float* x, size_t n, float scale, float zero_point, uint16_t* to) {
  quantize_row(x, n, scale, zero_point, to);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {
namespace {

HWY_EXPORT(flip_to_bytes);
HWY_EXPORT(flip_to_pairs);
HWY_EXPORT(quantize_to_bytes);
HWY_EXPORT(quantize_to_pairs);
HWY_EXPORT(sum_of_bytes);

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

/// Adds to sums what the columns add up to.
template <class T>
void fill_panel(const T* b, int64_t K, int64_t ld, std::span<const int64_t> columns, int64_t group,
                int8_t* panel, int64_t* sums) {
  for (int64_t k = 0; k < K; ++k) {
    const T* row = b + k * ld;
    for (size_t j = 0; j < columns.size(); ++j) {
      if (columns[j] < 0) continue;
      const int8_t value = as_int8(row[columns[j]]);
      panel[(k / group * IntegerPanels::column_count + static_cast<int64_t>(j)) * group + k % group] = value;
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
  data_.assign(static_cast<size_t>(panels() * panel_bytes()), 0);
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
      std::array<int64_t, column_count> sums{};
      fill_panel(b, K, ld, some, group(), data_.data() + i * panel_bytes(), sums.data());
      for (size_t j = 0; j < sums.size(); ++j) {
        const auto column = static_cast<size_t>(first) + j;
        sums_[column] = static_cast<int32_t>(sums[j] - K * zero_points_[column]);
      }
    }
  });
}

int64_t IntegerRows::bytes_of(int64_t rows, const IntegerPanels& b) {
  return rows * (up_to_line(b.groups() * 4) + 2 * static_cast<int64_t>(sizeof(int32_t)));
}

IntegerRows::IntegerRows(int64_t rows, const IntegerPanels& b, void* memory)
    : rows_(rows),
      row_bytes_(up_to_line(b.groups() * 4)),
      has_one_zero_point_(rows == 1),
      data_(static_cast<uint8_t*>(memory)) {}

template <class T>
IntegerRows::IntegerRows(const T* a, int64_t rows, const T* zero_points, int64_t step, const IntegerPanels& b)
    : rows_(rows),
      row_bytes_(up_to_line(b.groups() * 4)),
      has_one_zero_point_(step == 0),
      own_(static_cast<size_t>(bytes_of(rows, b))) {
  const int64_t K = b.K();
  data_ = static_cast<uint8_t*>(own_->data());
  parallel_for(rows, tuning::packed_rows_of_thread / (K + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      arrange_integers(a + i * K, K, b, data_ + i * row_bytes_);
      finish_row(i, static_cast<uint8_t>(static_cast<uint8_t>(zero_points[i * step]) ^ flip_of_a<T>), b);
    }
  });
}

void IntegerRows::quantize(int64_t i, const float* x, float scale, uint8_t zero_point,
                           const IntegerPanels& b) {
  uint8_t* row = data_ + i * row_bytes_;
  const auto n = static_cast<size_t>(b.K());
  if (b.holds_bytes()) {
    HWY_DYNAMIC_DISPATCH(quantize_to_bytes)(x, n, scale, zero_point, row);
  } else {
    HWY_DYNAMIC_DISPATCH(quantize_to_pairs)(x, n, scale, zero_point, reinterpret_cast<uint16_t*>(row));
  }
  finish_row(i, zero_point, b);
}

/// Zeros to the end of the last group, and the facts.
void IntegerRows::finish_row(int64_t i, int32_t zero_point, const IntegerPanels& b) {
  uint8_t* row = data_ + i * row_bytes_;
  const auto bytes = static_cast<size_t>(b.holds_bytes() ? b.K() : 2 * b.K());
  std::memset(row + bytes, 0, static_cast<size_t>(4 * b.groups()) - bytes);
  // Of pairs every second byte is 0.
  const int64_t sum = b.has_zero_points() ? HWY_DYNAMIC_DISPATCH(sum_of_bytes)(row, bytes) : 0;
  auto* facts = reinterpret_cast<int32_t*>(data_ + rows_ * row_bytes_) + 2 * i;
  facts[0] = zero_point;
  facts[1] = static_cast<int32_t>(sum);
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

}  // namespace grurun::kernels
#endif  // HWY_ONCE
