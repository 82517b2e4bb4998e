#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(Unary, Rounding) {
  const std::vector<double> x{-2.5, -1.5, -0.5, -0.2, -0.0, 0.5, 1.5, 2.5, 8388609.5, inf, nan};
  check_rows({
      {"ties to even",
       "Round",
       11,
       {vec<double>(x)},
       {},
       {vec<double>({-2, -2, -0.0, -0.0, -0.0, 0, 2, 2, 8388610, inf, nan})}},
      {"up",
       "Ceil",
       13,
       {vec<double>(x)},
       {},
       {vec<double>({-2, -1, -0.0, -0.0, -0.0, 1, 2, 3, 8388610, inf, nan})}},
      {"down",
       "Floor",
       13,
       {vec<double>(x)},
       {},
       {vec<double>({-3, -2, -1, -1, -0.0, 0, 1, 2, 8388609, inf, nan})}},
      {"float near the last fraction",
       "Round",
       22,
       {vec<float>({4194304.5, 8388607.5, 16777217, -0.5})},
       {},
       {vec<float>({4194304, 8388608, 16777216, -0.0})}},
  });
}

TEST(Unary, Integers) {
  check_rows({
      {"lowest stays", "Abs", 13, {vec<std::int8_t>({-128, -5, 7})}, {}, {vec<std::int8_t>({-128, 5, 7})}},
      {"lowest stays",
       "Abs",
       13,
       {Tensor::from<std::int64_t>({4}, {INT64_MIN, -5, 7, INT64_MIN + 1})},
       {},
       {Tensor::from<std::int64_t>({4}, {INT64_MIN, 5, 7, INT64_MAX})}},
      {"lowest stays", "Neg", 13, {vec<std::int64_t>({-5, 0})}, {}, {vec<std::int64_t>({5, 0})}},
      {"unsigned", "Sign", 13, {vec<std::uint16_t>({0, 9})}, {}, {vec<std::uint16_t>({0, 1})}},
      {"floats", "Sign", 9, {vec<float>({-0.5, 0, 3, nan})}, {}, {vec<float>({-1, 0, 1, nan})}},
      {"signed", "Relu", 14, {vec<std::int16_t>({-3, 0, 4})}, {}, {vec<std::int16_t>({0, 0, 4})}},
      {"cut off",
       "Erf",
       9,
       {vec<std::int32_t>({-9, -1, 0, 1, 9})},
       {},
       {vec<std::int32_t>({-1, 0, 0, 0, 1})}},
      {"bias is no integer",
       "Shrink",
       9,
       {vec<std::int32_t>({-3, -2, -1, 0, 1, 2, 3})},
       {attr("lambd", 1.5f), attr("bias", 1.5f)},
       {vec<std::int32_t>({-1, 0, 0, 0, 0, 0, 1})}},
      {"a negative bias",
       "Shrink",
       9,
       {vec<std::int8_t>({-3, -2, 0, 2, 127})},
       {attr("lambd", 1.0f), attr("bias", -0.5f)},
       {vec<std::int8_t>({-3, -2, 0, 2, 127})}},
      {"a bias beyond x",
       "Shrink",
       9,
       {vec<std::int16_t>({-2, 2, 3})},
       {attr("lambd", 1.0f), attr("bias", 3.5f)},
       {vec<std::int16_t>({1, -1, 0})}},
      {"a negative lambd",
       "Shrink",
       9,
       {vec<std::int32_t>({-1, 0, 1})},
       {attr("lambd", -0.5f), attr("bias", 0.5f)},
       {vec<std::int32_t>({0, 0, 0})}},
      {"unsigned",
       "Shrink",
       9,
       {vec<std::uint8_t>({1, 2, 255})},
       {attr("bias", 0.5f)},
       {vec<std::uint8_t>({0, 1, 254})}},
      {"int64 beyond the integers of double",
       "Shrink",
       9,
       {Tensor::from<std::int64_t>({3}, {INT64_MAX, INT64_MIN, 9007199254740993})},
       {attr("bias", 0.5f)},
       {Tensor::from<std::int64_t>({3}, {INT64_MAX - 1, INT64_MIN + 1, 9007199254740992})}},
      {"uint64 beyond the integers of int64",
       "Shrink",
       9,
       {Tensor::from<std::uint64_t>({2}, {UINT64_MAX, 1})},
       {attr("bias", 0.5f)},
       {Tensor::from<std::uint64_t>({2}, {UINT64_MAX - 1, 0})}},
  });
}

