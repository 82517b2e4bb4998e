#include "engine/kernels/gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/gemm/gemm_generic.h"
#include "engine/kernels/gemm/gemm_tile.h"
#include "engine/kernels/gemm/panel_gather.h"
#include "tensor/error.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

struct Case {
  int64_t M, N, K;
  bool transA = false, transB = false;
  double alpha = 1, beta = 0;
  int64_t pad = 0;  // added to every leading dimension

  std::string text() const {
    return "M=" + std::to_string(M) + " N=" + std::to_string(N) + " K=" + std::to_string(K) +
           (transA ? " transA" : "") + (transB ? " transB" : "") + " alpha=" + std::to_string(alpha) +
           " beta=" + std::to_string(beta) + " pad=" + std::to_string(pad);
  }
};

/// Sizes on both sides of every tile, vector, panel and block boundary, each with all storage orders.
std::vector<Case> cases() {
  std::vector<Case> all;
  const int64_t sizes[][3] = {{1, 1, 1},      {1, 5, 3},    {1, 48, 7},     {1, 200, 40},  {1, 437, 513},
                              {2, 3, 33},     {3, 17, 64},  {4, 96, 31},    {5, 24, 100},  {7, 1, 50},
                              {8, 48, 512},   {8, 49, 600}, {9, 47, 20},    {17, 95, 129}, {33, 16, 40},
                              {70, 145, 65},  {150, 33, 9}, {40, 50, 1100}, {300, 1, 77},  {2, 2, 0},
                              {1100, 20, 12}, {5, 13, 256}, {23, 31, 270},  {64, 7, 257}};
  for (const auto& [M, N, K] : sizes) {
    for (const bool transA : {false, true}) {
      for (const bool transB : {false, true}) {
        all.push_back({M, N, K, transA, transB, 1, 0, 0});
        all.push_back({M, N, K, transA, transB, -0.75, 0.5, 3});
        all.push_back({M, N, K, transA, transB, 1, 1, 1});
      }
    }
  }
  return all;
}

template <class T>
std::vector<T> random_values(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& v : values) v = static_cast<T>(uniform(engine));
  return values;
}

/// Operands of a case, and C in a frame that nobody may write to.
template <class T>
struct Operands {
  explicit Operands(const Case& c)
      : lda((c.transA ? c.M : c.K) + c.pad), ldb((c.transB ? c.K : c.N) + c.pad), ldc(c.N + c.pad) {
    a = random_values<T>((c.transA ? c.K : c.M) * lda, 1);
    b = random_values<T>((c.transB ? c.N : c.K) * ldb, 2);
    C = random_values<T>(c.M * ldc, 3);
    bias = random_values<T>(c.N, 4);
    A = {a.data(), lda, c.transA};
    B = {b.data(), ldb, c.transB};
  }
  int64_t lda, ldb, ldc;
  std::vector<T> a, b, C, bias;
  Matrix<T> A, B;
};

/// A * B in long double, and the magnitude that rounding errors are relative to: the sum of |a * b|.
struct Definition {
  std::vector<long double> product, magnitude;
};

template <class T>
Definition define(const Case& c) {
  const Operands<T> o(c);
  std::vector<T> a(o.a), b(o.b);
  for (T& v : a) v = std::fabs(v);
  for (T& v : b) v = std::fabs(v);
  Definition d{std::vector<long double>(static_cast<size_t>(c.M * c.N)), {}};
  d.magnitude = d.product;
  gemm_generic<long double>(c.M, c.N, c.K, o.A, o.B, d.product.data(), c.N);
  gemm_generic<long double>(c.M, c.N, c.K, Matrix<T>{a.data(), o.lda, c.transA},
                            Matrix<T>{b.data(), o.ldb, c.transB}, d.magnitude.data(), c.N);
  return d;
}

/// Those of cases(), worked out once for all targets.
template <class T>
const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = [] {
    std::vector<Definition> out;
    for (const Case& c : cases()) out.push_back(define<T>(c));
    return out;
  }();
  return all;
}

/// K + 3 roundings, half a unit each, bound the error of any order of summation.
template <class T>
std::string compare(const Case& c, const std::vector<T>& got, int64_t ldc, const std::vector<T>& before,
                    const std::vector<long double>& expected, const std::vector<long double>& scale) {
  for (int64_t i = 0; i < c.M; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<size_t>(i * ldc + j), e = static_cast<size_t>(i * c.N + j);
      const std::string where = " at [" + std::to_string(i) + ", " + std::to_string(j) + "]\n";
      if (j >= c.N) {
        if (got[at] != before[at]) return c.text() + ": wrote beyond C" + where;
        continue;
      }
      const long double bound = (c.K + 3) * scale[e] * std::numeric_limits<T>::epsilon() / 2;
      if (!(std::fabs(got[at] - expected[e]) <= bound)) {
        return c.text() + ": got " + std::to_string(got[at]) + ", expected " + std::to_string(expected[e]) +
               where;
      }
    }
  }
  return "";
}

