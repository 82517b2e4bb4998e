#include "trial/compare_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/dispatch.h"
#include "tensor/dtype.h"

namespace grurun::trial {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename T>
inline constexpr bool is_complex_v = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

template <typename T>
inline constexpr bool is_real_float = std::is_floating_point_v<T> ||
                                      (!std::is_integral_v<T> && !is_complex_v<T> &&
                                       std::is_convertible_v<T, float> &&
                                       !std::is_convertible_v<T, std::string> && !requires { T::bit_count; });

bool is_nan(double value) {
  return std::isnan(value);
}
bool is_nan(const Complex128& value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}
bool is_finite(double value) {
  return std::isfinite(value);
}
bool is_finite(const Complex128& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

/// Type in which two elements are subtracted.
template <typename T>
auto widen(const T& value) {
  if constexpr (is_complex_v<T>) {
    return Complex128(value);
  } else if constexpr (is_real_float<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<__int128>(value);
  }
}

double magnitude(__int128 value) {
  return static_cast<double>(value < 0 ? -value : value);
}
template <typename Wide>
double magnitude(const Wide& value) {
  return std::abs(value);
}

double largest_part(double value) {
  return std::abs(value);
}
double largest_part(const Complex128& value) {
  return std::max(std::abs(value.real()), std::abs(value.imag()));
}

/// Differences, moduli and the tolerance of values near the largest double overflow, and infinity <= infinity
/// would pass; an eighth of them is exact and leaves room for all three.
template <typename Wide>
double scale_of(const Wide& a, const Wide& b) {
  constexpr double safe = 0x1p1021;
  return std::max(largest_part(a), largest_part(b)) < safe ? 1 : 0x1p-3;
}
double scale_of(__int128, __int128) {
  return 1;
}

template <typename Wide>
Wide scaled(const Wide& value, double scale) {
  return value * scale;
}
__int128 scaled(__int128 value, double) {
  return value;
}

/// Bits of a code: fewer than its storage holds for float6 and float4.
template <typename T>
inline constexpr int dtype_bits = std::is_same_v<T, Float4E2M1> ? 4
                                  : std::is_same_v<T, Float6E2M3> || std::is_same_v<T, Float6E3M2>
                                      ? 6
                                      : 8 * static_cast<int>(sizeof(T));

/// Codes in the order of the values they stand for, so that their distance counts representable values.
template <typename T>
__int128 ordered_code(const T& value) {
  if constexpr (std::is_same_v<T, Float8E8M0>) {
    return value.bits;
  } else {
    using Bits = std::conditional_t<
        sizeof(T) == 8, std::uint64_t,
        std::conditional_t<sizeof(T) == 4, std::uint32_t,
                           std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (dtype_bits<T> - 1));
    const auto bits = std::bit_cast<Bits>(value);
    const __int128 code = bits & static_cast<Bits>(sign - 1);
    return bits & sign ? -code : code;
  }
}

/// In quotes, on one line: what comes from files must not drive a terminal.
std::string quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Of a string too long for a line the part around the first byte that differs.
std::string excerpt(const std::string& value, const std::string& other) {
  constexpr std::size_t longest = 100, before = 40;
  if (value.size() <= longest) return quoted(value);
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(value, other).in1 - value.begin());
  std::size_t begin = std::min(same - std::min(same, before), value.size() - longest);
  std::size_t end = begin + longest;
  for (int i = 0; i < 3 && begin > 0 && continues_character(value[begin]); ++i) --begin;
  for (int i = 0; i < 3 && end < value.size() && continues_character(value[end]); ++i) ++end;
  return fmt::format("{}{}{} ({} bytes)", begin > 0 ? "..." : "", quoted(value.substr(begin, end - begin)),
                     end < value.size() ? "..." : "", value.size());
}

