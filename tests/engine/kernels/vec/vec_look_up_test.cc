#include "engine/kernels/vec/vec_look_up.h"

#include <array>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecLookUp : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecLookUp);

TEST_P(VecLookUp, FindsEveryEntryAtEveryLength) {
  alignas(16) std::array<uint8_t, 256> table;
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(i * 37 + 11);
  std::vector<uint8_t> x(777);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 91);
  for (const size_t n : {size_t{0}, size_t{1}, size_t{63}, size_t{130}, x.size()}) {
    std::vector<uint8_t> y(n + 1, 77);
    vec_look_up(table.data(), x.data(), y.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], table[x[i]]) << "n=" << n << " element " << i;
    EXPECT_EQ(y[n], 77);
  }
  std::vector<uint8_t> in_place = x;
  vec_look_up(table.data(), in_place.data(), in_place.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(in_place[i], table[x[i]]);
}

}  // namespace
}  // namespace grurun::kernels