class Gemm : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(Gemm);

template <class T>
void check_gemm(int threads) {
  set_threads(threads);
  std::string failures;
  const std::vector<Case> all = cases();
  for (size_t i = 0; i < all.size(); ++i) {
    const Case& c = all[i];
    Operands<T> o(c);
    auto [expected, scale] = definitions<T>()[i];
    for (int64_t row = 0; row < c.M; ++row) {
      for (int64_t j = 0; j < c.N; ++j) {
        const auto e = static_cast<size_t>(row * c.N + j);
        const long double was = o.C[static_cast<size_t>(row * o.ldc + j)];
        expected[e] = c.alpha * expected[e] + (c.beta == 0 ? 0 : c.beta * was);
        scale[e] = std::fabs(c.alpha) * scale[e] + std::fabs(c.beta * was);
      }
    }
    const std::vector<T> before = o.C;
    gemm<T>(c.M, c.N, c.K, static_cast<T>(c.alpha), o.A, o.B, static_cast<T>(c.beta), o.C.data(), o.ldc);
    failures += compare(c, o.C, o.ldc, before, expected, scale);
  }
  EXPECT_EQ(failures, "");
}

TEST_P(Gemm, FloatEqualsTheDefinition) {
  check_gemm<float>(1);
}
TEST_P(Gemm, DoubleEqualsTheDefinition) {
  check_gemm<double>(1);
}
TEST_P(Gemm, FloatEqualsTheDefinitionOnThreeThreads) {
  check_gemm<float>(3);
}

template <class T>
void check_packed() {
  std::string failures;
  const std::vector<Case> all = cases();
  for (size_t i = 0; i < all.size(); ++i) {
    const Case& c = all[i];
    if (c.alpha != 1 || c.beta != 0) continue;
    Operands<T> o(c);
    const auto& [product, magnitude] = definitions<T>()[i];
    for (const bool with_bias : {false, true}) {
      for (const Start start : {Start::bias, Start::c_plus_bias}) {
        auto expected = product, scale = magnitude;
        for (int64_t row = 0; row < c.M; ++row) {
          for (int64_t j = 0; j < c.N; ++j) {
            const auto e = static_cast<size_t>(row * c.N + j);
            const long double was = start == Start::bias ? 0 : o.C[static_cast<size_t>(row * o.ldc + j)];
            const long double bias = with_bias ? o.bias[static_cast<size_t>(j)] : 0;
            expected[e] += was + bias;
            scale[e] += std::fabs(was) + std::fabs(bias);
          }
        }
        const auto packed = pack_b<T>(c.K, c.N, o.B, with_bias ? o.bias.data() : nullptr);
        std::vector<T> C = o.C;
        gemm_packed<T>(c.M, o.A, packed, C.data(), o.ldc, start);
        failures += compare(c, C, o.ldc, o.C, expected, scale);
      }
    }
  }
  EXPECT_EQ(failures, "");
}

TEST_P(Gemm, PackedFloatEqualsTheDefinition) {
  check_packed<float>();
}
TEST_P(Gemm, PackedDoubleEqualsTheDefinition) {
  check_packed<double>();
}

TEST_P(Gemm, TheNumberOfThreadsDoesNotChangeABit) {
  for (const Case& c : {Case{1, 3000, 700},
                        {1, 3000, 700, false, true},
                        {3, 2000, 700, false, true},
                        {200, 300, 700, true}}) {
    Operands<float> o(c);
    const auto packed = pack_b<float>(c.K, c.N, o.B, o.bias.data());
    std::vector<float> one(o.C), one_packed(o.C);
    set_threads(1);
    gemm<float>(c.M, c.N, c.K, 1, o.A, o.B, 0, one.data(), c.N);
    gemm_packed<float>(c.M, o.A, packed, one_packed.data(), c.N);
    for (const int threads : {2, 5}) {
      set_threads(threads);
      std::vector<float> many(o.C), many_packed(o.C);
      gemm<float>(c.M, c.N, c.K, 1, o.A, o.B, 0, many.data(), c.N);
      gemm_packed<float>(c.M, o.A, pack_b<float>(c.K, c.N, o.B, o.bias.data()), many_packed.data(), c.N);
      EXPECT_EQ(many, one) << c.text() << " threads=" << threads;
      EXPECT_EQ(many_packed, one_packed) << c.text() << " threads=" << threads;
    }
  }
}

