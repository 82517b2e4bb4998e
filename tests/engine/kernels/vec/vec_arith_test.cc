#include "engine/kernels/vec/vec_arith.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecArith : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecArith);

template <class T>
struct Operation {
  const char* name;
  void (*arrays)(const T*, const T*, T*, int64_t);
  void (*scalar_last)(const T*, T, T*, int64_t);
  void (*scalar_first)(T, const T*, T*, int64_t);
  T (*definition)(T, T);
};

template <class T>
std::vector<Operation<T>> operations() {
  return {
      {"add", vec_add<T>, vec_add<T>, vec_add<T>, [](T a, T b) { return a + b; }},
      {"sub", vec_sub<T>, vec_sub<T>, vec_sub<T>, [](T a, T b) { return a - b; }},
      {"mul", vec_mul<T>, vec_mul<T>, vec_mul<T>, [](T a, T b) { return a * b; }},
      {"div", vec_div<T>, vec_div<T>, vec_div<T>, [](T a, T b) { return a / b; }},
      {"max", vec_max<T>, vec_max<T>, vec_max<T>, [](T a, T b) { return a > b || a != a ? a : b; }},
      {"min", vec_min<T>, vec_min<T>, vec_min<T>, [](T a, T b) { return a < b || a != a ? a : b; }},
  };
}

/// Every pair of these, in an order that puts each into vectors and into the rest.
template <class T>
void pairs(std::vector<T>& a, std::vector<T>& b) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {0,
                      T(-0.0),
                      1,
                      -1,
                      T(0.1),
                      T(-3.7),
                      Limits::max(),
                      Limits::min(),
                      Limits::denorm_min(),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      T(1e10)};
  for (const T x : values) {
    for (const T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
}

/// The same value with the same sign, or both NaN.
template <class T>
bool same(T x, T y) {
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

template <class T>
void check_arithmetic() {
  std::vector<T> a, b;
  pairs(a, b);
  const auto n = static_cast<int64_t>(a.size());
  for (const Operation<T>& op : operations<T>()) {
    std::vector<T> y(a.size());
    op.arrays(a.data(), b.data(), y.data(), n);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(same(y[i], op.definition(a[i], b[i])))
          << op.name << "(" << a[i] << ", " << b[i] << ") = " << y[i];
    }
    for (const T scalar :
         {T(0.3), -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      op.scalar_last(a.data(), scalar, y.data(), n);
      for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_TRUE(same(y[i], op.definition(a[i], scalar)))
            << op.name << "(" << a[i] << ", scalar " << scalar << ") = " << y[i];
      }
      op.scalar_first(scalar, b.data(), y.data(), n);
      for (size_t i = 0; i < b.size(); ++i) {
        EXPECT_TRUE(same(y[i], op.definition(scalar, b[i])))
            << op.name << "(scalar " << scalar << ", " << b[i] << ") = " << y[i];
      }
    }
  }
}

TEST_P(VecArith, FloatsEqualTheDefinition) {
  check_arithmetic<float>();
}
TEST_P(VecArith, DoublesEqualTheDefinition) {
  check_arithmetic<double>();
}

template <class T>
void check_clip() {
  std::vector<T> x, unused;
  pairs(x, unused);
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const auto& [low, high] : std::vector<std::pair<T, T>>{
           {0, 6}, {T(-0.5), T(0.25)}, {-infinity, 1}, {T(-0.0), infinity}, {3, 1}, {nan, 1}, {0, nan}}) {
    std::vector<T> y(x.size(), T(7));
    vec_clip(x.data(), low, high, y.data(), static_cast<int64_t>(x.size()) - 1);
    EXPECT_EQ(y.back(), T(7));
    for (size_t i = 0; i + 1 < x.size(); ++i) {
      const T raised = x[i] >= low || std::isnan(x[i]) ? x[i] : low;
      const T expected = raised <= high || std::isnan(raised) ? raised : high;
      EXPECT_TRUE(same(y[i], expected)) << x[i] << " in [" << low << ", " << high << "] = " << y[i];
    }
  }
}

TEST_P(VecArith, ClipEqualsTheDefinition) {
  check_clip<float>();
  check_clip<double>();
}

// Bits drawn evenly: every exponent, and mantissas near the ends too.
TEST_P(VecArith, DivisionByAScalarIsCorrectlyRounded) {
  std::mt19937 draw(1);
  const auto number = [&](uint32_t exponents) {
    const uint32_t mantissa =
        draw() % 4 == 0 ? (draw() % 2 == 0 ? 0x7fffffu - draw() % 4 : draw() % 4) : draw() & 0x7fffffu;
    const auto exponent = 127 - exponents / 2 + draw() % exponents;
    return std::bit_cast<float>(static_cast<uint32_t>((draw() & 0x80000000u) | exponent << 23 | mantissa));
  };
  for (const uint32_t exponents : {8u, 130u, 254u}) {
    for (int i = 0; i < 500; ++i) {
      std::vector<float> a(197), y(a.size());
      for (float& v : a) v = draw() % 50 == 0 ? std::copysign(0.0f, number(8)) : number(exponents);
      const float b = number(exponents);
      vec_div(a.data(), b, y.data(), static_cast<int64_t>(a.size()));
      for (size_t k = 0; k < a.size(); ++k)
        ASSERT_TRUE(same(y[k], a[k] / b)) << a[k] << " / " << b << " = " << y[k];
    }
  }
}

TEST_P(VecArith, AnyLengthInPlaceAndOnSeveralThreads) {
  for (const int threads : {1, 3}) {
    set_threads(threads);
    for (const int64_t n : {0, 1, 5, 16, 37, 100'001}) {
      std::vector<float> a(static_cast<size_t>(n) + 1, 2.0f), b(a.size(), 3.0f);
      vec_mul(a.data(), b.data(), a.data(), n);
      std::vector<float> expected(a.size(), 6.0f);
      expected.back() = 2.0f;
      EXPECT_EQ(a, expected) << "n=" << n << " threads=" << threads;
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
