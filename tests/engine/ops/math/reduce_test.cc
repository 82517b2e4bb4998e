#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "engine/ops/shared/cast.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Tensor axes(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

TEST(Reduce, AxesAndShapes) {
  const Tensor x = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto list = [](std::vector<std::int64_t> values) { return values; };
  check_rows({
      {"all, kept", "ReduceSum", 11, {x}, {}, {make<float>({1, 1}, {21})}},
      {"attribute",
       "ReduceSum",
       11,
       {x},
       {attr("axes", list({-1})), attr("keepdims", 0)},
       {vec<float>({6, 15})}},
      {"input", "ReduceSum", 13, {x, axes({0})}, {}, {make<float>({1, 3}, {5, 7, 9})}},
      {"empty axes mean all", "ReduceSum", 13, {x, axes({})}, {attr("keepdims", 0)}, {make<float>({}, {21})}},
      {"or none", "ReduceSum", 13, {x, axes({})}, {attr("noop_with_empty_axes", 1)}, {x}},
      {"no axes, noop, still squared",
       "ReduceSumSquare",
       18,
       {x},
       {attr("noop_with_empty_axes", 1)},
       {make<float>({2, 3}, {1, 4, 9, 16, 25, 36})}},
      {"axis twice", "ReduceSum", 13, {x, axes({1, -1})}, {}, {make<float>({2, 1}, {6, 15})}},
      {"scalar", "ReduceMean", 18, {make<double>({}, {3})}, {}, {make<double>({}, {3})}},
  });
  check_errors({
      {"axis out of range",
       "ReduceSum",
       13,
       {x, axes({2})},
       {},
       ErrorKind::invalid_model,
       "input axes names axis 2, but must lie in [-r, r) of the input [2,3], whose rank r is 2"},
  });
}

TEST(Reduce, EmptySets) {
  const Tensor x = make<float>({2, 0}, {});
  const Tensor one = axes({1});
  const auto row = [&](const char* op, std::int64_t opset, double value) {
    return OpRowCase{"empty", op, opset, {x, one}, {attr("keepdims", 0)}, {vec<float>({value, value})}};
  };
  check_rows({
      row("ReduceSum", 13, 0),
      row("ReduceProd", 18, 1),
      row("ReduceMax", 20, -inf),
      row("ReduceMin", 20, inf),
      row("ReduceL1", 18, 0),
      row("ReduceL2", 18, 0),
      row("ReduceSumSquare", 18, 0),
      row("ReduceLogSum", 18, -inf),
      row("ReduceLogSumExp", 18, -inf),
      row("ReduceMean", 18, nan),
      {"integers",
       "ReduceMax",
       18,
       {make<std::int8_t>({0}, {})},
       {attr("keepdims", 0)},
       {make<std::int8_t>({}, {-128})}},
      {"bool", "ReduceMin", 20, {make<bool>({0}, {})}, {attr("keepdims", 0)}, {make<bool>({}, {1})}},
  });
}