TEST_P(Gemm, ARowDoesNotDependOnItsNeighbours) {
  const Case c{29, 150, 700};
  Operands<float> o(c);
  const auto packed = pack_b<float>(c.K, c.N, o.B, o.bias.data());
  std::vector<float> whole(o.C), whole_packed(o.C), row(static_cast<size_t>(c.N)), row_packed(row);
  gemm<float>(c.M, c.N, c.K, 1, o.A, o.B, 0, whole.data(), c.N);
  gemm_packed<float>(c.M, o.A, packed, whole_packed.data(), c.N);
  for (int64_t i = 0; i < c.M; ++i) {
    const Matrix<float> a{o.a.data() + i * o.lda, o.lda};
    gemm<float>(1, c.N, c.K, 1, a, o.B, 0, row.data(), c.N);
    gemm_packed<float>(1, a, packed, row_packed.data(), c.N);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), whole.begin() + i * c.N)) << "row " << i;
    EXPECT_TRUE(std::equal(row_packed.begin(), row_packed.end(), whole_packed.begin() + i * c.N))
        << "packed row " << i;
  }
}

TEST_P(Gemm, BetaZeroDoesNotReadC) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Case& c : {Case{1, 60, 20},
                        {1, 60, 40, false, true},
                        {1, 60, 0},
                        {5, 50, 600},
                        {2, 3, 40, false, true},
                        {70, 1, 9}}) {
    Operands<float> o(c);
    const auto packed = pack_b<float>(c.K, c.N, o.B);
    std::vector<float> C(o.C.size(), nan), C_packed(C);
    gemm<float>(c.M, c.N, c.K, 2, o.A, o.B, 0, C.data(), c.N);
    gemm_packed<float>(c.M, o.A, packed, C_packed.data(), c.N);
    EXPECT_TRUE(std::none_of(C.begin(), C.end(), [](float v) { return std::isnan(v); })) << c.text();
    EXPECT_TRUE(std::none_of(C_packed.begin(), C_packed.end(), [](float v) { return std::isnan(v); }))
        << c.text();
  }
}

TEST_P(Gemm, NanAndInfinityReachWhatTheyTouchAndNothingElse) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const Case& c : {Case{1, 70, 40},
                        {1, 70, 40, false, true},
                        {3, 70, 40, false, true},
                        {11, 70, 40},
                        {11, 70, 40, true, true}}) {
    for (const float special : {inf, nan}) {
      Operands<float> o(c);
      std::fill(o.b.begin(), o.b.end(), 0.0f);  // 0 * inf is NaN: zeros must not be skipped
      o.a[c.transA ? static_cast<size_t>(5 * o.lda) : 5] = special;  // A[0, 5]
      std::vector<float> C(o.C.size());
      gemm<float>(c.M, c.N, c.K, 1, o.A, o.B, 0, C.data(), c.N);
      const int64_t hit = std::count_if(C.begin(), C.end(), [](float v) { return std::isnan(v); });
      EXPECT_EQ(hit, c.N) << c.text() << " " << special;
      EXPECT_TRUE(std::isnan(C[0]) && std::isnan(C[static_cast<size_t>(c.N - 1)])) << c.text();
    }
  }
}

// Panels of AVX-512 lie otherwise than those of AVX2.
TEST_P(Gemm, AFactorThatAnotherInstructionSetArrangedIsRefused) {
  const std::vector<float> ones(64 * 64, 1);
  const auto packed = pack_b<float>(64, 64, {ones.data(), 64});
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    std::vector<float> C(64);
    if (packed.columns_together() == panel_tile().together * columns_of_vector<float>) {
      gemm_packed<float>(1, {ones.data(), 64}, packed, C.data(), 64);
      EXPECT_EQ(C, std::vector<float>(64, 64)) << target;
    } else {
      EXPECT_THROW(gemm_packed<float>(1, {ones.data(), 64}, packed, C.data(), 64), Error) << target;
    }
  }
}

TEST(GemmSizes, NothingToDoTouchesNothing) {
  float c = 7;
  gemm<float>(0, 1, 1, 1, {nullptr, 1}, {nullptr, 1}, 0, &c, 1);
  gemm<float>(1, 0, 1, 1, {nullptr, 1}, {nullptr, 1}, 0, &c, 1);
  gemm_packed<float>(0, {nullptr, 0}, pack_b<float>(0, 4, {nullptr, 4}), &c, 4);
  gemm_packed<float>(4, {nullptr, 3}, pack_b<float>(3, 0, {nullptr, 0}), &c, 0);
  EXPECT_EQ(c, 7);
  gemm<float>(1, 1, 0, 1, {nullptr, 0}, {nullptr, 1}, 0.5f, &c, 1);
  EXPECT_EQ(c, 3.5f);
  gemm<float>(1, 1, 0, 1, {nullptr, 0}, {nullptr, 1}, 0, &c, 1);
  EXPECT_EQ(c, 0);
}

