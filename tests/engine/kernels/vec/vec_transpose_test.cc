#include "engine/kernels/vec/vec_transpose.h"

#include <algorithm>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecTranspose : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecTranspose);

template <class T>
void check_transpose() {
  for (const int64_t rows : {1, 2, 3, 4, 8, 15, 16, 33, 70}) {
    for (const int64_t columns : {1, 2, 5, 8, 16, 31, 64, 67}) {
      const int64_t from_step = columns + 3, to_step = rows + 2;
      std::vector<T> from(static_cast<size_t>(rows * from_step)),
          to(static_cast<size_t>(columns * to_step), T(99));
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7 % 251);
      std::vector<T> expected = to;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j)
          expected[static_cast<size_t>(j * to_step + i)] = from[static_cast<size_t>(i * from_step + j)];
      }
      vec_transpose(from.data(), from_step, rows, columns, to.data(), to_step);
      ASSERT_EQ(to, expected) << rows << " x " << columns << " of " << sizeof(T) << " bytes";
      // Steps backwards: the rows from the last to the first.
      std::fill(to.begin(), to.end(), T(99));
      vec_transpose(from.data() + (rows - 1) * from_step, -from_step, rows, columns, to.data(), to_step);
      for (int64_t j = 0; j < columns; ++j) {
        const auto row = expected.begin() + j * to_step;
        std::reverse(row, row + rows);
      }
      ASSERT_EQ(to, expected) << rows << " x " << columns << " of " << sizeof(T) << " bytes, backwards";
    }
  }
}

TEST_P(VecTranspose, EveryWidthEqualsTheDefinition) {
  check_transpose<uint8_t>();
  check_transpose<uint16_t>();
  check_transpose<uint32_t>();
  check_transpose<uint64_t>();
  check_transpose<float>();
  check_transpose<double>();
}

template <class T>
void check_alternate() {
  for (const int64_t n : {0, 1, 2, 3, 8, 16, 17, 31, 64, 65, 130}) {
    std::vector<T> from(static_cast<size_t>(n == 0 ? 0 : 2 * n - 1)), to(static_cast<size_t>(n + 1), T(99));
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7 % 251);
    std::vector<T> expected = to;
    for (size_t i = 0; i < from.size(); i += 2) expected[i / 2] = from[i];
    vec_every_second(from.data(), n, to.data());
    ASSERT_EQ(to, expected) << n << " of " << sizeof(T) << " bytes";
  }
}

TEST_P(VecTranspose, EverySecondElementEndsWithTheLast) {
  check_alternate<uint8_t>();
  check_alternate<uint16_t>();
  check_alternate<uint32_t>();
  check_alternate<uint64_t>();
}

}  // namespace
}  // namespace grurun::kernels
