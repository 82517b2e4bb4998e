// Conversions to 16-bit floats are compared with the number next to the exact value, which long double holds;
// what is done by the bits of 16-bit floats with the same in float, for every pattern of them.
#include "engine/kernels/vec/vec_cast.h"

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "engine/kernels/vec/truncated.h"
#include "engine/kernels/vec/vec_abs.h"
#include "engine/kernels/vec/vec_compare.h"
#include "engine/kernels/vec/vec_math.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecCast : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecCast);

template <class Half>
constexpr int infinity_of = std::is_same_v<Half, Float16> ? 0x7c00 : 0x7f80;

/// Of bits without a sign; infinity as the number that would come next.
template <class Half>
long double size_of(int bits) {
  if (bits != infinity_of<Half>) return static_cast<float>(Half::from_bits(static_cast<uint16_t>(bits)));
  return 2 * size_of<Half>(infinity_of<Half> - (std::is_same_v<Half, Float16> ? 0x400 : 0x80));
}

/// Of all numbers the nearest, of two of them the one that ends in 0.
template <class Half, class T>
Half nearest_half(T x) {
  const long double exact = +x, size = std::fabs(exact);
  const uint16_t sign = std::signbit(exact) ? 0x8000 : 0;
  int low = 0, high = infinity_of<Half>;
  if (!(size < size_of<Half>(high))) low = high;
  while (high - low > 1) (size < size_of<Half>((low + high) / 2) ? high : low) = (low + high) / 2;
  const long double below = size - size_of<Half>(low), above = size_of<Half>(high) - size;
  const int best = below < above || (below == above && low % 2 == 0) ? low : high;
  return Half::from_bits(static_cast<uint16_t>(best | sign));
}

template <class Half, class T>
void check_conversion(const std::vector<T>& x) {
  std::vector<Half> y(x.size() + 1);
  y.back().bits = 77;
  vec_convert(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != x[i]) {
      ASSERT_TRUE(std::isnan(static_cast<float>(y[i])));
    } else {
      ASSERT_EQ(y[i].bits, nearest_half<Half>(x[i]).bits) << +x[i];
    }
  }
  EXPECT_EQ(y.back().bits, 77);
}

template <class T>
void check_integers_to_half() {
  std::mt19937_64 draw(sizeof(T));
  std::vector<T> x;
  for (int i = 0; i < 4000; ++i) x.push_back(static_cast<T>(draw() >> draw() % 64));
  for (int bit = 8; bit < static_cast<int>(8 * sizeof(T)) - 1; ++bit) {  // ties, and what is beside them
    for (const int digits : {8, 11}) {
      const int64_t tie = (int64_t{1} << bit) + (bit < digits ? 0 : int64_t{1} << (bit - digits));
      for (const int64_t beside : {tie - 1, tie, tie + 1, -tie - 1, -tie, -tie + 1})
        x.push_back(static_cast<T>(beside));
    }
  }
  x.push_back(std::numeric_limits<T>::max());
  x.push_back(std::numeric_limits<T>::min());
  check_conversion<Float16>(x);
  check_conversion<BFloat16>(x);
}

TEST_P(VecCast, IntegersToHalvesAreRoundedOnce) {
  check_integers_to_half<int8_t>();
  check_integers_to_half<uint8_t>();
  check_integers_to_half<int16_t>();
  check_integers_to_half<uint16_t>();
  check_integers_to_half<int32_t>();
  check_integers_to_half<int64_t>();
}

template <class Half>
void check_doubles_to_half() {
  std::mt19937_64 draw(5);
  std::vector<double> x;
  for (int i = 0; i < 2000; ++i) {
    const auto bits = static_cast<uint16_t>(draw() % static_cast<unsigned>(infinity_of<Half>));
    const double one = Half::from_bits(bits), next = static_cast<double>(size_of<Half>(bits + 1));
    const double tie = one / 2 + next / 2, step = std::ldexp(next - one, -static_cast<int>(draw() % 50));
    for (const double v : {one, tie, tie - step, tie + step}) x.insert(x.end(), {v, -v});
  }
  check_conversion<Half>(x);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  x = {0.0,   -0.0,     infinite, -infinite, std::nan(""), 1e-310, -1e-200, 1e300, 3.4028235677973366e38,
       65520, 65519.999};
  for (int i = 0; i < 2000; ++i) x.push_back(std::bit_cast<double>(draw()));
  check_conversion<Half>(x);
}

TEST_P(VecCast, DoublesToHalvesAreRoundedOnce) {
  check_doubles_to_half<Float16>();
  check_doubles_to_half<BFloat16>();
}

template <class Integer>
void check_cut() {
  std::mt19937_64 draw(6);
  std::vector<double> x = {0.9,     -0.9,  0x1p31, -0x1p31,      -0x1p31 - 1, 0x1p63,
                           -0x1p63, 1e300, -1e300, std::nan(""), -0.0};
  for (int i = 0; i < 100; ++i)
    x.push_back(static_cast<double>(static_cast<int64_t>(draw() >> 33)) / 3 - 1e8);
  for (int i = 0; i < 100; ++i)
    x.push_back(std::ldexp(static_cast<double>(draw()), -static_cast<int>(draw() % 64)));
  std::vector<Integer> y(x.size() + 1, Integer(77));
  vec_truncate(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], static_cast<Integer>(truncated<int64_t>(x[i]))) << x[i];
  EXPECT_EQ(y.back(), Integer(77));
}