TEST(Reduce, Values) {
  check_rows({
      {"int32 wraps",
       "ReduceSum",
       13,
       {vec<std::int32_t>({2147483647, 1})},
       {attr("keepdims", 0)},
       {make<std::int32_t>({}, {-2147483648.0})}},
      {"mean of large integers is exact",
       "ReduceMean",
       13,
       {Tensor::from<std::int64_t>({2}, {INT64_MAX, INT64_MAX})},
       {attr("keepdims", 0)},
       {Tensor::scalar<std::int64_t>(INT64_MAX)}},
      {"mean is cut off",
       "ReduceMean",
       13,
       {vec<std::int32_t>({-3, 0})},
       {attr("keepdims", 0)},
       {make<std::int32_t>({}, {-1})}},
      {"root of integers is exact",
       "ReduceL2",
       18,
       {Tensor::from<std::int64_t>({2}, {3000000000, 4000000000})},
       {attr("keepdims", 0)},
       {Tensor::scalar<std::int64_t>(5000000000)}},
      {"NaN passes",
       "ReduceMax",
       13,
       {vec<float>({1, nan, 3})},
       {attr("keepdims", 0)},
       {make<float>({}, {nan})}},
      {"bool", "ReduceMax", 20, {vec<bool>({0, 1, 0})}, {attr("keepdims", 0)}, {make<bool>({}, {1})}},
      {"no overflow",
       "ReduceLogSumExp",
       18,
       {vec<float>({1000, 1000})},
       {attr("keepdims", 0)},
       {make<float>({}, {1000.693147180559945})}},
      {"infinities",
       "ReduceLogSumExp",
       18,
       {make<double>({2, 2}, {-inf, -inf, inf, 1}), axes({1})},
       {attr("keepdims", 0)},
       {vec<double>({-inf, inf})}},
      {"halves sum in float",
       "ReduceSum",
       13,
       {make<Float16>({3}, {2048, 1, 1})},
       {attr("keepdims", 0)},
       {make<Float16>({}, {2050})}},
      {"no cancellation in a long row",
       "ReduceSum",
       13,
       {vec<float>({1e8, 1, -1e8, 1})},
       {attr("keepdims", 0)},
       {make<float>({}, {2})}},
  });
}

struct Oracle {
  const char* op;
  std::int64_t opset;
  std::function<double(const std::vector<double>&)> value;
};

double fold(const std::vector<double>& x, double start, const std::function<double(double, double)>& step) {
  for (const double element : x) start = step(start, element);
  return start;
}

// Every operator over random shapes and axes, long runs included, against its definition over gathered
// elements.
TEST(Reduce, AgreesWithDefinition) {
  const auto sum = [](const std::vector<double>& x) {
    return fold(x, 0, [](double a, double b) { return a + b; });
  };
  const std::vector<Oracle> oracles{
      {"ReduceSum", 13, sum},
      {"ReduceMean", 18, [&](const auto& x) { return sum(x) / static_cast<double>(x.size()); }},
      {"ReduceMax", 18,
       [](const auto& x) { return fold(x, -inf, [](double a, double b) { return std::fmax(a, b); }); }},
      {"ReduceMin", 18,
       [](const auto& x) { return fold(x, inf, [](double a, double b) { return std::fmin(a, b); }); }},
      {"ReduceL1", 18,
       [](const auto& x) { return fold(x, 0, [](double a, double b) { return a + std::fabs(b); }); }},
      {"ReduceL2", 18,
       [](const auto& x) { return std::sqrt(fold(x, 0, [](double a, double b) { return a + b * b; })); }},
      {"ReduceSumSquare", 18,
       [](const auto& x) { return fold(x, 0, [](double a, double b) { return a + b * b; }); }},
      {"ReduceLogSumExp", 18,
       [](const auto& x) {
         return std::log(fold(x, 0, [](double a, double b) { return a + std::exp(b); }));
       }},
      {"ReduceProd", 18, [](const auto& x) { return fold(x, 1, [](double a, double b) { return a * b; }); }},
  };
  std::mt19937 random(11);
  std::vector<OpRowCase> rows;
  for (int round = 0; round < 60; ++round) {
    Shape shape;
    for (unsigned d = random() % 4; d-- > 0;) shape.push_back(1 + random() % 5);
    if (round % 3 == 0) shape.push_back(100 + random() % 500);
    if (round % 5 == 0) shape.insert(0, 300);
    std::vector<std::int64_t> chosen;
    Shape kept = shape;
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      if (random() % 2 == 0) continue;
      chosen.push_back(static_cast<std::int64_t>(d));
      kept[d] = 1;
    }
    Tensor x(DType::float64, shape);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      x.mutable_data<double>()[i] = std::ldexp(1.0 + random() % 1000, -10) * (random() % 2 ? 1 : -1);
    }
    std::vector<std::vector<double>> sets(static_cast<std::size_t>(kept.element_count()));
    for (std::int64_t i = 0; i < x.size(); ++i) {
      std::int64_t rest = i, at = 0, step = 1;
      for (std::size_t d = shape.rank(); d-- > 0;) {
        if (kept[d] != 1) at += rest % shape[d] * step;
        step *= kept[d];
        rest /= shape[d];
      }
      sets[static_cast<std::size_t>(at)].push_back(x.data<double>()[i]);
    }
    const Oracle& oracle = oracles[static_cast<std::size_t>(round) % oracles.size()];
    Tensor expected(DType::float64, kept);
    for (std::size_t i = 0; i < sets.size(); ++i) expected.mutable_data<double>()[i] = oracle.value(sets[i]);
    const Tensor wanted = cast_tensor(expected, DType::float32);
    rows.push_back({shape.to_string(),
                    oracle.op,
                    oracle.opset,
                    {cast_tensor(x, DType::float32), axes(chosen)},
                    {attr("noop_with_empty_axes", 1)},
                    {wanted}});
  }
  check_rows(rows);
}