template <typename Half>
void check_signs_of_every_half() {
  Tensor x(dtype_of<Half>, Shape{0x10000});
  for (unsigned bits = 0; bits < 0x10000; ++bits)
    x.mutable_data<Half>()[bits].bits = static_cast<std::uint16_t>(bits);
  const Tensor size = run_node("Abs", "", 13, {x}, {}).front().tensor();
  const Tensor negated = run_node("Neg", "", 13, {x}, {}).front().tensor();
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    ASSERT_EQ(size.data<Half>()[bits].bits, bits & 0x7fff);
    ASSERT_EQ(negated.data<Half>()[bits].bits, bits ^ 0x8000);
  }
}

TEST(Unary, SignsOfEveryHalf) {
  check_signs_of_every_half<Float16>();
  check_signs_of_every_half<BFloat16>();
}

TEST(Unary, Predicates) {
  const std::vector<double> x{-inf, -1, nan, inf};
  check_rows({
      {"both", "IsInf", 10, {vec<float>(x)}, {}, {vec<bool>({1, 0, 0, 1})}},
      {"negative only",
       "IsInf",
       20,
       {vec<Float16>(x)},
       {attr("detect_positive", 0)},
       {vec<bool>({1, 0, 0, 0})}},
      {"float8 without infinity", "IsInf", 20, {vec<Float8E4M3FN>({448, nan})}, {}, {vec<bool>({0, 0})}},
      {"float8", "IsNaN", 20, {vec<Float8E5M2FNUZ>({1, nan})}, {}, {vec<bool>({0, 1})}},
      {"floats", "IsNaN", 9, {vec<double>(x)}, {}, {vec<bool>({0, 0, 1, 0})}},
  });
}

struct Function {
  const char* op;
  std::int64_t opset;
  Attributes attributes;
  std::function<long double(long double)> value;
  std::vector<double> extra = {};
};

// Every function against the formula of its schema in long double, for every float type.
TEST(Unary, Formulas) {
  const std::vector<double> common{-20, -3.25, -1, -0.5, -0.03125, 0, 0.03125, 0.5, 0.75, 1, 2.5, 9, 30};
  const auto sigmoid = [](long double x) { return 1 / (1 + std::exp(-x)); };
  const auto softplus = [](long double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  };
  const auto clamp01 = [](long double x) { return std::fmin(1.0L, std::fmax(0.0L, x)); };
  const std::vector<Function> functions{
      {"Exp", 13, {}, [](long double x) { return std::exp(x); }},
      {"Log", 13, {}, [](long double x) { return std::log(x); }},
      {"Sqrt", 13, {}, [](long double x) { return std::sqrt(x); }},
      {"Reciprocal", 13, {}, [](long double x) { return 1 / x; }},
      {"Sin", 22, {}, [](long double x) { return std::sin(x); }},
      {"Cos", 22, {}, [](long double x) { return std::cos(x); }},
      {"Tan", 22, {}, [](long double x) { return std::tan(x); }},
      {"Asin", 22, {}, [](long double x) { return std::asin(x); }},
      {"Acos", 22, {}, [](long double x) { return std::acos(x); }},
      {"Atan", 22, {}, [](long double x) { return std::atan(x); }},
      {"Sinh", 22, {}, [](long double x) { return std::sinh(x); }},
      {"Cosh", 22, {}, [](long double x) { return std::cosh(x); }},
      {"Tanh", 13, {}, [](long double x) { return std::tanh(x); }},
      {"Asinh", 22, {}, [](long double x) { return std::asinh(x); }},
      {"Acosh", 22, {}, [](long double x) { return std::acosh(x); }},
      {"Atanh", 22, {}, [](long double x) { return std::atanh(x); }},
      {"Erf", 13, {}, [](long double x) { return std::erf(x); }},
      {"Sigmoid", 13, {}, sigmoid},
      {"Softplus", 22, {}, softplus},
      {"Softsign", 22, {}, [](long double x) { return x / (1 + std::fabs(x)); }},
      {"Mish", 22, {}, [&](long double x) { return x * std::tanh(softplus(x)); }},
      {"HardSwish", 22, {}, [&](long double x) { return x * clamp01(x / 6 + 0.5L); }},
      {"HardSigmoid",
       22,
       {attr("alpha", 0.25f), attr("beta", 0.125f)},
       [&](long double x) { return clamp01(0.25L * x + 0.125L); }},
      {"LeakyRelu", 16, {attr("alpha", 0.125f)}, [](long double x) { return x < 0 ? x / 8 : x; }},
      {"ThresholdedRelu", 22, {attr("alpha", 0.5f)}, [](long double x) { return x > 0.5L ? x : 0; }},
      {"Elu", 22, {attr("alpha", 2.0f)}, [](long double x) { return x < 0 ? 2 * std::expm1(x) : x; }},
      {"Selu",
       22,
       {attr("alpha", 2.0f), attr("gamma", 3.0f)},
       [](long double x) { return 3 * (x > 0 ? x : 2 * std::expm1(x)); }},
      {"Celu", 28, {attr("alpha", 2.0f)}, [](long double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
      {"Swish", 24, {attr("alpha", 0.5f)}, [&](long double x) { return x * sigmoid(x / 2); }},
      {"Gelu", 20, {}, [](long double x) { return 0.5L * x * std::erfc(-x / std::sqrt(2.0L)); }},
      {"Gelu",
       20,
       {attr("approximate", "tanh")},
       [](long double x) {
         return 0.5L * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x)));
       }},
      {"Shrink",
       9,
       {attr("lambd", 0.5f), attr("bias", 0.25f)},
       [](long double x) { return x < -0.5L  ? x + 0.25L
                                  : x > 0.5L ? x - 0.25L
                                             : 0; }},
  };
  std::vector<OpRowCase> rows;
  for (const Function& function : functions) {
    std::vector<double> expected;
    for (const double x : common) expected.push_back(static_cast<double>(function.value(x)));
    const auto row = [&](const char* type, Tensor input, Tensor output) {
      rows.push_back(
          {type, function.op, function.opset, {std::move(input)}, function.attributes, {std::move(output)}});
    };
    row("float", vec<float>(common), vec<float>(expected));
    row("double", vec<double>(common), vec<double>(expected));
    row("float16", vec<Float16>(common), vec<Float16>(expected));
    if (std::string(function.op) != "Shrink") row("bfloat16", vec<BFloat16>(common), vec<BFloat16>(expected));
  }
  check_rows(rows);
}