TEST_P(VecCast, DoublesAreCutToIntegers) {
  check_cut<int64_t>();
  check_cut<int8_t>();
  check_cut<uint8_t>();
  check_cut<int16_t>();
  check_cut<uint16_t>();
}

TEST_P(VecCast, HalvesToTheOtherAreRoundedOnce) {
  std::vector<Float16> halves(0x10000);
  std::vector<BFloat16> upper(halves.size());
  for (size_t i = 0; i < halves.size(); ++i) halves[i].bits = upper[i].bits = static_cast<uint16_t>(i);
  check_conversion<BFloat16>(halves);
  check_conversion<Float16>(upper);
}

TEST_P(VecCast, DoublesToFloatAndBack) {
  std::mt19937_64 draw(7);
  std::vector<double> x(1003), back(x.size());
  for (double& v : x) v = static_cast<double>(draw()) * 1e-12;
  x[1] = 1e300, x[2] = -1e-310, x[3] = -0.0;
  std::vector<float> y(x.size());
  const auto n = static_cast<int64_t>(x.size());
  vec_convert(x.data(), y.data(), n);
  vec_convert(y.data(), back.data(), n);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(static_cast<float>(x[i]))) << x[i];
    EXPECT_EQ(back[i], static_cast<double>(y[i]));
  }
}

TEST_P(VecCast, SizesOfLongs) {
  std::mt19937_64 draw(9);
  std::vector<int64_t> x{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), 0, -1};
  while (x.size() < 103) x.push_back(static_cast<int64_t>(draw()));
  std::vector<int64_t> y = x;
  vec_abs(y.data(), y.data(), static_cast<int64_t>(y.size()));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], i == 0 || x[i] >= 0 ? x[i] : -x[i]);
}

template <class Half>
std::vector<Half> every_half() {
  std::vector<Half> x(0x10000);
  for (size_t i = 0; i < x.size(); ++i) x[i].bits = static_cast<uint16_t>(i);
  return x;
}

template <class Half, class Run, class Definition>
void check_comparison(const std::vector<Half>& a, const Run& run, const Definition& definition) {
  const auto y = std::make_unique<bool[]>(a.size());
  run(y.get());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(y[i], definition(i)) << std::hex << a[i].bits;
}

template <class Half>
void check_comparisons() {
  const std::vector<Half> a = every_half<Half>();
  const auto n = static_cast<int64_t>(a.size());
  const Half* const A = a.data();
  std::mt19937 draw(8);
  std::vector<Half> b = a;
  for (Half& v : b) v.bits = static_cast<uint16_t>(draw());
  for (size_t i = 0; i < a.size(); ++i) {  // equal ones, neighbours, and zeros beside all
    if (i % 4 < 2) b[i].bits = static_cast<uint16_t>(a[i].bits + i % 4);
    if (i % 64 == 2) b[i].bits = 0x8000;
  }
  const Half* const B = b.data();
  const auto float_of = [](Half x) { return static_cast<float>(x); };
  check_comparison(
      a, [&](bool* y) { vec_equal(A, B, y, n); }, [&](size_t i) { return float_of(a[i]) == float_of(b[i]); });
  check_comparison(
      a, [&](bool* y) { vec_less(A, B, y, n); }, [&](size_t i) { return float_of(a[i]) < float_of(b[i]); });
  check_comparison(
      a, [&](bool* y) { vec_less_equal(A, B, y, n); },
      [&](size_t i) { return float_of(a[i]) <= float_of(b[i]); });
  for (const uint16_t bits : {0, 0x8000, 1, 0x8001, 0x4123, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7fff, 0xffff}) {
    const float still = Half::from_bits(bits);
    check_comparison(
        a, [&](bool* y) { vec_equal(A, still, y, n); }, [&](size_t i) { return float_of(a[i]) == still; });
    check_comparison(
        a, [&](bool* y) { vec_not_equal(A, still, y, n); },
        [&](size_t i) { return float_of(a[i]) != still; });
    check_comparison(
        a, [&](bool* y) { vec_less(A, still, y, n); }, [&](size_t i) { return float_of(a[i]) < still; });
    check_comparison(
        a, [&](bool* y) { vec_less(still, A, y, n); }, [&](size_t i) { return still < float_of(a[i]); });
    check_comparison(
        a, [&](bool* y) { vec_less_equal(A, still, y, n); },
        [&](size_t i) { return float_of(a[i]) <= still; });
    check_comparison(
        a, [&](bool* y) { vec_less_equal(still, A, y, n); },
        [&](size_t i) { return still <= float_of(a[i]); });
  }
}

TEST_P(VecCast, EveryHalfIsComparedAsItsFloat) {
  check_comparisons<Float16>();
  check_comparisons<BFloat16>();
}

template <class Half>
void check_rounding(void (*halves)(const Half*, Half*, int64_t), float (*definition)(float)) {
  const std::vector<Half> x = every_half<Half>();
  std::vector<Half> y(x.size());
  halves(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const float exact = x[i];
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(y[i]))) << std::hex << i;
    } else {
      ASSERT_EQ(y[i].bits, Half(definition(exact)).bits) << exact;
    }
  }
}

template <class Half>
void check_roundings() {
  check_rounding<Half>(vec_floor, [](float v) { return std::floor(v); });
  check_rounding<Half>(vec_ceil, [](float v) { return std::ceil(v); });
  check_rounding<Half>(vec_round, [](float v) { return std::nearbyint(v); });
}

TEST_P(VecCast, EveryHalfIsRoundedAsItsFloat) {
  check_roundings<Float16>();
  check_roundings<BFloat16>();
}

}  // namespace
}  // namespace grurun::kernels
