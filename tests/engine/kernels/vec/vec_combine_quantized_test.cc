#include "engine/kernels/vec/vec_combine_quantized.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecCombineQuantized : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecCombineQuantized);

// Sums and products against the functions that they stand for, an operand at a time standing still.
template <class T>
void check_pairs() {
  constexpr int64_t count = 151;
  std::vector<T> a, b;
  for (int i = 0; i < count; ++i)
    a.push_back(static_cast<T>(i * 37)), b.push_back(static_cast<T>(i * 91 + 5));
  const float a_scale = 0.173f, b_scale = 0.31f, scale = 0.77f;
  const T a_zero = 3, zero = 90;
  const Quantization<T> by_a{&a_scale, &a_zero, 0}, by_b{&b_scale, nullptr, 0}, by{&scale, &zero, 0};
  const QuantizedPair<T> pair(by_a, by_b, by);
  std::vector<float> x(a.size()), z(b.size()), real(a.size());
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{17}, count}) {
    for (const auto& [a_steps, b_steps] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
      for (const bool multiplies : {false, true}) {
        std::vector<T> y(a.size() + 1, T(77)), expected = y;
        multiplies ? vec_mul_quantized(pair, a.data(), a_steps, b.data(), b_steps, y.data(), n)
                   : vec_add_quantized(pair, a.data(), a_steps, b.data(), b_steps, y.data(), n);
        vec_dequantize(a.data(), by_a, x.data(), count);
        vec_dequantize(b.data(), by_b, z.data(), count);
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
          const float p = x[a_steps ? i : 0], q = z[b_steps ? i : 0];
          real[i] = multiplies ? p * q : p + q;
        }
        vec_quantize(real.data(), by, expected.data(), n);
        EXPECT_EQ(y, expected) << "n=" << n << (multiplies ? " product " : " sum ") << a_steps << b_steps;
      }
    }
  }
}

TEST_P(VecCombineQuantized, PairsAreOneAfterTheOther) {
  check_pairs<int8_t>();
  check_pairs<uint8_t>();
}

struct Scales {
  float a, b, result;
};

// Every pair of numbers.
template <class T>
void check_all_numbers(const Scales& scales, T a_zero, T b_zero, T zero, bool multiplies) {
  const Quantization<T> by_a{&scales.a, &a_zero, 0}, by_b{&scales.b, &b_zero, 0},
      by{&scales.result, &zero, 0};
  const QuantizedPair<T> pair(by_a, by_b, by);
  std::vector<T> numbers(256), y(256), expected(256);
  for (size_t i = 0; i < 256; ++i) numbers[i] = static_cast<T>(i);
  std::vector<float> x(256), z(256), real(256);
  vec_dequantize(numbers.data(), by_a, x.data(), 256);
  vec_dequantize(numbers.data(), by_b, z.data(), 256);
  for (size_t k = 0; k < 256; ++k) {
    for (size_t i = 0; i < 256; ++i) real[i] = multiplies ? x[i] * z[k] : x[i] + z[k];
    vec_quantize(real.data(), by, expected.data(), 256);
    multiplies ? vec_mul_quantized(pair, numbers.data(), true, &numbers[k], false, y.data(), 256)
               : vec_add_quantized(pair, numbers.data(), true, &numbers[k], false, y.data(), 256);
    ASSERT_EQ(y, expected) << (multiplies ? "products" : "sums") << " with number " << k << ", scales "
                           << scales.a << ", " << scales.b << " and " << scales.result;
  }
}

void check_scales(const Scales& scales, unsigned seed) {
  for (const bool multiplies : {false, true}) {
    const auto any = [&](unsigned n) { return static_cast<uint8_t>(seed * 73 + n * 151); };
    check_all_numbers<uint8_t>(scales, any(1), any(2), any(3), multiplies);
    check_all_numbers<int8_t>(scales, static_cast<int8_t>(any(4)), static_cast<int8_t>(any(5)),
                              static_cast<int8_t>(any(6)), multiplies);
  }
}

TEST_P(VecCombineQuantized, AllNumbersOfRandomScalesAreOneAfterTheOther) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-8, 1);
  const auto scale = [&] { return std::ldexp(mantissa(random), exponent(random)); };
  for (unsigned i = 0; i < 40; ++i) check_scales({scale(), scale(), scale()}, i);
}

// Ties, quotients next to ties, and scales whose quotients are not found by multiplying.
TEST_P(VecCombineQuantized, AllNumbersOfScalesWithTiesAreOneAfterTheOther) {
  check_scales({0.5f, 0.25f, 1}, 1);
  check_scales({0.1f, 0.1f, 0.2f}, 2);
  check_scales({1, 3, -2}, 3);
  check_scales({0.3f, 1, 0.6f}, 4);
  for (const uint32_t last : {0u, 1u, 3u, 4u, 0x7ffcu, 0x7ffdu, 0x7fffu}) {
    const float result = std::bit_cast<float>(0x3f5a8000u + last);
    check_scales({result / 2, result * 0.75f, result}, 5 + last % 7);
    check_scales({std::nextafter(result / 2, 1.0f), result, result}, 6 + last % 7);
  }
}

TEST_P(VecCombineQuantized, AllNumbersOfScalesThatNobodyUsesAreOneAfterTheOther) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float odd : {0.0f, infinity, -infinity, nan, 1e-45f, 3e38f}) {
    check_scales({odd, 0.1f, 0.2f}, 1);
    check_scales({0.1f, odd, 0.2f}, 2);
    check_scales({0.1f, 0.2f, odd}, 3);
  }
  check_scales({3e38f, 1e-45f, 1}, 4);
  check_scales({1e-30f, 1e-30f, 1e-30f}, 5);
}

}  // namespace
}  // namespace grurun::kernels