TEST(GemmGeneric, IntegersWrapAround) {
  const int32_t big = 0x7fffffff;
  const std::vector<int32_t> A{big, 1}, B{big, 2};
  int32_t c = 0;
  gemm_generic<int32_t>(1, 1, 2, Matrix<int32_t>{A.data(), 2}, Matrix<int32_t>{B.data(), 1}, &c, 1);
  EXPECT_EQ(c, 3);  // (2^31 - 1)^2 = 1 modulo 2^32
}

TEST(GemmGeneric, MixedTypesSumInTheWiderOne) {
  const std::vector<uint8_t> A{200, 100, 3, 4};
  const std::vector<int8_t> B{-128, 127, 5, 6};
  std::vector<int32_t> C(4);
  gemm_generic<int32_t>(2, 2, 2, Matrix<uint8_t>{A.data(), 2}, Matrix<int8_t>{B.data(), 2, true}, C.data(),
                        2);
  EXPECT_EQ(C, (std::vector<int32_t>{-12900, 1600, 124, 39}));
}

template <class T>
void check_runs() {
  constexpr int64_t unit = columns_of_vector<T>, rows = 7;
  const std::vector<T> B = random_values<T>(2000, 5);
  std::vector<int64_t> offset;
  for (int64_t k = 0; k < rows; ++k) offset.push_back(k * 37 % 11 * 90);
  for (const int64_t run : {int64_t{1}, int64_t{5}, unit - 1, unit, unit + 3, 3 * unit}) {
    // Runs as far apart as they are long, of a panel that ends within a vector.
    const int64_t columns = 2 * unit + 3, width = 3 * unit;
    PanelRuns runs;
    for (int64_t to = 0; to < width; to += to + run < columns ? run : width) {
      const int64_t end = to + run < columns ? to + run : width;
      for (int64_t i = to; i < end; i += unit) {
        runs.from[runs.count] = to * 2 + i - to;
        runs.to[runs.count++] = i;
      }
    }
    std::vector<T> packed(static_cast<size_t>(rows * width + unit), T(7));
    gather_runs(B.data(), offset.data(), rows, runs, width, packed.data());
    for (int64_t k = 0; k < rows; ++k) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t from = offset[static_cast<size_t>(k)] + j / run * run * 2 + j % run;
        ASSERT_EQ(packed[static_cast<size_t>(k * width + j)], B[static_cast<size_t>(from)])
            << "runs of " << run << ", row " << k << ", column " << j;
      }
    }
  }
}

// Vectors of exactly what may be read, so that a sanitizer sees a step beyond.
template <class T>
void check_split_rows(bool both) {
  constexpr int64_t row_count = 3;
  for (int64_t n = 1; n < 80; ++n) {
    const int64_t length = both ? 2 * n : 2 * n - 1, ld = length + 1, ld_to = n + 2;
    const std::vector<T> from = random_values<T>(static_cast<size_t>((row_count - 1) * ld + length), 6);
    std::vector<T> first(static_cast<size_t>(row_count * ld_to), T(7)), second(first);
    split_rows(RowsToSplit<T>{from.data(), ld, row_count, n, ld_to}, first.data(),
               both ? second.data() : nullptr);
    for (int64_t i = 0; i < row_count * ld_to; ++i) {
      const int64_t row = i / ld_to, column = i % ld_to, at = row * ld + 2 * column;
      const auto expected = [&](bool copied, int64_t place) {
        return copied && column < n ? from[static_cast<size_t>(place)] : T(7);
      };
      ASSERT_EQ(first[static_cast<size_t>(i)], expected(true, at)) << n << ", " << i;
      ASSERT_EQ(second[static_cast<size_t>(i)], expected(both, at + 1)) << n << ", " << i;
    }
  }
}

TEST_P(Gemm, RowsAreSplitIntoEverySecondElement) {
  check_split_rows<float>(false);
  check_split_rows<float>(true);
  check_split_rows<double>(false);
  check_split_rows<double>(true);
}

TEST_P(Gemm, PanelsAreGatheredByRuns) {
  check_runs<float>();
  check_runs<double>();
}

}  // namespace
}  // namespace grurun::kernels