TEST(ArgExtreme, Indices) {
  const Tensor x = make<std::int32_t>({2, 4}, {1, 3, 3, 0, -1, -5, -5, -1});
  check_rows({
      {"first", "ArgMax", 11, {x}, {attr("axis", 1)}, {make<std::int64_t>({2, 1}, {1, 0})}},
      {"last",
       "ArgMax",
       12,
       {x},
       {attr("axis", -1), attr("select_last_index", 1), attr("keepdims", 0)},
       {vec<std::int64_t>({2, 3})}},
      {"along rows", "ArgMin", 13, {x}, {attr("keepdims", 0)}, {vec<std::int64_t>({1, 1, 1, 1})}},
      {"NaN is extreme",
       "ArgMin",
       13,
       {vec<Float16>({1, nan, 0, nan})},
       {attr("keepdims", 0)},
       {make<std::int64_t>({}, {1})}},
      {"the last NaN",
       "ArgMax",
       13,
       {vec<float>({1, nan, 9, nan})},
       {attr("select_last_index", 1)},
       {vec<std::int64_t>({3})}},
  });
  check_errors({{"nothing to choose from",
                 "ArgMax",
                 13,
                 {make<float>({2, 0}, {})},
                 {attr("axis", 1)},
                 ErrorKind::invalid_model,
                 "no extreme"}});
}

// Rows of several blocks, and the same values down a column, where they are compared another way.
template <typename T>
void check_places(double low, double high, double odd) {
  for (const std::int64_t n : {1, 127, 128, 129, 700}) {
    for (const std::int64_t first : {std::int64_t{0}, n / 3, n - 1}) {
      const std::int64_t second = std::min(n - 1, first + 200);
      std::vector<double> values(static_cast<std::size_t>(n), low);
      for (std::int64_t i = 0; i < n; i += 5) values[static_cast<std::size_t>(i)] = odd;
      values[static_cast<std::size_t>(first)] = values[static_cast<std::size_t>(second)] = high;
      const auto at = [](std::int64_t place) {
        return make<std::int64_t>({1, 1}, {static_cast<double>(place)});
      };
      const Tensor row = make<T>({1, n}, values), column = make<T>({n, 1}, values);
      const std::string name = fmt::format("{} of {}", first, n);
      check_rows({
          {name, "ArgMax", 13, {row}, {attr("axis", 1)}, {at(first)}},
          {name, "ArgMax", 13, {column}, {attr("axis", 0)}, {at(first)}},
          {name, "ArgMax", 13, {row}, {attr("axis", 1), attr("select_last_index", 1)}, {at(second)}},
      });
    }
  }
}

TEST(ArgExtreme, LongRows) {
  check_places<float>(-1, 5, 2);
  check_places<float>(-1, nan, inf);
  check_places<double>(-inf, 0, -1);
  check_places<std::int32_t>(-7, 3, 0);
  check_places<std::int64_t>(-7, 0x1p40, 1);
  check_places<std::uint8_t>(0, 255, 9);
}

}  // namespace
}  // namespace grurun::engine::testing
