#include "engine/kernels/vec/vec_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/kernels/vec/vec_math_scalar.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

constexpr double math_ulps = 2;  // the bound that vec_math.h states

struct Function {
  const char* name;
  void (*floats)(const float*, float*, int64_t);
  void (*doubles)(const double*, double*, int64_t);
  double (*definition)(double);
};

const Function functions[] = {
    {"exp", vec_exp, vec_exp, [](double x) { return std::exp(x); }},
    {"expm1", vec_expm1, vec_expm1, [](double x) { return std::expm1(x); }},
    {"log", vec_log, vec_log, [](double x) { return std::log(x); }},
    {"log1p", vec_log1p, vec_log1p, [](double x) { return std::log1p(x); }},
    {"tanh", vec_tanh, vec_tanh, scalar_tanh<double>},
    {"sigmoid", vec_sigmoid, vec_sigmoid, scalar_sigmoid<double>},
    {"softplus", vec_softplus, vec_softplus, scalar_softplus<double>},
    {"gelu", vec_gelu, vec_gelu, scalar_gelu},
    {"gelu_tanh", vec_gelu_tanh, vec_gelu_tanh, scalar_gelu_tanh},
    {"mish", vec_mish, vec_mish, scalar_mish<double>},
    {"erf", vec_erf, vec_erf, [](double x) { return std::erf(x); }},
    {"sin", vec_sin, vec_sin, [](double x) { return std::sin(x); }},
    {"cos", vec_cos, vec_cos, [](double x) { return std::cos(x); }},
    {"tan", vec_tan, vec_tan, [](double x) { return std::tan(x); }},
    {"asin", vec_asin, vec_asin, [](double x) { return std::asin(x); }},
    {"acos", vec_acos, vec_acos, [](double x) { return std::acos(x); }},
    {"atan", vec_atan, vec_atan, [](double x) { return std::atan(x); }},
    {"sinh", vec_sinh, vec_sinh, [](double x) { return std::sinh(x); }},
    {"cosh", vec_cosh, vec_cosh, [](double x) { return std::cosh(x); }},
    {"asinh", vec_asinh, vec_asinh, [](double x) { return std::asinh(x); }},
    {"acosh", vec_acosh, vec_acosh, scalar_acosh<double>},
    {"atanh", vec_atanh, vec_atanh, [](double x) { return std::atanh(x); }},
};

/// Every 8191st float: all exponents, both signs, subnormals, infinities and NaN are among them; then what is
/// special.
std::vector<float> samples() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 8191)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const float v :
       {0.0f, 1.0f, 0x1p-149f, 0x1p-126f, 0x1.fffffep+127f, 88.7228394f, 88.7228470f, 103.97f, 9.1f, 4.0f,
        17.3f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    x.insert(x.end(), {v, -v});
  }
  for (int i = -4000; i <= 4000; ++i)
    x.push_back(static_cast<float>(i) * 0.00625f);  // where the results vary
  return x;
}