TEST(Unary, NaNStaysNaN) {
  std::vector<OpRowCase> rows;
  for (const char* op : {"Relu", "Sigmoid", "HardSigmoid", "Elu", "Selu", "Celu", "Softplus", "Mish",
                         "HardSwish", "LeakyRelu", "Gelu", "Swish", "Tanh", "Exp"}) {
    rows.push_back({"NaN", op, 28, {vec<float>({nan})}, {}, {vec<float>({nan})}});
  }
  check_rows(rows);
}

TEST(Unary, DefaultsOfVersions) {
  check_rows({
      {"version 1", "Selu", 1, {vec<double>({1})}, {}, {vec<double>({1.0507f})}},
      {"version 6", "Selu", 6, {vec<double>({1})}, {}, {vec<double>({1.05070102214813232421875})}},
      {"default alpha", "LeakyRelu", 6, {vec<double>({-1})}, {}, {vec<double>({-0.01f})}},
      {"legacy attribute",
       "Exp",
       1,
       {vec<float>({0})},
       {attr("consumed_inputs", std::vector<std::int64_t>{0})},
       {vec<float>({1})}},
  });
  check_errors({{"unknown approximation",
                 "Gelu",
                 20,
                 {vec<float>({0})},
                 {attr("approximate", "erf")},
                 ErrorKind::invalid_model,
                 "approximate"}});
}

TEST(Unary, Clip) {
  const Tensor x = vec<float>({-5, 0, 5, nan, inf});
  check_rows({
      {"attributes",
       "Clip",
       6,
       {x},
       {attr("min", -1.0f), attr("max", 1.0f)},
       {vec<float>({-1, 0, 1, nan, 1})}},
      {"attribute default of version 6",
       "Clip",
       6,
       {vec<float>({inf})},
       {},
       {vec<float>({3.4028234663852886e38})}},
      {"one bound", "Clip", 11, {x, Value(), Tensor::scalar(2.0f)}, {}, {vec<float>({-5, 0, 2, nan, 2})}},
      {"no bound", "Clip", 13, {x}, {}, {x}},
      {"integers",
       "Clip",
       12,
       {vec<std::uint64_t>({0, 5, 9}), make<std::uint64_t>({}, {3}), make<std::uint64_t>({}, {7})},
       {},
       {vec<std::uint64_t>({3, 5, 7})}},
      {"min above max",
       "Clip",
       13,
       {vec<std::int8_t>({-9, 9}), make<std::int8_t>({}, {5}), make<std::int8_t>({}, {2})},
       {},
       {vec<std::int8_t>({2, 2})}},
      {"bounds of one element",
       "Clip",
       11,
       {x, vec<float>({-1}), vec<float>({2})},
       {},
       {vec<float>({-1, 0, 2, nan, 2})}},
      {"half bounds",
       "Clip",
       13,
       {vec<Float16>({-5, 5}), make<Float16>({}, {-1}), make<Float16>({}, {1.5})},
       {},
       {vec<Float16>({-1, 1.5})}},
  });
  check_errors({{"bound of two elements",
                 "Clip",
                 13,
                 {x, vec<float>({0, 1})},
                 {},
                 ErrorKind::invalid_model,
                 "input min is [2]; Clip-13 takes a scalar"}});
}

}  // namespace
}  // namespace grurun::engine::testing