template <typename T>
std::string text(const T& value, const T& other) {
  if constexpr (std::is_same_v<T, std::string>) {
    return excerpt(value, other);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (is_complex_v<T>) {
    return fmt::format("{}{:+}i", value.real(), value.imag());
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
    return fmt::format("{}", value);
  } else if constexpr (is_real_float<T>) {
    return fmt::format("{}", static_cast<float>(value));
  } else {
    return fmt::format(
        "{}", static_cast<std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>>(
                  value));
  }
}

std::vector<std::int64_t> unravel(std::int64_t flat, const Shape& shape) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

/// How far apart two elements are: score 0 within the tolerance, above 1 beyond it, infinite without measure.
struct Distance {
  bool finite = true;
  double absolute = 0;
  double relative = 0;
  double score = 0;
};

template <typename T>
Distance distance(const T& actual, const T& expected, const Tolerance& tolerance) {
  Distance out;
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
    if (actual != expected) out.score = infinity;
    if constexpr (std::is_same_v<T, bool>) out.absolute = actual != expected ? 1 : 0;
  } else {
    const auto a = widen(actual);
    const auto b = widen(expected);
    if (a == b) return out;
    if constexpr (is_real_float<T> || is_complex_v<T>) {
      if (is_nan(a) && is_nan(b)) return out;
      if (!is_finite(a) || !is_finite(b)) return {false, 0, 0, infinity};
    }
    const double scale = scale_of(a, b);
    const double apart = magnitude(scaled(a, scale) - scaled(b, scale));
    const double size = magnitude(scaled(b, scale));
    out.absolute = apart / scale;
    if (size > 0) out.relative = apart / size;
    const double allowed = tolerance.atol * scale + tolerance.rtol * size;
    if (!(apart <= allowed)) out.score = allowed > 0 ? apart / allowed : infinity;
  }
  return out;
}

template <typename T>
inline constexpr bool is_small_integer = requires {
  T::bit_count;
};

/// How far apart representable values are at a magnitude.
template <typename T>
double step_at(double size) {
  if constexpr (std::is_same_v<T, double>) {
    return std::nextafter(size, infinity) - size;
  } else {
    const float near = static_cast<float>(std::min(size, double{std::numeric_limits<float>::max()}));
    if constexpr (std::is_same_v<T, float>) {
      return std::nextafter(near, std::numeric_limits<float>::infinity()) - near;
    } else {
      using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>;
      const auto bits = std::bit_cast<Bits>(T(near));
      const auto value_of = [](int code) {
        return static_cast<double>(static_cast<float>(std::bit_cast<T>(static_cast<Bits>(code))));
      };
      const double up = value_of(bits + 1) - value_of(bits);
      return std::isfinite(up) && up > 0 ? up : value_of(bits) - value_of(std::max(bits - 1, 0));
    }
  }
}

/// Whether two elements are as near as a rule's max_ulp asks. steps: representable values between them.
template <typename T>
bool is_within_ulp(const AccuracyRule& rule, const Distance& d, std::uint64_t steps) {
  if (d.score == 0 && d.absolute == 0) return true;  // equal, as two NaN are
  if (!d.finite) return false;
  const auto most = static_cast<double>(*rule.max_ulp);
  if constexpr (is_real_float<T>) {
    if (steps <= *rule.max_ulp) return true;
    if constexpr (std::is_same_v<T, Float8E8M0>) {
      return false;
    } else {
      return rule.ulp_floor > 0 && d.absolute <= most * step_at<T>(rule.ulp_floor);
    }
  } else if constexpr (std::is_integral_v<T> || is_small_integer<T>) {
    return !std::is_same_v<T, bool> && d.absolute <= most;
  } else {
    return false;
  }
}

template <typename T>
void add_energies(const T& a, const T& b, Energies& into) {
  if constexpr (!std::is_same_v<T, std::string>) {
    if constexpr (is_complex_v<T>) {
      const Complex128 x(a), y(b);
      if (!is_finite(x) || !is_finite(y)) return;
      into.actual += std::norm(x), into.expected += std::norm(y), into.error += std::norm(x - y);
      into.both += x.real() * y.real() + x.imag() * y.imag();
    } else {
      const auto x = static_cast<double>(widen(a)), y = static_cast<double>(widen(b));
      if (!is_finite(x) || !is_finite(y)) return;
      into.actual += x * x, into.expected += y * y, into.both += x * y, into.error += (x - y) * (x - y);
    }
  }
}

/// One tensor's elements against those expected.
template <typename T>
class TypedComparison {
 public:
  TypedComparison(const Tensor& actual, const Tensor& expected, const Criteria& criteria,
                  const std::string& where, Comparison& into)
      : a_(actual.data<T>()),
        b_(expected.data<T>()),
        shape_(actual.shape()),
        criteria_(criteria),
        where_(where),
        into_(into) {}

