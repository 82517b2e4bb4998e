#include "engine/kernels/machine/machine_speed.h"

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class MachineSpeed : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(MachineSpeed);

// No bounds from below that a busy machine could miss, and from above none that a processor could reach.
TEST_P(MachineSpeed, IsThatOfAProcessor) {
  const double flops = measured_flops();
  EXPECT_GT(flops, 1e6);
  EXPECT_LT(flops, 1e13);
  const double cache = measured_read_bandwidth(16 << 10);
  EXPECT_GT(cache, 1e6);
  EXPECT_LT(cache, 1e13);
}

TEST(MachineSpeedSizes, AnySizeCanBeRead) {
  for (const int64_t bytes : {0, 4, 52, 1 << 20}) EXPECT_GT(measured_read_bandwidth(bytes), 0) << bytes;
}

}  // namespace
}  // namespace grurun::kernels
