#include "engine/ops/shared/cast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/truncated.h"
#include "engine/kernels/vec/vec_cast.h"
#include "engine/kernels/vec/vec_compare.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/ops/shared/broadcast.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t block = 512;
// Every type is read into one of three wide ones, which hold all its values, and written from them: a table
// of readers and one of writers instead of a loop for each pair.
enum class Wide { integer, natural, real };
union WideBlock {
  std::int64_t integer[block];
  std::uint64_t natural[block];
  alignas(64) double real[block];
};

using Reader = void (*)(const void* x, WideBlock& wide, std::int64_t n);
using Writer = void (*)(const WideBlock& wide, void* y, std::int64_t n, const CastRule& rule);

template <typename T>
constexpr Wide wide_of = std::is_same_v<T, std::uint64_t>           ? Wide::natural
                         : std::is_integral_v<T> || is_small_int<T> ? Wide::integer
                                                                    : Wide::real;

template <typename T>
void read(const void* raw, WideBlock& wide, std::int64_t n) {
  const T* x = static_cast<const T*>(raw);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (wide_of<T> == Wide::natural) {
      wide.natural[i] = x[i];
    } else if constexpr (wide_of<T> == Wide::integer) {
      wide.integer[i] = x[i];
    } else {
      wide.real[i] = static_cast<double>(x[i]);
    }
  }
}

template <typename Integer>
Integer truncate(double value) {
  return kernels::truncated<Integer>(value);
}

template <>
std::uint64_t truncate<std::uint64_t>(double value) {
  if (value >= 0x1p63 && value < 0x1p64) return static_cast<std::uint64_t>(value);
  return static_cast<std::uint64_t>(truncate<std::int64_t>(value)) &
         (value > -0x1p63 && value < 0x1p63 ? ~0ull : 0);
}

std::uint8_t encode_e8m0(double value, const CastRule& rule) {
  constexpr std::uint8_t nan = 0xff;
  constexpr int bias = 127;
  constexpr int highest = 254;
  if (std::isnan(value) || value < 0) return nan;
  if (std::isinf(value)) return rule.saturate ? highest : nan;
  if (value == 0) return rule.saturate ? 0 : nan;
  int exponent = 0;
  const double fraction =
      2 * std::frexp(value, &exponent);  // value = fraction * 2^exponent, 1 <= fraction < 2
  --exponent;
  const bool up = rule.round_mode == PowerRounding::up        ? fraction > 1
                  : rule.round_mode == PowerRounding::nearest ? fraction >= 1.5
                                                              : false;
  const int code = exponent + bias + (up ? 1 : 0);
  if (code < 0 || code > highest || value > 0x1p127 || value < 0x1p-127) {
    return rule.saturate ? static_cast<std::uint8_t>(std::clamp(code, 0, highest)) : nan;
  }
  return static_cast<std::uint8_t>(code);
}

template <typename T>
T from_real(double value, const CastRule& rule) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    return Float8E8M0::from_bits(encode_e8m0(value, rule));
  } else if constexpr (std::is_same_v<T, Float8E4M3FN> || std::is_same_v<T, Float8E5M2>) {
    const T out(value, rule.saturate);
    const bool negative_nan = std::isnan(value) && std::signbit(value) && !rule.saturate;
    return negative_nan ? T::from_bits(out.bits | 0x80) : out;
  } else if constexpr (std::is_same_v<T, Float8E4M3FNUZ> || std::is_same_v<T, Float8E5M2FNUZ>) {
    return T(value, rule.saturate);
  } else if constexpr (is_small_int<T>) {
    if (rule.clamp_four_bits) value = std::clamp(value, double{T::lowest}, double{T::highest});
    return T(static_cast<int>(truncate<std::int64_t>(value) & 0xff));
  } else if constexpr (std::is_same_v<T, Float4E2M1>) {
    return rule.clamp_four_bits && std::isnan(value) ? T::from_bits(Float4E2M1Format::largest_code)
                                                     : T(value);
  } else if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint64_t>) {
    return truncate<T>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(truncate<std::int64_t>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T, typename Integer>
T from_integer(Integer value, const CastRule& rule) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (is_small_int<T>) {
    return T(static_cast<int>(value & 0xff));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return from_real<T>(kernels::sticky_double(value), rule);
  }
}

// To float for a second rounding: where it is inexact, the last bit is set, so that no false tie arises.
float odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  const auto word = std::bit_cast<std::uint32_t>(nearest);
  const double back = nearest;
  const bool exact = back == value || value != value || (word & 0x7fffffffu) == 0x7f800000u;
  const std::uint32_t down = std::fabs(back) > std::fabs(value) ? 1 : 0;
  return std::bit_cast<float>(exact || (word & 1u) ? word : word + 1 - 2 * down);
}