  void all(std::int64_t size, double& worst_score) {
    std::int64_t worst = -1;
    double worst_absolute = -1;
    for (std::int64_t i = 0; i < size; ++i) {
      add_energies(a_[i], b_[i], into_.energies);
      const double score = one(i);
      if (score == 0) continue;
      // Among elements that break an exact comparison the largest difference is the worst.
      if (score > worst_score ||
          (worst >= 0 && score == worst_score && last_.finite && last_.absolute > worst_absolute)) {
        worst = i;
        worst_score = score;
        worst_absolute = last_.finite ? last_.absolute : infinity;
      }
    }
    if (worst >= 0) into_.worst = pair(worst);
  }

 private:
  /// How far beyond what is asked an element is; 0: not at all.
  double one(std::int64_t i) {
    ElementErrors& errors = into_.errors;
    last_ = distance<T>(a_[i], b_[i], criteria_.tolerance);
    const bool is_equal = last_.score == 0 && last_.absolute == 0;
    if (is_equal) return 0;
    errors.max_abs = std::max(errors.max_abs, last_.absolute);
    errors.max_rel = std::max(errors.max_rel, last_.relative);
    std::uint64_t steps = 0;
    if constexpr (is_real_float<T>) {
      if (last_.finite) {
        const __int128 apart = ordered_code(a_[i]) - ordered_code(b_[i]);
        steps = static_cast<std::uint64_t>(apart < 0 ? -apart : apart);
        errors.max_ulp = std::max(*errors.max_ulp, steps);
        count_ulp(into_.ulps, steps);
      }
    }
    note_unequal(i);
    const double score = judged(steps);
    if (score == 0) return 0;
    ++errors.differing;
    if (!last_.finite) ++errors.non_finite;
    if (!into_.first) into_.first = pair(i);
    return score;
  }

  void note_unequal(std::int64_t i) {
    ++into_.unequal;
    if (into_.differing.size() < criteria_.keep_differing) into_.differing.push_back(pair(i));
    const double size = size_of(b_[i]);
    if (last_.finite && last_.absolute > 0 && std::isfinite(last_.absolute) && std::isfinite(size))
      into_.headroom.add(size, last_.absolute);
    else
      into_.headroom.add_hopeless();
  }

  double judged(std::uint64_t steps) const {
    const AccuracyRule* rule = criteria_.rule;
    if (rule == nullptr || !rule->max_ulp) return last_.score;
    const double by_tolerance = rule->uses_tolerance() ? last_.score : 0;
    if (is_within_ulp<T>(*rule, last_, steps)) return by_tolerance;
    const double most = std::max(static_cast<double>(*rule->max_ulp), 0.5);
    return std::max({by_tolerance, last_.finite ? static_cast<double>(steps) / most : infinity, 1.0});
  }

  static double size_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      return infinity;  // text is equal or not
    } else if constexpr (std::is_same_v<T, bool>) {
      return infinity;
    } else {
      return magnitude(widen(value));
    }
  }

  ElementPair pair(std::int64_t at) const {
    return {where_, unravel(at, shape_), text<T>(a_[at], b_[at]), text<T>(b_[at], a_[at])};
  }

  const T* a_;
  const T* b_;
  const Shape& shape_;
  const Criteria& criteria_;
  const std::string& where_;
  Comparison& into_;
  Distance last_;
};

template <typename T>
void compare_typed(const Tensor& actual, const Tensor& expected, const Criteria& criteria,
                   const std::string& where, Comparison& into, double& worst_score) {
  into.errors.total += actual.size();
  if constexpr (is_real_float<T>) into.errors.max_ulp = into.errors.max_ulp.value_or(0);
  if constexpr (!std::is_same_v<T, std::string>) {
    const T* a = actual.data<T>();
    if (actual.byte_size() == 0 || std::memcmp(a, expected.data<T>(), actual.byte_size()) == 0) {
      for (std::int64_t i = 0; i < actual.size(); ++i) add_energies(a[i], a[i], into.energies);
      return;
    }
  }
  TypedComparison<T>(actual, expected, criteria, where, into).all(actual.size(), worst_score);
}

}  // namespace

void compare_elements(const Tensor& actual, const Tensor& expected, const Criteria& criteria,
                      const std::string& where, Comparison& into, double& worst_score) {
  if (actual.dtype() == DType::undefined) return;
  dispatch(AllTypes{}, actual.dtype(),
           [&]<typename T>() { compare_typed<T>(actual, expected, criteria, where, into, worst_score); });
}

}  // namespace grurun::trial
