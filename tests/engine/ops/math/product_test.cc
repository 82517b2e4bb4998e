#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(MatMul, ShapesAndTypes) {
  const Tensor a = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  check_rows({
      {"matrices",
       "MatMul",
       13,
       {a, make<float>({3, 2}, {1, 0, 0, 1, 1, 1})},
       {},
       {make<float>({2, 2}, {4, 5, 10, 11})}},
      {"vector from the left", "MatMul", 9, {vec<float>({1, 1}), a}, {}, {vec<float>({5, 7, 9})}},
      {"vector from the right", "MatMul", 9, {a, vec<float>({1, 0, -1})}, {}, {vec<float>({-2, -2})}},
      {"two vectors", "MatMul", 1, {vec<double>({1, 2}), vec<double>({3, 4})}, {}, {make<double>({}, {11})}},
      {"stacks broadcast",
       "MatMul",
       13,
       {make<std::int64_t>({2, 1, 1, 2}, {1, 2, 3, 4}), make<std::int64_t>({2, 2, 1}, {1, 1, 1, -1})},
       {},
       {make<std::int64_t>({2, 2, 1, 1}, {3, -1, 7, -1})}},
      {"uint32 wraps",
       "MatMul",
       9,
       {make<std::uint32_t>({1, 2}, {4294967295.0, 1}), make<std::uint32_t>({2, 1}, {2, 5})},
       {},
       {make<std::uint32_t>({1, 1}, {3})}},
      {"halves are summed in float",
       "MatMul",
       13,
       {make<Float16>({1, 3}, {2048, 1, 1}), make<Float16>({3, 1}, {1, 1, 1})},
       {},
       {make<Float16>({1, 1}, {2050})}},
      {"nothing to sum",
       "MatMul",
       13,
       {make<float>({2, 0}, {}), make<float>({0, 2}, {})},
       {},
       {make<float>({2, 2}, {0, 0, 0, 0})}},
      {"zero times infinity",
       "MatMul",
       13,
       {make<float>({1, 1}, {0}), make<float>({1, 1}, {inf})},
       {},
       {make<float>({1, 1}, {nan})}},
  });
  check_errors({{"inner dimensions", "MatMul", 13, {a, a}, {}, ErrorKind::invalid_model, "do not multiply: "},
                {"scalar",
                 "MatMul",
                 13,
                 {make<float>({}, {1}), a},
                 {},
                 ErrorKind::invalid_model,
                 "A is a scalar, but a matrix product takes vectors and matrices"}});
}

// A packed constant gives what a fed one gives.
TEST(MatMul, ConstantFactor) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto fill = [&](Shape shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
    for (double& value : values) value = uniform(random);
    return values;
  };
  const auto compare = [](const char* op, std::vector<Value> inputs, Attributes attributes,
                          std::vector<bool> constants) {
    OneNode node;
    node.op = op;
    node.opset = 13;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    const Tensor fed = run_node(node)[0].tensor();
    node.initializers = std::move(constants);
    EXPECT_EQ(difference(run_node(node)[0].tensor(), fed), "") << op;
  };
  const Tensor a = make<float>({2, 5, 7}, fill({2, 5, 7}));
  const Tensor b = make<float>({7, 9}, fill({7, 9}));
  compare("MatMul", {a, b}, {}, {false, true});
  compare("MatMul", {make<Float16>({5, 7}, fill({5, 7})), make<Float16>({7, 9}, fill({7, 9}))}, {},
          {false, true});
  const Tensor rows = make<double>({5, 7}, fill({5, 7}));
  const Tensor weights = make<double>({9, 7}, fill({9, 7}));
  const Tensor row = make<double>({9}, fill({9}));
  const Tensor column = make<double>({5, 1}, fill({5, 1}));
  const Attributes transB{attr("transB", 1)};
  compare("Gemm", {rows, weights, row}, transB, {false, true, true});
  compare("Gemm", {rows, weights, column}, transB, {false, true, true});
  compare("Gemm", {rows, weights, row}, transB, {false, true, false});
  compare("Gemm", {rows, weights}, transB, {false, true});
}

