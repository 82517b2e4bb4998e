// Kernels that take elements of other types than float: bit by bit what the definition says, or what they
// give for the same numbers in float, rounded once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_compare.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_fused.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/kernels/vec/vec_normalize.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/kernels/vec/vec_softmax.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecElement : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecElement);

constexpr int64_t element_lengths[] = {1, 7, 8, 16, 31, 64, 103};

/// Among numbers, what is special: NaN, infinities, zeros of both signs, the least and the greatest.
template <class T>
std::vector<T> elements(int64_t n, unsigned seed) {
  std::mt19937_64 draw(seed + static_cast<unsigned>(n));
  std::vector<T> x(static_cast<size_t>(n));
  for (T& v : x) {
    const uint64_t bits = draw();
    if constexpr (std::is_integral_v<T>) {
      v = bits % 5 == 0 ? std::numeric_limits<T>::lowest() : static_cast<T>(bits >> 7);
    } else if constexpr (std::is_same_v<T, double>) {
      v = bits % 5 == 0 ? std::bit_cast<double>(draw()) : static_cast<double>(bits >> 40) / 1e6 - 8;
    } else {
      v = bits % 5 == 0 ? T::from_bits(static_cast<uint16_t>(bits >> 9))
                        : T(static_cast<float>(bits >> 40) / 1e6f - 8);
    }
    if constexpr (!std::is_integral_v<T>) {
      const double special[] = {std::nan(""), std::numeric_limits<double>::infinity(), -0.0, 0.0, 6e-8,
                                -1e-40};
      if (bits % 7 == 0) v = static_cast<T>(special[(bits >> 3) % 6]);
    }
  }
  return x;
}

template <class T>
bool is_same(T a, T b) {
  if constexpr (std::is_integral_v<T>) return a == b;
  const auto x = static_cast<double>(static_cast<ComputeType<T>>(a)),
             y = static_cast<double>(static_cast<ComputeType<T>>(b));
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

template <class T>
void expect_all(const std::string& what, const std::vector<T>& made,
                const std::function<T(size_t)>& expected) {
  for (size_t i = 0; i < made.size(); ++i)
    ASSERT_TRUE(is_same(made[i], expected(i))) << what << ", n=" << made.size() << ", " << i;
}

template <class C>
C wrapped(C a, C b, char op) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<C>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<C>(op == '+' ? x + y : op == '-' ? x - y : x * y);
  } else {
    return op == '+' ? a + b : op == '-' ? a - b : a * b;
  }
}

template <class T>
struct NamedOperation {
  using C = ComputeType<T>;
  const char* name;
  void (*arrays)(const T*, const T*, T*, int64_t);
  void (*scalar_last)(const T*, C, T*, int64_t);
  void (*scalar_first)(C, const T*, T*, int64_t);
  C (*definition)(C, C);
};

template <class T, class C = ComputeType<T>>
std::vector<NamedOperation<T>> named_operations() {
  std::vector<NamedOperation<T>> all = {
      {"add", vec_add<T>, vec_add<T>, vec_add<T>, [](C a, C b) { return wrapped(a, b, '+'); }},
      {"sub", vec_sub<T>, vec_sub<T>, vec_sub<T>, [](C a, C b) { return wrapped(a, b, '-'); }},
      {"mul", vec_mul<T>, vec_mul<T>, vec_mul<T>, [](C a, C b) { return wrapped(a, b, '*'); }},
      {"max", vec_max<T>, vec_max<T>, vec_max<T>, [](C a, C b) { return a > b || a != a ? a : b; }},
      {"min", vec_min<T>, vec_min<T>, vec_min<T>, [](C a, C b) { return a < b || a != a ? a : b; }},
      {"prelu", vec_prelu<T>, vec_prelu<T>, vec_prelu<T>,
       [](C a, C b) { return a < 0 ? wrapped(b, a, '*') : a; }},
      {"above", vec_above<T>, vec_above<T>, vec_above<T>, [](C a, C b) { return a > b ? a : C(0); }}};
  if constexpr (ArithmeticFloat<T>)
    all.push_back({"div", vec_div<T>, vec_div<T>, vec_div<T>, [](C a, C b) { return a / b; }});
  return all;
}

