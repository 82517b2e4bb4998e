#include "trial/random_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/dispatch.h"

namespace grurun::trial {
namespace {

using FloatTypes = Join<Floats, Float8s, TypeList<Float4E2M1, Float6E2M3, Float6E3M2>>;

template <typename T>
inline constexpr bool is_floating_type = FloatTypes::set.contains(dtype_of<T>);

// Written so that the span of the range need not be finite.
double draw(Range range, RandomBits& bits) {
  const double at = bits.unit();
  return static_cast<double>(range.low) * (1 - at) + static_cast<double>(range.high) * at;
}

template <typename T>
Range limits_of_float() {
  if constexpr (std::is_floating_point_v<T>) {
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  } else {
    float highest = 0;
    for (int code = 0; code <= std::numeric_limits<decltype(T::bits)>::max(); ++code) {
      const float value = T::from_bits(static_cast<decltype(T::bits)>(code));
      if (std::isfinite(value)) highest = std::max(highest, value);
    }
    return {-highest, highest};
  }
}

template <typename T>
Range limits_of() {
  if constexpr (std::is_same_v<T, std::string>) {
    return {-HUGE_VALL, HUGE_VALL};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {0, 1};
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    return {0, 0x1p127};
  } else if constexpr (is_floating_type<T>) {
    return limits_of_float<T>();
  } else if constexpr (requires { typename T::value_type; }) {
    return limits_of_float<typename T::value_type>();
  } else if constexpr (std::is_integral_v<T>) {
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  } else {
    return {T::lowest, T::highest};
  }
}

bool is_whole(DType dtype) {
  return dtype == DType::boolean || is_integer(dtype);
}

template <typename T, typename Draw>
Tensor fill(const Shape& shape, Draw draw_one) {
  Tensor out(dtype_of<T>, shape);
  T* data = out.mutable_data<T>();
  std::generate(data, data + out.size(), draw_one);
  return out;
}

template <typename T>
Tensor fill_float(const Shape& shape, Range range, RandomBits& bits) {
  return fill<T>(shape, [&] { return T(draw(range, bits)); });
}

template <typename T>
Tensor fill_complex(const Shape& shape, Range range, RandomBits& bits) {
  using Part = typename T::value_type;
  return fill<T>(shape, [&] {
    const auto part = [&] { return static_cast<Part>(draw(range, bits)); };
    const Part real = part();
    return T(real, part());
  });
}

// Numbers from 2^63 on are drawn as the negative ones that have the same bits.
std::int64_t whole(long double number) {
  return number < 0 ? static_cast<std::int64_t>(number)
                    : static_cast<std::int64_t>(static_cast<std::uint64_t>(number));
}

template <typename T>
Tensor fill_integer(const Shape& shape, Range range, RandomBits& bits) {
  const std::int64_t first = whole(range.low);
  const std::int64_t last = whole(range.high);
  if constexpr (std::is_integral_v<T>) {
    return fill<T>(shape, [&] { return static_cast<T>(bits.integer(first, last)); });
  } else {
    return fill<T>(shape, [&] { return T(static_cast<int>(bits.integer(first, last))); });
  }
}

// One bit decides, as it always did: people keep seeds.
Tensor fill_bool(const Shape& shape, Range range, RandomBits& bits) {
  return fill<bool>(shape, [&] {
    const bool drawn = (bits.next() >> 63) != 0;
    return range.low == range.high ? range.low != 0 : drawn;
  });
}

// Powers of two from 2^-127 to 2^127: the exponent is uniform.
std::optional<Tensor> fill_e8m0(const Shape& shape, Range range, RandomBits& bits) {
  const int low = range.low <= 0x1p-127L ? -127 : static_cast<int>(std::ceil(std::log2(range.low)));
  const int high = range.high < 0x1p-127L ? -128 : static_cast<int>(std::floor(std::log2(range.high)));
  if (low > high) return std::nullopt;
  return fill<Float8E8M0>(
      shape, [&] { return Float8E8M0::from_bits(static_cast<std::uint8_t>(bits.integer(low, high) + 127)); });
}

Tensor fill_strings(const Shape& shape, RandomBits& bits) {
  return fill<std::string>(shape, [&] {
    std::string text(static_cast<std::size_t>(bits.integer(1, 8)), ' ');
    std::generate(text.begin(), text.end(), [&] { return static_cast<char>('a' + bits.integer(0, 25)); });
    return text;
  });
}

}  // namespace

std::int64_t RandomBits::integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (span == 0) return static_cast<std::int64_t>(next());
  const std::uint64_t bound = span * (UINT64_MAX / span);  // draws from here on would favour small values
  std::uint64_t drawn = next();
  while (drawn >= bound) drawn = next();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + drawn % span);
}

Range default_range(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return {0, 255};
    case DType::int8:
      return {-128, 127};
    case DType::uint4:
      return {UInt4::lowest, UInt4::highest};
    case DType::int4:
      return {Int4::lowest, Int4::highest};
    case DType::uint2:
      return {UInt2::lowest, UInt2::highest};
    case DType::int2:
      return {Int2::lowest, Int2::highest};
    default:
      return is_integer(dtype) ? Range{0, 1} : Range{-1, 1};
  }
}

Range within(DType dtype, Range range) {
  const Range limits = dispatch(AllTypes{}, dtype, []<typename T>() { return limits_of<T>(); });
  if (is_whole(dtype)) range = {std::ceil(range.low), std::floor(range.high)};
  return {std::max(range.low, limits.low), std::min(range.high, limits.high)};
}

std::optional<Tensor> random_tensor(DType dtype, const Shape& shape, Range wanted, RandomBits& bits) {
  using Result = std::optional<Tensor>;
  const Range range = within(dtype, wanted);
  if (range.low > range.high) return std::nullopt;
  return dispatch(AllTypes{}, dtype, [&]<typename T>() -> Result {
    if constexpr (std::is_same_v<T, bool>) {
      return fill_bool(shape, range, bits);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return fill_strings(shape, bits);
    } else if constexpr (std::is_same_v<T, Float8E8M0>) {
      return fill_e8m0(shape, range, bits);
    } else if constexpr (is_floating_type<T>) {
      return fill_float<T>(shape, range, bits);
    } else if constexpr (requires { typename T::value_type; }) {
      return fill_complex<T>(shape, range, bits);
    } else {
      return fill_integer<T>(shape, range, bits);
    }
  });
}

std::string describe_draw(DType dtype, Range wanted) {
  if (dtype == DType::string) return "words of 1 to 8 letters";
  const Range range = within(dtype, wanted);
  if (dtype == DType::boolean && range.low != range.high) return "true or false";
  if (dtype == DType::boolean) return range.low != 0 ? "true" : "false";
  if (is_whole(dtype)) return fmt::format("uniform in [{:.0f}, {:.0f}]", range.low, range.high);
  return fmt::format("{} in [{}, {}]", dtype == DType::float8e8m0 ? "powers of two" : "uniform",
                     static_cast<double>(range.low), static_cast<double>(range.high));
}

}  // namespace grurun::trial
