#include "engine/kernels/vec/vec_compare.h"

#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecCompare : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecCompare);

constexpr int64_t lengths[] = {0, 1, 3, 7, 8, 16, 31, 64, 65, 130, 200};

/// Few different numbers, so that many are equal; of floats some are NaN, infinities and zeros of both signs.
template <class T>
std::vector<T> numbers(int64_t n, uint64_t seed) {
  std::vector<T> some{T(0), T(1), static_cast<T>(-1), std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest()};
  if constexpr (std::numeric_limits<T>::has_infinity) {
    some.insert(some.end(),
                {T(-0.0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()});
  }
  std::mt19937_64 draw(seed);
  std::vector<T> x(static_cast<size_t>(n + 1));
  for (T& v : x) v = some[draw() % some.size()];
  return x;
}

/// What run(y) makes of n elements, and that it leaves the one after them alone.
template <class Run, class Definition>
void check(int64_t n, const Run& run, const Definition& definition) {
  const auto y = std::make_unique<bool[]>(static_cast<size_t>(n + 1));
  y[static_cast<size_t>(n)] = true;
  run(y.get());
  for (int64_t i = 0; i < n; ++i)
    EXPECT_EQ(y[static_cast<size_t>(i)], definition(static_cast<size_t>(i))) << i;
  EXPECT_TRUE(y[static_cast<size_t>(n)]);
}

template <class T>
void check_all() {
  for (const int64_t n : lengths) {
    SCOPED_TRACE(testing::Message() << n << " elements");
    const std::vector<T> a = numbers<T>(n, 1), b = numbers<T>(n, 2);
    const T *A = a.data(), *B = b.data();
    check(
        n, [&](bool* y) { vec_equal(A, B, y, n); }, [&](size_t i) { return a[i] == b[i]; });
    check(
        n, [&](bool* y) { vec_less(A, B, y, n); }, [&](size_t i) { return a[i] < b[i]; });
    check(
        n, [&](bool* y) { vec_less_equal(A, B, y, n); }, [&](size_t i) { return a[i] <= b[i]; });
    for (const T still : numbers<T>(7, 3)) {
      check(
          n, [&](bool* y) { vec_equal(A, still, y, n); }, [&](size_t i) { return a[i] == still; });
      check(
          n, [&](bool* y) { vec_not_equal(A, still, y, n); }, [&](size_t i) { return a[i] != still; });
      check(
          n, [&](bool* y) { vec_less(A, still, y, n); }, [&](size_t i) { return a[i] < still; });
      check(
          n, [&](bool* y) { vec_less(still, B, y, n); }, [&](size_t i) { return still < b[i]; });
      check(
          n, [&](bool* y) { vec_less_equal(A, still, y, n); }, [&](size_t i) { return a[i] <= still; });
      check(
          n, [&](bool* y) { vec_less_equal(still, B, y, n); }, [&](size_t i) { return still <= b[i]; });
    }
  }
}

TEST_P(VecCompare, EveryTypeEqualsTheDefinition) {
  check_all<float>();
  check_all<double>();
  check_all<int32_t>();
  check_all<int64_t>();
}

}  // namespace
}  // namespace grurun::kernels