template <Wide from, typename Half>
void write_half(const WideBlock& wide, Half* y, std::int64_t n) {
  alignas(64) float odd[block];
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (from == Wide::real) {
      odd[i] = odd_float(wide.real[i]);
    } else if constexpr (from == Wide::integer) {
      odd[i] = odd_float(kernels::sticky_double(wide.integer[i]));
    } else {
      odd[i] = odd_float(kernels::sticky_double(wide.natural[i]));
    }
  }
  kernels::vec_convert(odd, y, n);
}

template <Wide from, typename T>
void write(const WideBlock& wide, void* raw, std::int64_t n, const CastRule& rule) {
  T* y = static_cast<T*>(raw);
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
    return write_half<from>(wide, y, n);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (from == Wide::real) {
      y[i] = from_real<T>(wide.real[i], rule);
    } else if constexpr (from == Wide::integer) {
      y[i] = from_integer<T>(wide.integer[i], rule);
    } else {
      y[i] = from_integer<T>(wide.natural[i], rule);
    }
  }
}

struct Conversions {
  Wide wide = Wide::real;
  Reader reader = nullptr;
  std::array<Writer, 3> writers{};  // by Wide
};

template <typename... Types>
constexpr std::array<Conversions, dtype_count> make_conversions(TypeList<Types...>) {
  std::array<Conversions, dtype_count> table{};
  ((table[static_cast<std::size_t>(dtype_of<Types>)] =
        Conversions{wide_of<Types>,
                    read<Types>,
                    {write<Wide::integer, Types>, write<Wide::natural, Types>, write<Wide::real, Types>}}),
   ...);
  return table;
}

using Castable =
    Join<Numbers, Float8s, SmallInts, TypeList<bool, Float4E2M1, Float6E2M3, Float6E3M2, Float8E8M0>>;
constexpr auto conversions = make_conversions(Castable{});

const Conversions& conversions_of(DType dtype) {
  const Conversions& found = conversions[static_cast<std::size_t>(dtype)];
  if (found.reader == nullptr) fail_unsupported("Cast does not take element type {}", dtype_name(dtype));
  return found;
}

// The pairs that models use most, without the detour.
using Direct = void (*)(const void* x, void* y, std::int64_t n);

template <typename From, typename To>
void direct(const void* x_raw, void* y_raw, std::int64_t n) {
  const From* x = static_cast<const From*>(x_raw);
  To* y = static_cast<To*>(y_raw);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i]);
}
template <typename From, typename To>
void direct_convert(const void* x, void* y, std::int64_t n) {
  kernels::vec_convert(static_cast<const From*>(x), static_cast<To*>(y), n);
}

template <typename Integer, typename From = float>
void direct_truncate(const void* x, void* y, std::int64_t n) {
  kernels::vec_truncate(static_cast<const From*>(x), static_cast<Integer*>(y), n);
}

template <typename From>
void direct_to_bool(const void* x, void* y, std::int64_t n) {
  kernels::vec_not_equal(static_cast<const From*>(x), ComputeType<From>{0}, static_cast<bool*>(y), n);
}

void direct_bytes_to_bool(const void* x_raw, void* y_raw, std::int64_t n) {
  const auto* x = static_cast<const std::uint8_t*>(x_raw);
  auto* y = static_cast<std::uint8_t*>(y_raw);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] != 0 ? 1 : 0;
}

