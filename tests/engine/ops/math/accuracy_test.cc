// Every function of one number, as an operator, on every instruction set: how far its results are from the
// true value, in units in the last place. All numbers of float16 and bfloat16; of float and double samples,
// and what lies around the places where a formula changes. With GRURUN_ACCURACY_TABLE=FILE, the largest
// distances go there as rows of a table of Markdown (scripts/accuracy_table.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "engine/kernels/machine/simd.h"
#include "tests/engine/one_node.h"

namespace grurun::engine::testing {
namespace {

using Wide = long double;

constexpr double bound = 2;

/// high + low: a product or a constant beyond what 64 bits hold.
struct Pair {
  Wide high, low;
};

Pair product(Wide a, Wide b) {
  const Wide high = a * b;
  return {high, std::fma(a, b, -high)};
}
Pair product(Pair a, Pair b) {
  Pair of = product(a.high, b.high);
  of.low += a.high * b.low + a.low * b.high;
  return of;
}
Pair one_and(Pair a) {
  const Wide high = 1 + a.high;
  return {high, (std::fabs(a.high) < 1 ? (1 - high) + a.high : (a.high - high) + 1) + a.low};
}

/// The square root of a constant.
Pair root(Wide of) {
  const Wide high = std::sqrt(of);
  return {high, std::fma(-high, high, of) / (2 * high)};
}

/// x / (1 + e^-z), and infinity times 0 as it is.
Wide gated(Wide x, Pair z) {
  if (std::isinf(x)) return z.high > 0 ? x : x * 0;
  const Wide e = std::exp(-std::fabs(z.high));
  const Wide low = std::isfinite(z.low) ? z.low : 0;
  return z.high < 0 ? x * (e + e * low) / (1 + e) : x / (1 + (e - e * low));
}

Wide gelu(Wide x) {
  if (std::isinf(x)) return x > 0 ? x : x * 0;
  const Pair z = product(Pair{-x, 0}, root(0.5L));
  return x / 2 *
         (std::erfc(z.high) - z.low * 2 * std::numbers::inv_sqrtpi_v<Wide> * std::exp(-z.high * z.high));
}

Wide gelu_tanh(Wide x) {
  if (std::isinf(x)) return x > 0 ? x : x * 0;
  // 0.044715 is 8943 / 200000.
  const Wide cubic = 8943.0L / 200000, rest = std::fma(-cubic, 200000.0L, 8943.0L) / 200000;
  // sqrt(8 / pi), with pi's next 64 bits.
  const Wide pi = std::numbers::pi_v<Wide>;
  Pair scale = root(8 / pi);
  if constexpr (std::numeric_limits<Wide>::digits == 64) {
    const Wide pi_low = -5.01655761266833202345e-20L;  // pi less the number above
    const Wide quotient = 8 / pi, left = (std::fma(-quotient, pi, 8.0L) - quotient * pi_low) / pi;
    scale.low += left / (2 * scale.high);
  }
  const Pair factor = one_and(product(Pair{cubic, rest}, product(x, x)));
  return gated(x, product(product(scale, Pair{x, 0}), factor));
}

Wide mish(Wide x) {
  if (std::isinf(x)) return x > 0 ? x : x * 0;
  const Wide e = std::exp(-std::fabs(x));
  return x < 0 ? x * e * (e + 2) / (e * (e + 2) + 2) : x * (1 + 2 * e) / (1 + 2 * e + 2 * e * e);
}

Wide hard_sigmoid(Wide x, Wide alpha, Wide beta) {
  if (std::isnan(x)) return x;
  return std::fmin(1.0L, std::fmax(0.0L, std::fma(x, alpha, beta)));
}

struct Function {
  const char* op;
  std::int64_t opset;
  Attributes attributes;
  Wide (*exact)(Wide);
  bool takes_bfloat16 = true;
  const char* variant = "";
  double also_around = 0;  // a kink besides those of all functions
};

std::vector<Function> functions() {
  static constexpr float selu_alpha = 1.67326319217681884765625f, selu_gamma = 1.05070102214813232421875f;
  return {
      {"Exp", 13, {}, [](Wide x) { return std::exp(x); }},
      {"Log", 13, {}, [](Wide x) { return std::log(x); }},
      {"Sqrt", 13, {}, [](Wide x) { return std::sqrt(x); }},
      {"Reciprocal", 13, {}, [](Wide x) { return 1 / x; }},
      {"Sin", 22, {}, [](Wide x) { return std::sin(x); }},
      {"Cos", 22, {}, [](Wide x) { return std::cos(x); }},
      {"Tan", 22, {}, [](Wide x) { return std::tan(x); }},
      {"Asin", 22, {}, [](Wide x) { return std::asin(x); }},
      {"Acos", 22, {}, [](Wide x) { return std::acos(x); }},
      {"Atan", 22, {}, [](Wide x) { return std::atan(x); }},
      {"Sinh", 22, {}, [](Wide x) { return std::sinh(x); }},
      {"Cosh", 22, {}, [](Wide x) { return std::cosh(x); }},
      {"Tanh", 13, {}, [](Wide x) { return std::tanh(x); }},
      {"Asinh", 22, {}, [](Wide x) { return std::asinh(x); }},
      {"Acosh", 22, {}, [](Wide x) { return std::acosh(x); }},
      {"Atanh", 22, {}, [](Wide x) { return std::atanh(x); }},
      {"Erf", 13, {}, [](Wide x) { return std::erf(x); }},
      {"Sigmoid",
       13,
       {},
       [](Wide x) {
         return gated(1, {x, 0});
       }},
      {"Softplus",
       22,
       {},
       [](Wide x) { return std::fmax(x, 0.0L) + (std::isnan(x) ? x : std::log1p(std::exp(-std::fabs(x)))); }},
      {"Softsign", 22, {}, [](Wide x) { return x / (1 + std::fabs(x)); }},
      {"Mish", 22, {}, mish},
      {"HardSwish",
       22,
       {},
       [](Wide x) { return std::isnan(x) ? x : x * std::fmin(1.0L, std::fmax(0.0L, (x + 3) / 6)); },
       true,
       "",
       3},
      {"HardSigmoid", 22, {}, [](Wide x) { return hard_sigmoid(x, 0.2f, 0.5f); }, true, "", 2.5},
      {"HardSigmoid",
       22,
       {attr("alpha", 0.3f), attr("beta", 0.7f)},
       [](Wide x) { return hard_sigmoid(x, 0.3f, 0.7f); },
       true,
       "alpha 0.3, beta 0.7",
       0.7f / 0.3f},
      {"Gelu", 20, {}, gelu},
      {"Gelu", 20, {attr("approximate", "tanh")}, gelu_tanh, true, "tanh"},
      {"Swish",
       24,
       {},
       [](Wide x) {
         return gated(x, {x, 0});
       }},
      {"Swish",
       24,
       {attr("alpha", 1.702f)},
       [](Wide x) { return gated(x, product(x, 1.702f)); },
       true,
       "alpha 1.702"},
      {"Elu", 22, {}, [](Wide x) { return x < 0 ? std::expm1(x) : x; }},
      {"Elu",
       22,
       {attr("alpha", 0.7f)},
       [](Wide x) { return x < 0 ? 0.7f * std::expm1(x) : x; },
       true,
       "alpha 0.7"},
      {"Selu",
       22,
       {},
       [](Wide x) {
         return x > 0 ? selu_gamma * x : static_cast<Wide>(selu_gamma) * selu_alpha * std::expm1(x);
       }},
      {"Celu", 28, {}, [](Wide x) { return x < 0 ? std::expm1(x) : x; }, false},
      {"Celu",
       28,
       {attr("alpha", 0.7f)},
       [](Wide x) { return x < 0 ? 0.7f * std::expm1(x / 0.7f) : x; },
       false,
       "alpha 0.7"},
  };
}

template <typename T>
struct Format {
  static constexpr int digits = std::numeric_limits<T>::digits;
  static constexpr int max_exponent = std::numeric_limits<T>::max_exponent;
  static constexpr int least_exponent = std::numeric_limits<T>::min_exponent - digits;
};
template <>
struct Format<Float16> {
  static constexpr int digits = 11, max_exponent = 16, least_exponent = -24;
};
template <>
struct Format<BFloat16> {
  static constexpr int digits = 8, max_exponent = 128, least_exponent = -133;
};

/// The distance of `got` from `exact` in units of the last digit that a T near `exact` has; infinite where
/// one is a number and the other is none. Infinity counts as the number that would follow the largest.
template <typename T>
double distance(T got, Wide exact) {
  Wide value = static_cast<Wide>(static_cast<ComputeType<T>>(got));
  if (std::isnan(exact) || std::isnan(value)) return std::isnan(exact) == std::isnan(value) ? 0 : inf;
  const Wide beyond = std::ldexp(1.0L, Format<T>::max_exponent);
  if (std::isinf(value)) value = std::copysign(beyond, value);
  exact = std::clamp(exact, -beyond, beyond);
  int exponent = 0;
  std::frexp(exact, &exponent);
  const Wide unit = std::ldexp(1.0L, std::max(exponent - Format<T>::digits, Format<T>::least_exponent));
  return static_cast<double>(std::fabs(value - exact) / unit);
}

template <typename T>
std::vector<T> samples(double also_around) {
  std::vector<T> x;
  if constexpr (sizeof(T) == 2) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      x.emplace_back();
      x.back().bits = static_cast<std::uint16_t>(bits);
    }
  } else {
    constexpr std::uint64_t step = sizeof(T) == 4 ? 20'011 : 0x9e3779b97f4a7c15 / 100'000;
    for (std::uint64_t bits = 0, n = 0; n < (sizeof(T) == 4 ? 214'000 : 30'000);
         ++n, bits += step * (sizeof(T) == 4 ? 1 : 100'003)) {
      if constexpr (sizeof(T) == 4) {
        x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      } else {
        x.push_back(std::bit_cast<double>(bits));
      }
    }
    for (int i = -40'000; i <= 40'000; ++i) {
      x.push_back(static_cast<T>(i * 1.23457e-4));
      x.push_back(static_cast<T>(i * (sizeof(T) == 4 ? 0.00277781 : 0.0189371)));
    }
    for (const double place : {0.0, 0.5, 1.0, 2.0, also_around, 38.0, 88.0, 104.0, 709.0, 745.0}) {
      for (const T start : {static_cast<T>(place), static_cast<T>(-place)}) {
        T up = start, down = start;
        for (int i = 0; i < 100; ++i) {
          x.insert(x.end(), {up, down});
          up = std::nextafter(up, std::numeric_limits<T>::infinity());
          down = std::nextafter(down, -std::numeric_limits<T>::infinity());
        }
      }
    }
    for (const double edge : {inf, -inf, nan}) x.push_back(static_cast<T>(edge));
  }
  return x;
}

/// The largest distance on any instruction set; a failure where it is beyond the bound.
template <typename T>
double worst_distance(const Function& f) {
  const std::vector<T> x = samples<T>(f.also_around);
  std::vector<Wide> exact(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    exact[i] = f.exact(static_cast<Wide>(static_cast<ComputeType<T>>(x[i])));
  Tensor given(dtype_of<T>, Shape{static_cast<std::int64_t>(x.size())});
  std::ranges::copy(x, given.mutable_data<T>());
  double worst = 0;
  for (const std::string& target : kernels::simd_targets()) {
    kernels::use_simd_target(target);
    const Tensor y = run_node(f.op, "", f.opset, {given}, f.attributes).front().tensor();
    double of_target = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double now = distance(y.data<T>()[i], exact[i]);
      if (now > of_target) of_target = now, at = i;
    }
    EXPECT_LE(of_target, bound) << f.op << " " << f.variant << " of " << dtype_name(dtype_of<T>) << " on "
                                << target << ": of " << static_cast<double>(x[at]) << " it makes "
                                << static_cast<double>(y.data<T>()[at]) << ", not "
                                << static_cast<double>(exact[at]);
    worst = std::max(worst, of_target);
  }
  kernels::use_simd_target("");
  return worst;
}

TEST(Accuracy, EveryFunctionOfEveryTypeOnEveryInstructionSet) {
  std::ofstream table;
  if (const char* path = std::getenv("GRURUN_ACCURACY_TABLE")) table.open(path);
  for (const Function& f : functions()) {
    const double half = worst_distance<Float16>(f),
                 brain = f.takes_bfloat16 ? worst_distance<BFloat16>(f) : 0;
    const double single = worst_distance<float>(f), wide = worst_distance<double>(f);
    table << fmt::format("| {}{}{} | {:.2f} | {} | {:.2f} | {:.2f} |\n", f.op, *f.variant == 0 ? "" : ", ",
                         f.variant, half, f.takes_bfloat16 ? fmt::format("{:.2f}", brain) : "", single, wide);
  }
}

}  // namespace
}  // namespace grurun::engine::testing
