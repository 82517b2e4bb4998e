#include "engine/kernels/vec/vec_convert.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecConvert : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecConvert);

/// Every value, every midpoint between neighbours and what lies just beside each, in both signs, and NaN of
/// any payload.
template <class Half>
std::vector<float> interesting_floats() {
  std::vector<float> x;
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float value = Half::from_bits(static_cast<uint16_t>(code));
    const float next = Half::from_bits(static_cast<uint16_t>(code + 1));
    const float middle = std::isfinite(value) && std::isfinite(next) ? value / 2 + next / 2 : value;
    for (const float v : {value, middle}) {
      const auto bits = std::bit_cast<uint32_t>(v);
      for (const uint32_t beside : {bits - 1, bits, bits + 1}) x.push_back(std::bit_cast<float>(beside));
    }
  }
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 65'521)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return x;
}

template <class Half>
void check_to_half() {
  const std::vector<float> x = interesting_floats<Half>();
  std::vector<Half> y(x.size());
  vec_convert(x.data(), y.data(), static_cast<int64_t>(x.size()));
  int wrong = 0;
  for (size_t i = 0; i < x.size() && wrong < 5; ++i) {
    const bool right = std::isnan(x[i]) ? std::isnan(static_cast<float>(y[i])) : y[i].bits == Half(x[i]).bits;
    EXPECT_TRUE(right) << std::hex << std::bit_cast<uint32_t>(x[i]) << " became " << y[i].bits << ", not "
                       << Half(x[i]).bits;
    wrong += !right;
  }
}

template <class Half>
void check_from_half() {
  std::vector<Half> x(0x10000);
  for (uint32_t code = 0; code < 0x10000; ++code) x[code].bits = static_cast<uint16_t>(code);
  std::vector<float> y(x.size());
  vec_convert(x.data(), y.data(), static_cast<int64_t>(x.size()));
  int wrong = 0;
  for (size_t i = 0; i < x.size() && wrong < 5; ++i) {
    const float expected = x[i];
    const bool right = std::isnan(expected)
                           ? std::isnan(y[i])
                           : std::bit_cast<uint32_t>(y[i]) == std::bit_cast<uint32_t>(expected);
    EXPECT_TRUE(right) << std::hex << x[i].bits << " became " << std::bit_cast<uint32_t>(y[i]);
    wrong += !right;
  }
}

TEST_P(VecConvert, ToFloat16) {
  check_to_half<Float16>();
}
TEST_P(VecConvert, ToBFloat16) {
  check_to_half<BFloat16>();
}
TEST_P(VecConvert, FromFloat16) {
  check_from_half<Float16>();
}
TEST_P(VecConvert, FromBFloat16) {
  check_from_half<BFloat16>();
}

TEST_P(VecConvert, AnyLength) {
  for (int64_t n = 0; n <= 40; ++n) {
    std::vector<float> x(41, 1.5f), back(41, 7.0f);
    std::vector<Float16> halves(41, Float16(7.0f));
    vec_convert(x.data(), halves.data(), n);
    vec_convert(halves.data(), back.data(), n);
    for (int64_t i = 0; i <= 40; ++i)
      EXPECT_EQ(back[static_cast<size_t>(i)], i < n ? 1.5f : 7.0f) << "n=" << n << " at " << i;
    EXPECT_EQ(halves[static_cast<size_t>(n)], 7.0f) << "n=" << n;
  }
}

template <class Integer>
void check_truncation() {
  const float bound = -static_cast<float>(std::numeric_limits<Integer>::min());
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x{
      0.0f,   -0.0f,     0.99f, -0.99f,   1.5f,      -2.5f, bound, std::nextafter(bound, 0.0f),      -bound,
      -1e30f, -infinity, 1e30f, infinity, 0x1p-140f, 3e9f,  nan,   std::nextafter(-bound, -infinity)};
  while (x.size() < 60) x.push_back(x[x.size() * 7 % 17] / 2);
  for (int i = 0; i < 40; ++i)
    x.push_back(1.7f * static_cast<float>(37 * i - 700));  // whole vectors of 32 bits
  x.insert(x.end(), 16, 0x1.fffffep+30f);
  std::vector<Integer> y(x.size());
  for (size_t n = 0; n <= x.size(); ++n) {
    vec_truncate(x.data(), y.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) {
      const bool fits = x[i] >= -bound && x[i] < bound;
      EXPECT_EQ(y[i], fits ? static_cast<Integer>(x[i]) : std::numeric_limits<Integer>::min()) << x[i];
    }
  }
}

TEST_P(VecConvert, FromIntegers) {
  std::vector<int64_t> x{0,
                         -1,
                         1ll << 24,
                         (1ll << 24) + 1,
                         (1ll << 31) - 1,
                         1ll << 31,
                         -(1ll << 31),
                         -(1ll << 31) - 1,
                         std::numeric_limits<int64_t>::max(),
                         std::numeric_limits<int64_t>::min(),
                         (1ll << 54) + 1,
                         7};
  for (int64_t i = 0; i < 40; ++i) x.push_back((i - 20) * 100'000'007);  // whole vectors of 32 bits
  std::vector<float> y(x.size() + 1);
  for (size_t n = 0; n <= x.size(); ++n) {
    y[n] = 0.5f;
    vec_convert(x.data(), y.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], static_cast<float>(x[i])) << x[i];
    EXPECT_EQ(y[n], 0.5f) << "n=" << n;
  }
}

template <class Small>
void check_wrapping() {
  std::vector<float> x{0.0f,     -0.99f, 127.9f, 128.0f, -129.0f, 255.5f, 256.0f,    65535.0f, 65536.0f,
                       70000.5f, -3.5f,  3e9f,   -3e9f,  0x1p63f, 1e30f,  -INFINITY, NAN,      -32769.0f};
  for (int i = 0; i < 40; ++i) x.push_back(1.7f * static_cast<float>(3711 * i - 70000));  // whole vectors
  std::vector<Small> y(x.size() + 1);
  for (size_t n = 0; n <= x.size(); ++n) {
    y[n] = 77;
    vec_truncate(x.data(), y.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) {
      const bool fits = x[i] >= -0x1p63f && x[i] < 0x1p63f;
      const int64_t whole = fits ? static_cast<int64_t>(x[i]) : std::numeric_limits<int64_t>::min();
      EXPECT_EQ(y[i], static_cast<Small>(whole)) << x[i];
    }
    EXPECT_EQ(y[n], 77) << "n=" << n;
  }
}

TEST_P(VecConvert, ToSmallIntegersTheLowBits) {
  check_wrapping<int8_t>();
  check_wrapping<uint8_t>();
  check_wrapping<int16_t>();
  check_wrapping<uint16_t>();
}

TEST_P(VecConvert, ToIntegers) {
  check_truncation<int32_t>();
  check_truncation<int64_t>();
}

}  // namespace
}  // namespace grurun::kernels