TEST(Gemm, Versions) {
  const Tensor a = make<float>({2, 2}, {1, 2, 3, 4});
  const Tensor eye = make<float>({2, 2}, {1, 0, 0, 1});
  check_rows({
      {"C of full shape",
       "Gemm",
       6,
       {a, eye, eye},
       {attr("alpha", 2.0f), attr("beta", 3.0f)},
       {make<float>({2, 2}, {5, 4, 6, 11})}},
      {"C broadcast by attribute",
       "Gemm",
       6,
       {a, eye, vec<float>({10, 20})},
       {attr("broadcast", 1)},
       {make<float>({2, 2}, {11, 22, 13, 24})}},
      {"C broadcast",
       "Gemm",
       7,
       {a, eye, make<float>({2, 1}, {10, 20})},
       {attr("transA", 1)},
       {make<float>({2, 2}, {11, 13, 22, 24})}},
      {"C omitted", "Gemm", 11, {a, eye}, {attr("transB", 1)}, {a}},
      {"beta 0 does not read C", "Gemm", 13, {a, eye, vec<float>({nan, nan})}, {attr("beta", 0.0f)}, {a}},
      {"integers",
       "Gemm",
       9,
       {make<std::int32_t>({1, 2}, {3, 4}), make<std::int32_t>({2, 1}, {1, 1}), make<std::int32_t>({}, {5})},
       {attr("alpha", 0.5f), attr("beta", 2.0f)},
       {make<std::int32_t>({1, 1}, {13})}},
      {"bfloat16",
       "Gemm",
       13,
       {make<BFloat16>({1, 1}, {3}), make<BFloat16>({1, 1}, {5}), make<BFloat16>({1}, {1})},
       {},
       {make<BFloat16>({1, 1}, {16})}},
  });
  check_errors({
      {"broadcast not set",
       "Gemm",
       6,
       {a, eye, vec<float>({1, 2})},
       {},
       ErrorKind::invalid_model,
       "broadcast is not set"},
      {"C does not fit",
       "Gemm",
       13,
       {a, eye, vec<float>({1, 2, 3})},
       {},
       ErrorKind::invalid_model,
       "does not broadcast"},
      {"not matrices",
       "Gemm",
       13,
       {vec<float>({1}), eye},
       {},
       ErrorKind::invalid_model,
       "input A is [1]; Gemm-13 takes [A_rows,A_columns]"},
  });
}

TEST(QuantizedProducts, ZeroPointsAndScales) {
  const Tensor a = make<std::uint8_t>({2, 2}, {11, 7, 3, 255});
  const Tensor b = make<std::int8_t>({2, 2}, {1, -128, 0, 2});
  check_rows({
      {"no zero points", "MatMulInteger", 10, {a, b}, {}, {make<std::int32_t>({2, 2}, {11, -1394, 3, 126})}},
      {"by row and column",
       "MatMulInteger",
       10,
       {a, b, vec<std::uint8_t>({10, 0}), vec<std::int8_t>({1, 0})},
       {},
       {make<std::int32_t>({2, 2}, {3, -134, -255, 126})}},
      {"ties to even, then the zero point",
       "QLinearMatMul",
       10,
       {make<std::uint8_t>({1, 2}, {1, 3}), Tensor::scalar(0.5f), make<std::uint8_t>({}, {0}),
        make<std::uint8_t>({2, 2}, {1, 2, 0, 1}), Tensor::scalar(1.0f), make<std::uint8_t>({}, {0}),
        Tensor::scalar(1.0f), make<std::uint8_t>({}, {7})},
       {},
       {make<std::uint8_t>({1, 2}, {7, 9})}},
      {"5 and 15 tenths of the scales, which as float32 make less than a tenth",
       "QLinearMatMul",
       10,
       {make<std::uint8_t>({1, 1}, {5}), Tensor::scalar(0.03f), make<std::uint8_t>({}, {0}),
        make<std::uint8_t>({1, 2}, {1, 3}), Tensor::scalar(0.07f), make<std::uint8_t>({}, {0}),
        Tensor::scalar(0.021f), make<std::uint8_t>({}, {0})},
       {},
       {make<std::uint8_t>({1, 2}, {0, 1})}},
      {"saturated, scale by column",
       "QLinearMatMul",
       21,
       {make<std::int8_t>({1, 1}, {100}), Tensor::scalar(1.0f), make<std::int8_t>({}, {0}),
        make<std::int8_t>({1, 2}, {1, -2}), vec<float>({1, 10}), vec<std::int8_t>({0, 0}),
        Tensor::scalar(1.0f), make<std::int8_t>({}, {-1})},
       {},
       {make<std::int8_t>({1, 2}, {99, -128})}},
      {"8-bit floats",
       "QLinearMatMul",
       21,
       {make<Float8E4M3FN>({1, 2}, {1.5, 2}), Tensor::scalar(2.0f), make<Float8E4M3FN>({}, {0}),
        make<Float8E4M3FN>({2, 1}, {4, 1}), Tensor::scalar(1.0f), make<Float8E4M3FN>({}, {0}),
        Tensor::scalar(4.0f), make<Float8E4M3FN>({}, {0})},
       {},
       {make<Float8E4M3FN>({1, 1}, {4})}},
  });
}