template <class T>
void check_operations() {
  using C = ComputeType<T>;
  for (const int64_t n : element_lengths) {
    const std::vector<T> a = elements<T>(n, 1), b = elements<T>(n, 2);
    for (const NamedOperation<T>& op : named_operations<T>()) {
      std::vector<T> y(a.size());
      op.arrays(a.data(), b.data(), y.data(), n);
      expect_all<T>(op.name, y, [&](size_t i) { return static_cast<T>(op.definition(a[i], b[i])); });
      const C still = static_cast<C>(b.front());
      op.scalar_last(a.data(), still, y.data(), n);
      expect_all<T>(op.name, y, [&](size_t i) { return static_cast<T>(op.definition(a[i], still)); });
      y = b;  // in place
      op.scalar_first(still, y.data(), y.data(), n);
      expect_all<T>(op.name, y, [&](size_t i) { return static_cast<T>(op.definition(still, b[i])); });
    }
    std::vector<T> y(a.size());
    vec_clip(a.data(), C(-3), C(4), y.data(), n);
    expect_all<T>("clip", y, [&](size_t i) {
      const C x = a[i];
      return static_cast<T>(x < C(-3) ? C(-3) : x > C(4) ? C(4) : x);
    });
  }
}

TEST_P(VecElement, ArithmeticEqualsTheDefinition) {
  check_operations<Float16>();
  check_operations<BFloat16>();
  check_operations<int32_t>();
  check_operations<int64_t>();
}

template <class T>
void check_functions() {
  using C = ComputeType<T>;
  for (const int64_t n : element_lengths) {
    const std::vector<T> x = elements<T>(n, 3);
    std::vector<T> y(x.size());
    vec_hard_sigmoid(x.data(), C(0.2), C(0.5), y.data(), n);
    expect_all<T>("hard_sigmoid", y, [&](size_t i) {
      const C line = std::fma(static_cast<C>(x[i]), C(0.2), C(0.5));
      return static_cast<T>(line < 0 ? C(0) : line > 1 ? C(1) : line);
    });
    vec_standardize(x.data(), C(0.7), C(1.3), C(-0.2), y.data(), n);
    expect_all<T>("standardize", y, [&](size_t i) {
      const C centered = static_cast<C>(x[i]) - C(0.7), scaled = centered * C(1.3);
      return static_cast<T>(scaled + C(-0.2));
    });
    std::vector<char> found(x.size());
    vec_is_nan(x.data(), reinterpret_cast<bool*>(found.data()), n);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(found[i] != 0, std::isnan(static_cast<C>(x[i]))) << i;
  }
}

TEST_P(VecElement, FunctionsEqualTheDefinition) {
  check_functions<Float16>();
  check_functions<BFloat16>();
  check_functions<double>();
}

template <class T>
double term_of(SumOf of, T x) {
  const auto wide = static_cast<double>(x);
  return of == SumOf::values ? wide : of == SumOf::magnitudes ? std::fabs(wide) : wide * wide;
}

template <class T>
void check_wide_sums() {
  for (const SumOf of : {SumOf::values, SumOf::magnitudes, SumOf::squares}) {
    for (const int64_t n : {1, 31, 32, 33, 64, 95, 1000}) {
      std::vector<T> x(static_cast<size_t>(n));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(std::sin(static_cast<double>(i)) * 3);
      std::vector<double> sums(sums_in_double);
      for (size_t i = 0; i < x.size(); ++i) sums[i % sums_in_double] += term_of(of, x[i]);
      for (size_t half = sums_in_double / 2; half > 0; half /= 2) {
        for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
      }
      EXPECT_EQ(sum_in_double(of, x.data(), n), sums[0]) << "n=" << n;
      const int64_t step = n / 5, columns = step - step / 3;
      std::vector<double> each(static_cast<size_t>(columns), 0.5), expected = each;
      for (int64_t r = 0; r < 5; ++r) {
        for (int64_t i = 0; i < columns; ++i)
          expected[static_cast<size_t>(i)] += term_of(of, x[static_cast<size_t>(r * step + i)]);
      }
      add_in_double(of, x.data(), 5, step, each.data(), columns);
      EXPECT_EQ(each, expected) << "n=" << n;
      if constexpr (std::is_same_v<T, double>) {
        const int64_t rows = 19, length = n / rows;
        std::vector<double> of_rows(rows), in_order(rows);
        for (int64_t i = 0; i < rows * length; ++i)
          in_order[static_cast<size_t>(i / length)] += term_of(of, x[static_cast<size_t>(i)]);
        sum_rows_in_double(of, x.data(), rows, length, of_rows.data());
        EXPECT_EQ(of_rows, in_order) << "n=" << length;
      }
    }
  }
}

