#include "engine/kernels/vec/vec_quantize.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/ops/quantization/saturate.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecQuantize : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecQuantize);

TEST_P(VecQuantize, QuantizeRoundsTiesToEvenAndSaturates) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0, 1, 3, 5, -1, -3, 1e9f, -1e9f, inf, -inf, nan, 509, 511, -256, -258, 2, 7};
  const std::vector<int> expected = {128, 128, 130, 130, 128, 126, 255, 0,  255,
                                     0,   128, 255, 255, 0,   0,   129, 132};
  for (size_t n = 1; n <= x.size(); ++n) {
    std::vector<uint8_t> y(n);
    const float scale = 2;
    const uint8_t zero_point = 128;
    vec_quantize(x.data(), Quantization<uint8_t>{&scale, &zero_point, 0}, y.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], expected[i]) << "n=" << n << " element " << i;
  }
}

TEST_P(VecQuantize, RequantizeIsTheScalarDefinition) {
  std::vector<int32_t> x = {0, 1, -1, 3, 5, 7, -3, -5, 1 << 30, -(1 << 30), INT32_MAX, INT32_MIN};
  for (int32_t i = 0; i < 190; ++i) x.push_back(i * 7919 - 300000);
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> factors;
  std::vector<int32_t> addends;
  for (size_t i = 0; i < x.size(); ++i) {
    factors.push_back(i == 20 ? nan : i == 21 ? inf : 0.0003 * static_cast<double>(i % 17));
    addends.push_back(static_cast<int32_t>(i % 13) * 1000003 - 6000000);
  }
  factors[1] = factors[3] = factors[4] = factors[5] = factors[6] = factors[7] = 0.5;
  for (const int64_t step : {0, 1}) {
    for (const double scale :
         {1.0, 0.5, 3.0, -7.0, double{0.37f}, 0.0, inf, nan, double{1e-45f}, double{3e38f}}) {
      for (const bool adds : {false, true}) {
        for (const bool is_signed : {false, true}) {
          const int zero_point = is_signed ? -3 : 130;
          std::vector<uint8_t> y(x.size());
          vec_requantize(x.data(),
                         {step == 0 ? &factors[3] : factors.data(), step, scale, zero_point,
                          is_signed ? -128 : 0, adds ? addends.data() : nullptr},
                         y.data(), static_cast<int64_t>(x.size()));
          for (size_t i = 0; i < x.size(); ++i) {
            const uint32_t sum = static_cast<uint32_t>(x[i]) + static_cast<uint32_t>(adds ? addends[i] : 0);
            const double quotient = static_cast<int32_t>(sum) * factors[step == 0 ? 3 : i] / scale;
            const int expected = is_signed
                                     ? engine::quantized_integer(quotient, static_cast<int8_t>(zero_point))
                                     : engine::quantized_integer(quotient, static_cast<uint8_t>(zero_point));
            EXPECT_EQ(is_signed ? static_cast<int8_t>(y[i]) : y[i], expected)
                << x[i] << " * " << factors[step == 0 ? 3 : i] << " / " << scale << " adds " << adds;
          }
        }
      }
    }
  }
}

// Quotients that are halves, or the next numbers to them.
TEST_P(VecQuantize, RequantizeDividesToTheLastBit) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> size(0.001f, 100);
  const std::vector<int32_t> ones(64, 1);
  for (int trial = 0; trial < 500; ++trial) {
    const double scale = size(random);
    std::vector<double> factors;
    for (int i = 0; i < 64; ++i) {
      const double half = (i / 3 * 5 - 50 + 0.5) * scale;  // perhaps rounded
      factors.push_back(i % 3 == 0 ? half : std::nextafter(half, i % 3 == 1 ? 1e9 : -1e9));
    }
    std::vector<uint8_t> y(64);
    vec_requantize(ones.data(), {factors.data(), 1, scale, 100, 0}, y.data(), 64);
    for (size_t i = 0; i < 64; ++i)
      ASSERT_EQ(y[i], engine::quantized_integer(factors[i] / scale, uint8_t{100}))
          << factors[i] << " / " << scale;
  }
}

