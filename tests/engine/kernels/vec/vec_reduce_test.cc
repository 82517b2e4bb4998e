#include "engine/kernels/vec/vec_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecReduce : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecReduce);

template <class T>
void check_reduce() {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  for (const int64_t n : {0, 1, 3, 8, 17, 63, 64, 65, 1000, 1024, 1025, 100'000}) {
    std::mt19937 engine(static_cast<unsigned>(n));
    std::uniform_real_distribution<double> uniform(-1, 2);
    std::vector<T> x(static_cast<size_t>(n));
    for (T& v : x) v = static_cast<T>(uniform(engine));
    long double sum = 0, magnitude = 0, squares = 0;
    T greatest = -infinite, least = infinite;
    for (const T v : x) {
      sum += v;
      magnitude += std::fabs(v);
      squares += static_cast<long double>(v) * v;
      greatest = std::max(greatest, v);
      least = std::min(least, v);
    }
    const auto additions = static_cast<long double>(std::min<int64_t>(n, sizeof(T) == 4 ? reduce_block : n));
    const long double bound = additions / 2 * std::numeric_limits<T>::epsilon();
    EXPECT_LE(std::fabs(reduce_sum(x.data(), n) - sum), bound * magnitude) << "n=" << n;
    EXPECT_LE(std::fabs(reduce_sum_squares(x.data(), n) - squares),
              (bound + std::numeric_limits<T>::epsilon()) * squares)
        << "n=" << n;
    EXPECT_EQ(reduce_max(x.data(), n), greatest) << "n=" << n;
    EXPECT_EQ(reduce_min(x.data(), n), least) << "n=" << n;
    if constexpr (sizeof(T) == 4) {
      T low = 0, high = 0;
      reduce_min_max(x.data(), n, &low, &high);
      EXPECT_EQ(low, least) << "n=" << n;
      EXPECT_EQ(high, greatest) << "n=" << n;
    }
  }
}

template <class T>
void check_integers() {
  for (const int64_t n : {1, 3, 8, 17, 63, 64, 65, 1000}) {
    std::mt19937_64 draw(static_cast<uint64_t>(n));
    std::vector<T> x(static_cast<size_t>(n));
    for (T& v : x) v = static_cast<T>(draw());
    EXPECT_EQ(reduce_max(x.data(), n), *std::max_element(x.begin(), x.end())) << "n=" << n;
    EXPECT_EQ(reduce_min(x.data(), n), *std::min_element(x.begin(), x.end())) << "n=" << n;
  }
}

TEST_P(VecReduce, IntegersEqualTheDefinition) {
  check_integers<int32_t>();
  check_integers<int64_t>();
}

TEST_P(VecReduce, FloatsEqualTheDefinition) {
  check_reduce<float>();
}
TEST_P(VecReduce, DoublesEqualTheDefinition) {
  check_reduce<double>();
}

TEST_P(VecReduce, NanAnywhereIsTheResult) {
  for (const int64_t n : {1, 7, 64, 83}) {
    for (int64_t at = 0; at < n; ++at) {
      std::vector<float> x(static_cast<size_t>(n), 1.0f);
      x[static_cast<size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(reduce_max(x.data(), n))) << "n=" << n << " at " << at;
      EXPECT_TRUE(std::isnan(reduce_min(x.data(), n))) << "n=" << n << " at " << at;
      float least = 0, most = 0;
      reduce_min_max(x.data(), n, &least, &most);
      EXPECT_TRUE(std::isnan(least) && std::isnan(most)) << "n=" << n << " at " << at;
      EXPECT_TRUE(std::isnan(reduce_sum(x.data(), n))) << "n=" << n << " at " << at;
      EXPECT_TRUE(std::isnan(reduce_sum_squares(x.data(), n))) << "n=" << n << " at " << at;
    }
  }
}

TEST_P(VecReduce, OneExtremeAmongManyIsFoundAnywhere) {
  for (int64_t at = 0; at < 83; ++at) {
    std::vector<double> x(83, 1.0);
    x[static_cast<size_t>(at)] = 5;
    EXPECT_EQ(reduce_max(x.data(), 83), 5) << at;
    x[static_cast<size_t>(at)] = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(reduce_min(x.data(), 83), -std::numeric_limits<double>::infinity()) << at;
  }
}

template <class T>
void check_extreme_columns() {
  constexpr int64_t step = 101;
  std::mt19937 engine(5);
  std::uniform_real_distribution<T> uniform(-1, 2);
  std::vector<T> x(7 * step);
  for (T& v : x) v = uniform(engine);
  for (const int64_t n : {0, 1, 5, 16, 64, 83, 101}) {
    for (const int64_t rows : {0, 1, 2, 7}) {
      for (const int64_t nan : {-1, 0, 40, 100}) {  // the column where NaN is, in the row before the last
        std::vector<T> with = x, greatest(static_cast<size_t>(n), T(0.5)), least = greatest;
        if (nan >= 0 && rows > 1) with[static_cast<size_t>((rows - 2) * step + nan)] = std::nan("");
        raise_to_max(with.data(), rows, step, greatest.data(), n);
        lower_to_min(with.data(), rows, step, least.data(), n);
        for (int64_t i = 0; i < n; ++i) {
          SCOPED_TRACE(testing::Message() << "n=" << n << " rows=" << rows << " column " << i);
          T most = T(0.5), fewest = T(0.5);
          for (int64_t r = 0; r < rows; ++r) {
            most = std::max(most, x[static_cast<size_t>(r * step + i)]);
            fewest = std::min(fewest, x[static_cast<size_t>(r * step + i)]);
          }
          if (i == nan && rows > 1) {
            EXPECT_TRUE(std::isnan(greatest[static_cast<size_t>(i)]));
            EXPECT_TRUE(std::isnan(least[static_cast<size_t>(i)]));
          } else {
            EXPECT_EQ(greatest[static_cast<size_t>(i)], most);
            EXPECT_EQ(least[static_cast<size_t>(i)], fewest);
          }
        }
      }
    }
  }
}

TEST_P(VecReduce, ExtremesOfColumnsEqualTheDefinition) {
  check_extreme_columns<float>();
  check_extreme_columns<double>();
}

double term(SumOf of, float x) {
  const double wide = x;
  return of == SumOf::values ? wide : of == SumOf::magnitudes ? std::fabs(wide) : wide * wide;
}

TEST_P(VecReduce, SumsInDoubleEqualTheDefinition) {
  for (const SumOf of : {SumOf::values, SumOf::magnitudes, SumOf::squares}) {
    for (const int64_t n : {0, 1, 3, 17, 31, 32, 33, 64, 95, 1000, 4099}) {
      std::mt19937 engine(static_cast<unsigned>(n));
      std::uniform_real_distribution<float> uniform(-1, 2);
      std::vector<float> x(static_cast<size_t>(n));
      for (float& v : x) v = uniform(engine);
      std::vector<double> sums(sums_in_double);
      for (size_t i = 0; i < x.size(); ++i) sums[i % sums_in_double] += term(of, x[i]);
      for (size_t half = sums_in_double / 2; half > 0; half /= 2) {
        for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
      }
      EXPECT_EQ(sum_in_double(of, x.data(), n), sums[0]) << "n=" << n;
      for (const int64_t rows : {0, 1, 2, 7, 8, 21}) {
        const int64_t length = n / 21;
        std::vector<double> of_rows(static_cast<size_t>(rows)), in_order = of_rows;
        for (int64_t i = 0; i < rows * length; ++i)
          in_order[static_cast<size_t>(i / length)] += term(of, x[static_cast<size_t>(i)]);
        sum_rows_in_double(of, x.data(), rows, length, of_rows.data());
        EXPECT_EQ(of_rows, in_order) << "n=" << length << " rows=" << rows;
      }
      for (const int64_t rows : {0, 1, 2, 7}) {
        const int64_t step = n / 8, columns = step - step / 3;
        std::vector<double> each(static_cast<size_t>(columns), 0.5), expected = each;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t i = 0; i < columns; ++i)
            expected[static_cast<size_t>(i)] += term(of, x[static_cast<size_t>(r * step + i)]);
        }
        add_in_double(of, x.data(), rows, step, each.data(), columns);
        EXPECT_EQ(each, expected) << "n=" << n << " rows=" << rows;
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