TEST_P(VecElement, SumsInDoubleEqualTheDefinition) {
  check_wide_sums<Float16>();
  check_wide_sums<BFloat16>();
  check_wide_sums<double>();
}

template <class T>
void check_extremes() {
  using C = ComputeType<T>;
  const auto larger = [](C a, C b) { return a > b || a != a ? a : b; };
  const auto smaller = [](C a, C b) { return a < b || a != a ? a : b; };
  for (const int64_t n : element_lengths) {
    for (const unsigned seed : {4u, 5u, 6u}) {
      std::vector<T> x = elements<T>(3 * n, seed);
      if constexpr (!std::is_integral_v<T>) {  // without NaN in most columns
        for (size_t i = 0; i < x.size(); ++i)
          if (i % 9 != 0 && std::isnan(static_cast<C>(x[i]))) x[i] = T(0.5f);
      }
      C most = static_cast<C>(x[0]), least = most;
      for (int64_t i = 1; i < n; ++i) {
        most = larger(most, x[static_cast<size_t>(i)]);
        least = smaller(least, x[static_cast<size_t>(i)]);
      }
      const auto equal = [](C a, C b) { return a == b || (a != a && b != b); };
      EXPECT_TRUE(equal(reduce_max(x.data(), n), most)) << n;
      EXPECT_TRUE(equal(reduce_min(x.data(), n), least)) << n;
      std::vector<C> raised(static_cast<size_t>(n), C(1)), lowered = raised;
      raise_to_max(x.data(), 3, n, raised.data(), n);
      lower_to_min(x.data(), 3, n, lowered.data(), n);
      for (size_t i = 0; i < raised.size(); ++i) {
        C high = 1, low = 1;
        for (size_t r = 0; r < 3; ++r) {
          high = larger(high, x[r * raised.size() + i]);
          low = smaller(low, x[r * raised.size() + i]);
        }
        EXPECT_TRUE(equal(raised[i], high)) << n << ", " << i;
        EXPECT_TRUE(equal(lowered[i], low)) << n << ", " << i;
      }
      if constexpr (std::is_integral_v<T>) {
        T sum = 0;
        for (int64_t i = 0; i < n; ++i) sum = wrapped(sum, x[static_cast<size_t>(i)], '+');
        EXPECT_EQ(reduce_sum(x.data(), n), sum) << n;
      }
    }
  }
}

TEST_P(VecElement, ExtremesAndSumsOfIntegersEqualTheDefinition) {
  check_extremes<Float16>();
  check_extremes<BFloat16>();
  check_extremes<int32_t>();
  check_extremes<int64_t>();
}

template <class Half>
void round_all(float* x, int64_t n) {
  std::vector<Half> rounded(static_cast<size_t>(n));
  vec_convert(x, rounded.data(), n);
  vec_convert(rounded.data(), x, n);
}

template <class Half>
std::vector<float> half_logits(int64_t n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 9;
  round_all<Half>(x.data(), n);
  return x;
}