// Of any size, and near the middle between two integers, where float alone would round to the wrong one.
TEST_P(VecQuantize, RequantizeInFloatRoundsAsDoubleDoes) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> size(0.001, 3), level(-300, 300);
  for (int trial = 0; trial < 2000; ++trial) {
    const int64_t count = trial % 150, step = trial % 2;
    const double scale = trial % 3 == 0 ? 1 : static_cast<double>(static_cast<float>(size(random)));
    const bool is_signed = trial % 5 < 2;
    const int zero_point = is_signed ? trial % 256 - 128 : trial % 256;
    std::vector<double> factors;
    std::vector<int32_t> x, addends;
    for (int64_t i = 0; i < count; ++i) {
      const double digits = trial % 7 == 0 ? 0.5 : size(random);
      factors.push_back(step == 0 && i > 0 ? factors[0] : std::ldexp(digits, -(trial % 23)) * scale);
      const double half = std::floor(level(random)) + (i % 4 == 0 ? 0.5 : size(random));
      const double sum = std::clamp(half * scale / factors.back(), -2e9, 2e9);
      x.push_back(i % 19 == 0 ? static_cast<int32_t>(random()) : static_cast<int32_t>(std::nearbyint(sum)));
      addends.push_back(trial % 11 < 5 ? static_cast<int32_t>(random() % 100) : 0);
    }
    for (const bool adds : {false, true}) {
      std::vector<uint8_t> y(static_cast<size_t>(count));
      const auto nearest = nearest_factors(factors, scale);
      ASSERT_EQ(nearest.size(), factors.size());
      vec_requantize(x.data(),
                     {factors.data(), step, scale, zero_point, is_signed ? -128 : 0,
                      adds ? addends.data() : nullptr, step == 0 ? nullptr : nearest.data()},
                     y.data(), count);
      for (size_t i = 0; i < y.size(); ++i) {
        const auto sum =
            static_cast<int32_t>(static_cast<uint32_t>(x[i]) + static_cast<uint32_t>(adds ? addends[i] : 0));
        const double quotient = sum * factors[i] / scale;
        const int expected = is_signed
                                 ? engine::quantized_integer(quotient, static_cast<int8_t>(zero_point))
                                 : engine::quantized_integer(quotient, static_cast<uint8_t>(zero_point));
        ASSERT_EQ(is_signed ? static_cast<int8_t>(y[i]) : y[i], expected) << sum << " * " << factors[i];
      }
    }
  }
}

TEST(NearestFactors, AreNoneWhereOneIsBeyondFloat) {
  const double factors[] = {1, 1e300, 2};
  EXPECT_TRUE(nearest_factors(factors, 1).empty());
  EXPECT_TRUE(nearest_factors(std::span(factors, 1), 0).empty());
  EXPECT_EQ(nearest_factors(std::span(factors, 1), 3)[0], static_cast<float>(1.0 / 3));
}