struct DirectRow {
  DType from, to;
  Direct loop;
};
template <typename From, typename To>
constexpr DirectRow converted_row() {
  return {dtype_of<From>, dtype_of<To>, direct_convert<From, To>};
}
template <typename From, typename Integer>
constexpr DirectRow truncated_row() {
  return {dtype_of<From>, dtype_of<Integer>, direct_truncate<Integer, From>};
}
template <typename From>
constexpr DirectRow to_bool_row() {
  return {dtype_of<From>, DType::boolean, direct_to_bool<From>};
}
constexpr DirectRow direct_rows[] = {
    converted_row<Float16, float>(),
    converted_row<BFloat16, float>(),
    converted_row<double, float>(),
    converted_row<std::int64_t, float>(),
    converted_row<BFloat16, Float16>(),
    converted_row<Float16, BFloat16>(),
    converted_row<float, Float16>(),
    converted_row<double, Float16>(),
    converted_row<std::int8_t, Float16>(),
    converted_row<std::uint8_t, Float16>(),
    converted_row<std::int16_t, Float16>(),
    converted_row<std::uint16_t, Float16>(),
    converted_row<std::int32_t, Float16>(),
    converted_row<std::int64_t, Float16>(),
    converted_row<float, BFloat16>(),
    converted_row<double, BFloat16>(),
    converted_row<std::int8_t, BFloat16>(),
    converted_row<std::uint8_t, BFloat16>(),
    converted_row<std::int16_t, BFloat16>(),
    converted_row<std::uint16_t, BFloat16>(),
    converted_row<std::int32_t, BFloat16>(),
    converted_row<std::int64_t, BFloat16>(),
    converted_row<float, double>(),
    truncated_row<float, std::int32_t>(),
    truncated_row<float, std::int64_t>(),
    truncated_row<float, std::int8_t>(),
    truncated_row<float, std::uint8_t>(),
    truncated_row<float, std::int16_t>(),
    truncated_row<float, std::uint16_t>(),
    truncated_row<double, std::int32_t>(),
    truncated_row<double, std::int64_t>(),
    truncated_row<double, std::int8_t>(),
    truncated_row<double, std::uint8_t>(),
    truncated_row<double, std::int16_t>(),
    truncated_row<double, std::uint16_t>(),
    {DType::int32, DType::float32, direct<std::int32_t, float>},
    {DType::uint8, DType::float32, direct<std::uint8_t, float>},
    {DType::int8, DType::float32, direct<std::int8_t, float>},
    {DType::boolean, DType::float32,
     direct<std::uint8_t, float>},  // as bytes, of which compilers make vectors
    {DType::boolean, DType::int32, direct<std::uint8_t, std::int32_t>},
    {DType::boolean, DType::int64, direct<std::uint8_t, std::int64_t>},
    to_bool_row<float>(),
    to_bool_row<double>(),
    to_bool_row<Float16>(),
    to_bool_row<BFloat16>(),
    to_bool_row<std::int64_t>(),
    to_bool_row<std::int32_t>(),
    {DType::int8, DType::boolean, direct_bytes_to_bool},
    {DType::uint8, DType::boolean, direct_bytes_to_bool},
};

// 16-bit floats by way of float, which holds all of them.
void convert_by_float(Direct widen, const std::byte* x, Direct narrow, std::byte* y, std::int64_t to_size,
                      std::int64_t n) {
  alignas(64) float wide[block];
  for (std::int64_t i = 0; i < n; i += block) {
    const std::int64_t m = std::min(block, n - i);
    widen(x + 2 * i, wide, m);
    narrow(wide, y + i * to_size, m);
  }
}

Direct find_direct(DType from, DType to) {
  if (Integers::set.contains(from) && Integers::set.contains(to)) {
    return dispatch(Integers{}, from, [&]<typename From>() {
      return dispatch(Integers{}, to, []<typename To>() { return Direct{direct<From, To>}; });
    });
  }
  for (const DirectRow& row : direct_rows) {
    if (row.from == from && row.to == to) return row.loop;
  }
  return nullptr;
}

}  // namespace

PowerRounding parse_power_rounding(const std::string& round_mode) {
  if (round_mode == "up") return PowerRounding::up;
  if (round_mode == "down") return PowerRounding::down;
  return PowerRounding::nearest;
}

Tensor cast_tensor(const Tensor& x, DType to, const CastRule& rule) {
  if (x.dtype() == to) return x;
  if (x.dtype() == DType::string) return detail::cast_from_string(x, to, rule);
  if (to == DType::string) return detail::cast_to_string(x);
  const Conversions& source = conversions_of(x.dtype());
  const Writer writer = conversions_of(to).writers[static_cast<std::size_t>(source.wide)];
  const bool is_half = x.dtype() == DType::float16 || x.dtype() == DType::bfloat16;
  const Direct direct = find_direct(x.dtype(), to);
  const Direct from_float = is_half ? find_direct(DType::float32, to) : nullptr;
  const Direct widen = is_half ? find_direct(x.dtype(), DType::float32) : nullptr;
  Tensor y(to, x.shape());
  const auto* from = static_cast<const std::byte*>(x.raw());
  auto* into = static_cast<std::byte*>(y.mutable_raw());
  const auto from_size = static_cast<std::int64_t>(dtype_size(x.dtype()));
  const auto to_size = static_cast<std::int64_t>(dtype_size(to));
  kernels::parallel_for(x.size(), elements_per_piece, [&](std::int64_t begin, std::int64_t end) {
    if (direct != nullptr) return direct(from + begin * from_size, into + begin * to_size, end - begin);
    if (from_float != nullptr) {
      return convert_by_float(widen, from + begin * from_size, from_float, into + begin * to_size, to_size,
                              end - begin);
    }
    WideBlock wide;
    for (std::int64_t i = begin; i < end; i += block) {
      const std::int64_t n = std::min(block, end - i);
      source.reader(from + i * from_size, wide, n);
      writer(wide, into + i * to_size, n, rule);
    }
  });
  return y;
}

}  // namespace grurun::engine