template <class Half>
void check_softmax_in_steps() {
  for (const int64_t n : {1, 5, 16, 20, 65, 130, 1025, 2500}) {
    const std::vector<float> x = half_logits<Half>(3 * n);
    std::vector<float> y(x.size()), expected = x;
    vec_softmax_in_steps<Half>(x.data(), y.data(), 3, n);
    for (int64_t r = 0; r < 3; ++r) {
      float* const row = expected.data() + r * n;
      vec_sub(row, reduce_max(row, n), row, n);
      round_all<Half>(row, n);
      vec_exp(row, row, n);
      round_all<Half>(row, n);
      auto sum = static_cast<float>(reduce_sum(row, n));
      round_all<Half>(&sum, 1);
      vec_div(row, sum, row, n);
    }
    EXPECT_EQ(y, expected) << n;
  }
  for (const int64_t n : {1, 5, 33, 70}) {
    constexpr int64_t columns = 21, step = 23;
    const std::vector<float> x = half_logits<Half>(n * step);
    std::vector<float> y(x);
    vec_softmax_columns_in_steps<Half>(x.data(), y.data(), n, columns, step);
    for (int64_t c = 0; c < columns; ++c) {
      std::vector<float> column;
      for (int64_t k = 0; k < n; ++k) column.push_back(x[static_cast<size_t>(k * step + c)]);
      vec_sub(column.data(), reduce_max(column.data(), n), column.data(), n);
      round_all<Half>(column.data(), n);
      vec_exp(column.data(), column.data(), n);
      round_all<Half>(column.data(), n);
      float total = 0;
      for (int64_t first = 0; first < n; first += column_block) {
        float block = 0;
        for (int64_t k = first; k < std::min(n, first + column_block); ++k)
          block += column[static_cast<size_t>(k)];
        total += block;
      }
      round_all<Half>(&total, 1);
      for (int64_t k = 0; k < n; ++k)
        EXPECT_EQ(y[static_cast<size_t>(k * step + c)], column[static_cast<size_t>(k)] / total)
            << n << ' ' << c;
    }
  }
}

TEST_P(VecElement, SoftmaxRoundsEachStep) {
  check_softmax_in_steps<Float16>();
  check_softmax_in_steps<BFloat16>();
}

template <class Half>
void check_rounded_scale(Rounding rounding) {
  for (const int64_t n : element_lengths) {
    const std::vector<Half> from = elements<Half>(n, 8);
    std::vector<float> x(from.begin(), from.end()), scale = half_logits<Half>(n), y(x.size()), first = x;
    vec_scale<float>(x.data(), {1.3f, scale.data(), true, scale.data(), true, rounding}, y.data(), n);
    for (float& v : first) v *= 1.3f;
    round_all<Half>(first.data(), n);
    expect_all<float>("scale", y, [&](size_t i) {
      const float scaled = first[i] * scale[i];
      return scaled + scale[i];
    });
  }
}

TEST_P(VecElement, ScaleRoundsTheProduct) {
  check_rounded_scale<Float16>(Rounding::float16);
  check_rounded_scale<BFloat16>(Rounding::bfloat16);
}

template <class Half>
void check_rotation() {
  for (const int64_t n : element_lengths) {
    const std::vector<Half> a = elements<Half>(n, 9), b = elements<Half>(n, 10);
    const std::vector<float> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end()), c = half_logits<Half>(n);
    std::vector<Half> y1(a.size()), y2(a.size());
    std::vector<float> wide_1(a.size()), wide_2(a.size());
    vec_rotate(a.data(), b.data(), c.data(), c.data(), y1.data(), y2.data(), n);
    vec_rotate(wide_a.data(), wide_b.data(), c.data(), c.data(), wide_1.data(), wide_2.data(), n);
    expect_all<Half>("first", y1, [&](size_t i) { return Half(wide_1[i]); });
    expect_all<Half>("second", y2, [&](size_t i) { return Half(wide_2[i]); });
  }
}

TEST_P(VecElement, RotationsAreThoseOfFloats) {
  check_rotation<Float16>();
  check_rotation<BFloat16>();
}

TEST_P(VecElement, DoublesAreCutToIntegers) {
  const std::vector<double> x = {0.9,   -0.9,   2147483647.5, -2147483648.9, -2147483649.0, 2147483648.0,
                                 1e300, -1e300, std::nan(""), -0.0,          7.99,          -7.99,
                                 3};
  std::vector<int32_t> y(x.size());
  vec_truncate(x.data(), y.data(), static_cast<int64_t>(x.size()));
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(y,
            (std::vector<int32_t>{0, 0, 2147483647, least, least, least, least, least, least, 0, 7, -7, 3}));
}

}  // namespace
}  // namespace grurun::kernels