// All of one type, with one scale and zero point or one of each for every element, or no zero points.
template <class T>
void check_type() {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr int64_t count = 151;
  std::mt19937 random(9);
  std::uniform_int_distribution<int> integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  std::normal_distribution<float> number(0, static_cast<float>(std::numeric_limits<T>::max()) / 3);
  std::uniform_real_distribution<float> size(0.3f, 3);
  std::vector<float> x, scales;
  std::vector<T> zero_points, codes;
  for (int64_t i = 0; i < count; ++i) {
    x.push_back(i % 3 == 0 ? std::nearbyint(number(random)) + 0.5f : number(random));
    scales.push_back(i % 3 == 0 ? 1.0f : size(random));
    zero_points.push_back(static_cast<T>(integer(random)));
    codes.push_back(static_cast<T>(integer(random)));
  }
  codes[0] = std::numeric_limits<T>::min(), codes[1] = std::numeric_limits<T>::max();
  x[40] = inf, x[41] = -inf, x[42] = nan, x[43] = 3e38f, x[44] = -0.0f;
  scales[45] = 0, scales[46] = nan, scales[47] = -1;
  for (const int64_t step : {0, 1}) {
    for (const bool has_zero_points : {false, true}) {
      for (const int64_t n : {int64_t{1}, int64_t{17}, count}) {
        const Quantization<T> by{scales.data(), has_zero_points ? zero_points.data() : nullptr, step};
        std::vector<T> y(static_cast<size_t>(n + 1), T(77));
        std::vector<float> back(static_cast<size_t>(n + 1), 7);
        vec_quantize(x.data(), by, y.data(), n);
        vec_dequantize(codes.data(), by, back.data(), n);
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
          const float scale = scales[step == 0 ? 0 : i];
          const T zero_point = has_zero_points ? zero_points[step == 0 ? 0 : i] : T(0);
          EXPECT_EQ(y[i], engine::quantized_integer<T>(x[i] / scale, zero_point)) << x[i] << " / " << scale;
          const float expected = static_cast<float>(codes[i] - zero_point) * scale;
          EXPECT_TRUE(back[i] == expected || (std::isnan(back[i]) && std::isnan(expected))) << back[i];
        }
        EXPECT_EQ(y.back(), T(77));
        EXPECT_EQ(back.back(), 7);
      }
    }
  }
}

// Of 16-bit floats and integers; quotient() is the definition's.
template <class T, class X, class Scale>
void check_quotients(const std::vector<X>& x, double (*quotient)(X, Scale)) {
  std::mt19937 random(10);
  std::vector<Scale> scales;
  std::vector<T> zero_points;
  for (size_t i = 0; i < x.size(); ++i) {
    scales.push_back(static_cast<Scale>(i % 50 == 7 ? 0 : 0.25 * (1 + static_cast<double>(random() % 29))));
    zero_points.push_back(static_cast<T>(random()));
  }
  for (const int64_t step : {0, 1}) {
    for (const bool has_zero_points : {false, true}) {
      std::vector<T> y(x.size() + 1, T(77));
      const Quantization<T, Scale> by{scales.data(), has_zero_points ? zero_points.data() : nullptr, step};
      vec_quantize(x.data(), by, y.data(), static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t at = step == 0 ? 0 : i;
        const T zero_point = has_zero_points ? zero_points[at] : T(0);
        ASSERT_EQ(y[i], engine::quantized_integer<T>(quotient(x[i], scales[at]), zero_point))
            << i << ": " << static_cast<double>(x[i]) << " / " << scales[at];
      }
      EXPECT_EQ(y.back(), T(77));
    }
  }
}

template <class T, class Half>
void check_halves() {
  std::vector<Half> x;  // every one
  for (unsigned bits = 0; bits < 0x10000; ++bits) x.push_back(Half::from_bits(static_cast<uint16_t>(bits)));
  check_quotients<T, Half, float>(
      x, [](Half v, float scale) -> double { return Half(static_cast<float>(v) / scale); });
}

template <class T>
void check_quotients_of() {
  std::vector<int32_t> x{0, INT32_MAX, INT32_MIN};
  for (int32_t i = -700; i < 700; ++i) x.insert(x.end(), {i, i * 977, i * 3'000'001});
  check_quotients<T, int32_t, double>(x, [](int32_t v, double scale) { return v / scale; });
  check_quotients<T, int32_t, float>(
      x, [](int32_t v, float scale) -> double { return static_cast<float>(v) / scale; });
}

template <class T>
void check_sources() {
  check_type<T>();
  check_halves<T, Float16>();
  check_halves<T, BFloat16>();
  check_quotients_of<T>();
}

TEST_P(VecQuantize, EveryTypeIsTheScalarDefinition) {
  check_sources<int8_t>();
  check_sources<uint8_t>();
  check_sources<int16_t>();
  check_sources<uint16_t>();
}

}  // namespace
}  // namespace grurun::kernels
