#include "engine/kernels/vec/vec_normalize.h"

#include <random>
#include <vector>

#include "engine/kernels/vec/vec_reduce.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecNormalize : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecNormalize);

template <class T>
std::vector<T> drawn_values(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 3);
  std::vector<T> x(static_cast<size_t>(n));
  for (T& v : x) v = static_cast<T>(uniform(engine));
  return x;
}

constexpr int64_t row_lengths[] = {0, 1, 3, 8, 17, 64, 83, 1024, 1025, 3000};

template <class T>
void check_center() {
  for (const int64_t n : row_lengths) {
    std::vector<T> x = drawn_values<T>(n + 1, 1), y(x.size(), T(9)), expected(x.size(), T(9));
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) expected[i] = x[i] - T(0.7);
    const double squares = vec_center(x.data(), T(0.7), y.data(), n);
    EXPECT_EQ(y, expected) << n;
    EXPECT_EQ(squares, reduce_sum_squares(expected.data(), n)) << n;
    expected.back() = x.back();
    EXPECT_EQ(vec_center(x.data(), T(0.7), x.data(), n), squares) << "in place, " << n;
    EXPECT_EQ(x, expected) << "in place, " << n;
  }
}

TEST_P(VecNormalize, CenterEqualsTheDefinition) {
  check_center<float>();
  check_center<double>();
}

template <class T>
void check_scale() {
  for (const int64_t n : row_lengths) {
    const std::vector<T> x = drawn_values<T>(n + 1, 2), scale = drawn_values<T>(n + 1, 3),
                         shift = drawn_values<T>(n + 1, 4);
    for (const bool scale_steps : {false, true}) {
      for (const int shift_kind : {0, 1, 2}) {  // none, one, an array
        const bool shift_steps = shift_kind == 2;
        std::vector<T> expected(x);
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
          const T product = x[i] * T(1.3), scaled = product * scale[scale_steps ? i : 0];
          expected[i] = shift_kind == 0 ? scaled : scaled + shift[shift_steps ? i : 0];
        }
        std::vector<T> y(x);
        vec_scale<T>(
            x.data(),
            {T(1.3), scale.data(), scale_steps, shift_kind == 0 ? nullptr : shift.data(), shift_steps},
            y.data(), n);
        EXPECT_EQ(y, expected) << n << " " << scale_steps << " " << shift_kind;
      }
    }
  }
}

TEST_P(VecNormalize, ScaleEqualsTheDefinition) {
  check_scale<float>();
  check_scale<double>();
}

template <class T>
void check_standardize() {
  for (const int64_t n : row_lengths) {
    std::vector<T> x = drawn_values<T>(n + 1, 5), y(x.size(), T(9)), expected(x.size(), T(9));
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const T centered = x[i] - T(0.7), scaled = centered * T(1.3);
      expected[i] = scaled + T(-0.2);
    }
    vec_standardize(x.data(), T(0.7), T(1.3), T(-0.2), y.data(), n);
    EXPECT_EQ(y, expected) << n;
    expected.back() = x.back();
    vec_standardize(x.data(), T(0.7), T(1.3), T(-0.2), x.data(), n);
    EXPECT_EQ(x, expected) << "in place, " << n;
  }
}

TEST_P(VecNormalize, StandardizeEqualsTheDefinition) {
  check_standardize<float>();
  check_standardize<double>();
}

}  // namespace
}  // namespace grurun::kernels
