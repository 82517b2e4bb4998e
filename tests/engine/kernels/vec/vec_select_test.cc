#include "engine/kernels/vec/vec_select.h"

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecSelect : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecSelect);

template <class T>
void check_select() {
  for (const size_t n : {0, 1, 3, 7, 8, 16, 31, 64, 65, 130, 200}) {
    std::mt19937_64 draw(n);
    const auto condition = std::make_unique<bool[]>(n + 1);
    std::vector<T> a(n + 1), b(n + 1);
    for (size_t i = 0; i < n; ++i) condition[i] = draw() % 2 == 0;
    for (T& v : a) v = static_cast<T>(draw());
    for (T& v : b) v = static_cast<T>(draw());
    for (const auto& [a_steps, b_steps] :
         std::vector<std::array<bool, 2>>{{true, true}, {true, false}, {false, true}, {false, false}}) {
      std::vector<T> y(n + 1, 77), expected = y;
      for (size_t i = 0; i < n; ++i) expected[i] = condition[i] ? a[a_steps ? i : 0] : b[b_steps ? i : 0];
      vec_select(condition.get(), a.data(), a_steps, b.data(), b_steps, y.data(), static_cast<int64_t>(n));
      EXPECT_EQ(y, expected) << "n=" << n << " " << a_steps << b_steps;
    }
  }
}

TEST_P(VecSelect, EveryWidthEqualsTheDefinition) {
  check_select<uint8_t>();
  check_select<uint16_t>();
  check_select<uint32_t>();
  check_select<uint64_t>();
}

}  // namespace
}  // namespace grurun::kernels