// Every element of [2, M, K] times [K, N], the zero points by row and column.
TEST(QuantizedProducts, ConstantFactorsGiveTheSame) {
  for (const auto& [M, N, K] : {std::array<std::int64_t, 3>{1, 1, 1}, {3, 64, 33}, {2, 130, 70}, {5, 7, 0}}) {
    std::vector<std::uint8_t> a(static_cast<std::size_t>(2 * M * K)), a_zero(static_cast<std::size_t>(M));
    std::vector<std::int8_t> b(static_cast<std::size_t>(K * N)), b_zero(static_cast<std::size_t>(N));
    std::uint32_t state = 1;
    const auto fill = [&](auto& values) {
      for (auto& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<std::decay_t<decltype(value)>>(state >> 24);
      }
    };
    fill(a), fill(a_zero), fill(b), fill(b_zero);
    std::vector<std::int32_t> expected;
    for (std::int64_t row = 0; row < 2 * M; ++row) {
      for (std::int64_t n = 0; n < N; ++n) {
        std::int32_t sum = 0;
        for (std::int64_t k = 0; k < K; ++k) {
          sum += (a[static_cast<std::size_t>(row * K + k)] - a_zero[static_cast<std::size_t>(row % M)]) *
                 (b[static_cast<std::size_t>(k * N + n)] - b_zero[static_cast<std::size_t>(n)]);
        }
        expected.push_back(sum);
      }
    }
    for (const bool constant : {false, true}) {
      OneNode one{.op = "MatMulInteger", .domain = "", .opset = 10, .inputs = {}, .attributes = {}};
      one.inputs = {Tensor::from({2, M, K}, a), Tensor::from({K, N}, b), Tensor::from({M}, a_zero),
                    Tensor::from({N}, b_zero)};
      one.initializers = {false, constant, false, constant};
      const Tensor product = run_node(one).at(0).tensor();
      EXPECT_EQ(product.shape(), (Shape{2, M, N}));
      EXPECT_TRUE(std::ranges::equal(product.span<std::int32_t>(), expected)) << M << " " << N << " " << K;
    }
  }
}

TEST(MatMulInteger, AVectorIsOneColumn) {
  const Tensor a = make<std::uint8_t>({2, 3}, {1, 2, 3, 4, 5, 6}), b = vec<std::uint8_t>({7, 8, 9});
  const Tensor none = make<std::uint8_t>({}, {0});
  check_rows({{"one zero point",
               "MatMulInteger",
               10,
               {a, b, none, vec<std::uint8_t>({1})},
               {},
               {vec<std::int32_t>({44, 107})}}});
  check_errors({{"one for each element",
                 "MatMulInteger",
                 10,
                 {a, b, none, vec<std::uint8_t>({1, 1, 1})},
                 {},
                 ErrorKind::invalid_model,
                 "b_zero_point"}});
}