/// The distance of `got` from `exact` in units in the last place of a float there; infinite if the kinds
/// differ.
double ulps(float got, double exact) {
  constexpr double differ = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : differ;
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(got)) {
    // Around the largest float both it and infinity are within a unit.
    if (got == nearest) return 0;
    return std::fabs(exact) < 0x1.000002p+128 && std::signbit(got) == std::signbit(exact) &&
                   std::fabs(got) > 0x1.fffff8p+127f
               ? 1
               : differ;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(got - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

std::string hex(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", v);
  return text;
}

class VecMath : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecMath);

TEST_P(VecMath, FloatsAreWithinTheStatedBound) {
  const std::vector<float> x = samples();
  std::vector<float> y(x.size());
  for (const Function& f : functions) {
    f.floats(x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulps(y[i], f.definition(x[i]));
      if (error > worst) worst = error, at = i;
    }
    EXPECT_LE(worst, math_ulps) << f.name << "(" << hex(x[at]) << ") = " << hex(y[at]) << ", not "
                                << hex(f.definition(x[at]));
    RecordProperty(f.name, std::to_string(worst));
  }
}

TEST_P(VecMath, OddFunctionsKeepTheSignOfZero) {
  for (const Function& f : functions) {
    for (const float zero : {0.0f, -0.0f}) {
      if (f.definition(zero) != 0) continue;
      float y = 1;
      f.floats(&zero, &y, 1);
      double y64 = 1;
      const double zero64 = zero;
      f.doubles(&zero64, &y64, 1);
      EXPECT_EQ(std::signbit(y), std::signbit(zero)) << f.name << " of a float " << zero;
      EXPECT_EQ(std::signbit(y64), std::signbit(zero)) << f.name << " of a double " << zero;
    }
  }
}

TEST_P(VecMath, AnElementDoesNotDependOnItsPlace) {
  std::vector<float> x(67);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f + 0.07f * static_cast<float>(i);
  for (const Function& f : functions) {
    std::vector<float> whole(x.size());
    f.floats(x.data(), whole.data(), static_cast<int64_t>(x.size()));
    for (size_t n = 0; n <= x.size(); ++n) {
      std::vector<float> in_place(x);
      f.floats(in_place.data(), in_place.data(), static_cast<int64_t>(n));
      EXPECT_EQ(0, std::memcmp(in_place.data(), whole.data(), n * sizeof(float))) << f.name << " n=" << n;
      EXPECT_EQ(0, std::memcmp(in_place.data() + n, x.data() + n, (x.size() - n) * sizeof(float)))
          << f.name << " wrote beyond n=" << n;
    }
  }
}

TEST_P(VecMath, RoundingIsExact) {
  const std::vector<float> x = samples();
  const std::vector<double> wide{-0.0,   0.0,          0.5,           -0.5,      1.5,   2.5,
                                 -2.5,   0x1p52 + 0.5, -0x1p51 - 0.5, 1e300,     -0.3,  0.3,
                                 0x1p53, -1e-310,      INFINITY,      -INFINITY, 4.9999};
  const auto same = [](auto a, auto b) { return a == b && std::signbit(a) == std::signbit(b); };
  const auto check = [&](auto function, double (*definition)(double)) {
    std::vector<float> y(x.size());
    function(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(std::isnan(x[i]) ? std::isnan(y[i]) : same(y[i], static_cast<float>(definition(x[i]))))
          << x[i];
    }
    std::vector<double> y64(wide.size());
    function(wide.data(), y64.data(), static_cast<int64_t>(wide.size()));
    for (size_t i = 0; i < wide.size(); ++i) ASSERT_TRUE(same(y64[i], definition(wide[i]))) << wide[i];
  };
  check([](auto* from, auto* to, int64_t n) { vec_floor(from, to, n); },
        [](double v) { return std::floor(v); });
  check([](auto* from, auto* to, int64_t n) { vec_ceil(from, to, n); },
        [](double v) { return std::ceil(v); });
  check([](auto* from, auto* to, int64_t n) { vec_round(from, to, n); },
        [](double v) { return std::nearbyint(v); });
}

TEST_P(VecMath, LargeArraysOnSeveralThreads) {
  std::vector<float> x(100'003), one(x.size()), many(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1e-4f * static_cast<float>(i);
  vec_tanh(x.data(), one.data(), static_cast<int64_t>(x.size()));
  set_threads(3);
  vec_tanh(x.data(), many.data(), static_cast<int64_t>(x.size()));
  EXPECT_EQ(many, one);
}

TEST(VecMathDouble, EqualsTheDefinition) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{-inf,   -800, -40, -3, -0.5, -1e-10, -0.0, 0.0,
                              1e-300, 0.7,  1,   36, 720,  inf,    nan};
  std::vector<double> y(x.size());
  for (const Function& f : functions) {
    f.doubles(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = f.definition(x[i]);
      EXPECT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected)))
          << f.name << "(" << x[i] << ") = " << y[i];
    }
  }
}

TEST_P(VecMath, GatesLetNanThroughAndKeepToTheirBounds) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, -0.0f};
  std::vector<float> y(x.size());
  vec_hard_sigmoid(x.data(), 0.2f, 0.5f, y.data(), 4);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(std::vector<float>(y.begin() + 1, y.end()), (std::vector<float>{1, 0, 0.5f}));
  vec_hard_swish(x.data(), y.data(), 3);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], infinity);
  EXPECT_TRUE(std::isnan(y[2]));  // infinity times 0
  vec_swish(x.data(), 1, y.data(), 2);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], infinity);
  vec_gelu_tanh(x.data(), y.data(), 2);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], infinity);
}

TEST_P(VecMath, GeluOfWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                             -1e30f,   0.0f,      -0.0f};
  std::vector<float> y(x.size());
  vec_gelu(x.data(), y.data(), 6);
  EXPECT_EQ(y[0], infinity);
  EXPECT_TRUE(std::isnan(y[1]));  // of infinity times 0, as in the definition
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 0);
  EXPECT_TRUE(y[4] == 0 && !std::signbit(y[4]));
  EXPECT_TRUE(y[5] == 0 && std::signbit(y[5]));
}

TEST(VecMathScalar, SigmoidAndSoftplusNeitherOverflowNorCancel) {
  EXPECT_DOUBLE_EQ(scalar_sigmoid(-700.0), std::exp(-700.0));
  EXPECT_DOUBLE_EQ(scalar_sigmoid(0.0), 0.5);
  EXPECT_DOUBLE_EQ(scalar_sigmoid(1.0), 1 / (1 + std::exp(-1.0)));
  EXPECT_EQ(scalar_sigmoid(800.0), 1);
  EXPECT_EQ(scalar_softplus(1000.0), 1000);
  EXPECT_DOUBLE_EQ(scalar_softplus(-40.0), std::exp(-40.0));
  EXPECT_DOUBLE_EQ(scalar_softplus(0.0), std::log(2.0));
}

}  // namespace
}  // namespace grurun::kernels