TEST(Einsum, Equations) {
  const Tensor m = make<float>({2, 2}, {1, 2, 3, 4});
  const Tensor v = vec<float>({10, 20});
  const auto row = [](const char* equation, std::vector<Value> inputs, Tensor expected) {
    return OpRowCase{
        equation, "Einsum", 12, std::move(inputs), {attr("equation", equation)}, {std::move(expected)}};
  };
  check_rows({
      row("ij->ji", {m}, make<float>({2, 2}, {1, 3, 2, 4})),
      row("ba", {m}, make<float>({2, 2}, {1, 3, 2, 4})),
      row("ii", {m}, make<float>({}, {5})),
      row("ii->i", {m}, vec<float>({1, 4})),
      row("ij->", {m}, make<float>({}, {10})),
      row("ij, j -> i", {m, v}, vec<float>({50, 110})),
      row("ij,jk", {m, m}, make<float>({2, 2}, {7, 10, 15, 22})),
      row("ij,ij->ij", {m, m}, make<float>({2, 2}, {1, 4, 9, 16})),
      row("i,j->ji", {v, vec<float>({1, 2})}, make<float>({2, 2}, {10, 20, 20, 40})),
      row("...i,...i->...", {m, make<float>({1, 2}, {10, 20})}, vec<float>({50, 110})),
      row("bij,bjk->bik",
          {make<std::int64_t>({2, 1, 2}, {1, 2, 3, 4}), make<std::int64_t>({2, 2, 1}, {1, 1, 1, -1})},
          make<std::int64_t>({2, 1, 1}, {3, -1})),
      row("i,ij,j->", {v, m, v}, make<float>({}, {2700})),
      row("Aa->aA", {m}, make<float>({2, 2}, {1, 3, 2, 4})),
      row("aA", {m}, make<float>({2, 2}, {1, 3, 2, 4})),
      row("i...->...", {m}, vec<float>({4, 6})),
      row("ij->i", {make<Float16>({1, 3}, {2048, 1, 1})}, vec<Float16>({2050})),
      row("i,i->i", {vec<std::uint8_t>({200}), vec<std::uint8_t>({2})}, vec<std::uint8_t>({144})),
  });
  const auto bad = [](const char* equation, std::vector<Value> inputs, const char* text) {
    return OpErrorCase{
        equation, "Einsum", 12, std::move(inputs), {attr("equation", equation)}, ErrorKind::invalid_model,
        text};
  };
  check_errors({
      bad("ij->k", {m}, "output index 'k'"),
      bad("ij->ii", {m}, "output index 'i'"),
      bad("i->i", {m}, "rank 2"),
      bad("ij,jk", {m}, "2 terms for 1"),
      bad("i1->i", {m}, "unexpected '1'"),
      bad("ij,jk->ik", {m, make<float>({3, 1}, {1, 2, 3})}, "'ij,jk->ik' has the sizes 2 and 3"),
      bad("...i,...i->...", {m, make<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, "stands for"),
  });
}

// A diagonal matrix [2n, 2n]: n times 2^first, then n times 2^then.
std::vector<double> powers_on_diagonal(int n, int first, int then) {
  const std::size_t rows = 2 * static_cast<std::size_t>(n);
  std::vector<double> out(rows * rows, 0.0);
  for (std::size_t i = 0; i < rows; ++i) out[i * rows + i] = std::ldexp(1.0, i < rows / 2 ? first : then);
  return out;
}

TEST(Det, Matrices) {
  check_rows({
      {"row exchange", "Det", 11, {make<float>({2, 2}, {0, 1, 1, 0})}, {}, {make<float>({}, {-1})}},
      {"stack",
       "Det",
       22,
       {make<BFloat16>({2, 2, 2}, {1, 2, 3, 4, 2, 4, 1, 2})},
       {},
       {vec<BFloat16>({-2, 0})}},
      {"empty", "Det", 11, {make<double>({1, 0, 0}, {})}, {}, {vec<double>({1})}},
      {"products of some pivots overflow or vanish",
       "Det",
       22,
       {make<double>({4, 3, 3}, {1e200,  0,     0, 0,     1e200,  0, 0, 0, 0,       //
                                 1e200,  0,     0, 0,     1e200,  0, 0, 0, 1e-200,  //
                                 1e-200, 0,     0, 0,     1e-200, 0, 0, 0, 1e200,   //
                                 0,      1e200, 0, 1e200, 0,      0, 0, 0, 1e200})},
       {},
       {vec<double>({0, 1e200, 1e-200, -INFINITY})}},
      {"float, beyond double on the way",
       "Det",
       11,
       {make<float>({18, 18}, powers_on_diagonal(9, 127, -126))},
       {},
       {make<float>({}, {512})}},
      {"bfloat16, beyond double on the way",
       "Det",
       22,
       {make<BFloat16>({18, 18}, powers_on_diagonal(9, -126, 126))},
       {},
       {make<BFloat16>({}, {1})}},
      {"float16",
       "Det",
       11,
       {make<Float16>({2, 2}, {60000, 0, 0, 0.00006103515625})},
       {},
       {make<Float16>({}, {3.662109375})}},
      {"a NaN below a zero", "Det", 11, {make<float>({2, 2}, {0, 1, NAN, 1})}, {}, {make<float>({}, {NAN})}},
      {"infinite",
       "Det",
       11,
       {make<double>({2, 2, 2}, {INFINITY, 0, 0, 2, INFINITY, 0, 0, 0})},
       {},
       {vec<double>({INFINITY, NAN})}},
  });
  check_errors({{"not square",
                 "Det",
                 11,
                 {make<float>({1, 2}, {1, 2})},
                 {},
                 ErrorKind::invalid_model,
                 "input X is [1,2]; Det-11 takes [...,M,M]"}});
}

// A NaN is the largest wherever it is, as for ArgMax: in all types and versions, along axes of any length.
template <typename T>
void add_hardmax_rows(std::vector<OpRowCase>& rows) {
  for (const std::int64_t n : {1, 2, 3, 17, 130}) {
    for (const std::int64_t first : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<double> x, y;  // [n]
      for (std::int64_t i = 0; i < n; ++i) {
        x.push_back(i == first || i == n - 1 ? NAN : i == 0 ? INFINITY : static_cast<double>(i % 7));
        y.push_back(i == first ? 1 : 0);
      }
      const std::string name = fmt::format("{} of {}, {}", first, n, dtype_name(dtype_of<T>));
      for (const int opset : {1, 11, 13}) {
        if (opset < 13 && dtype_of<T> == DType::bfloat16) continue;
        const auto row = [&](Shape shape, std::int64_t axis) {
          rows.push_back(
              {name, "Hardmax", opset, {make<T>(shape, x)}, {attr("axis", axis)}, {make<T>(shape, y)}});
        };
        row(Shape{1, n}, 1);
        row(Shape{n, 1}, 0);
      }
      std::vector<double> many_x, many_y;  // [n, 3], the same in each column
      for (std::int64_t i = 0; i < 3 * n; ++i) {
        many_x.push_back(x[static_cast<std::size_t>(i / 3)]);
        many_y.push_back(y[static_cast<std::size_t>(i / 3)]);
      }
      rows.push_back({name + ", columns",
                      "Hardmax",
                      13,
                      {make<T>(Shape{n, 3}, many_x)},
                      {attr("axis", std::int64_t{0})},
                      {make<T>(Shape{n, 3}, many_y)}});
    }
  }
}

TEST(Hardmax, TheFirstNaN) {
  std::vector<OpRowCase> rows;
  add_hardmax_rows<float>(rows);
  add_hardmax_rows<double>(rows);
  add_hardmax_rows<Float16>(rows);
  add_hardmax_rows<BFloat16>(rows);
  check_rows(rows);
}

TEST(Softmax, Versions) {
  const double e = std::exp(1.0);
  const Tensor x = make<double>({1, 2, 2}, {0, 0, 1, 0});
  check_rows({
      {"a matrix of the input",
       "Softmax",
       11,
       {x},
       {},
       {make<double>({1, 2, 2}, {1 / (3 + e), 1 / (3 + e), e / (3 + e), 1 / (3 + e)})}},
      {"the last axis",
       "Softmax",
       13,
       {x},
       {},
       {make<double>({1, 2, 2}, {0.5, 0.5, e / (1 + e), 1 / (1 + e)})}},
      {"an inner axis",
       "Softmax",
       13,
       {x},
       {attr("axis", 1)},
       {make<double>({1, 2, 2}, {1 / (1 + e), 0.5, e / (1 + e), 0.5})}},
      {"large values", "Softmax", 13, {vec<float>({1000, 1000})}, {}, {vec<float>({0.5, 0.5})}},
      {"logarithm",
       "LogSoftmax",
       13,
       {vec<float>({1000, 1000, 0})},
       {},
       {vec<float>({-0.693147180559945, -0.693147180559945, -1000.693147180559945})}},
      {"half",
       "LogSoftmax",
       1,
       {make<Float16>({1, 2}, {3, 3})},
       {},
       {make<Float16>({1, 2}, {-0.693147, -0.693147})}},
      {"the first of two",
       "Hardmax",
       13,
       {make<float>({2, 2}, {3, 3, 1, 2})},
       {},
       {make<float>({2, 2}, {1, 0, 0, 1})}},
      {"rows of a matrix",
       "Hardmax",
       1,
       {make<float>({1, 2, 2}, {3, 3, 1, 9})},
       {},
       {make<float>({1, 2, 2}, {0, 0, 0, 1})}},
      {"nothing", "Softmax", 13, {make<float>({0, 3}, {})}, {}, {make<float>({0, 3}, {})}},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
