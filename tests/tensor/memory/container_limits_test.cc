#include "tensor/memory/container_limits.h"

#include <gtest/gtest.h>

#include "tests/places/scratch.h"

namespace grurun {
namespace {

class Root {
 public:
  void write(const std::string& file, const std::string& text) const { scratch_.file(file, text); }
  ContainerLimits limits() const { return read_container_limits(scratch_.folder()); }

 private:
  tests::Scratch scratch_;
};

TEST(ContainerLimits, NoneWhereNothingLimits) {
  const Root root;
  EXPECT_FALSE(root.limits().memory_bytes);
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "max\n");
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(root.limits().memory_bytes);
  EXPECT_FALSE(root.limits().cpus);
}

TEST(ContainerLimits, TheLeastOfTheGroupsAroundInVersion2) {
  const Root root;
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "3000000\n");
  root.write("sys/fs/cgroup/a/memory.max", "2000000\n");
  root.write("sys/fs/cgroup/memory.max", "max\n");
  root.write("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(root.limits().memory_bytes, 2000000u);
  EXPECT_EQ(root.limits().cpus, 1.5);
}

TEST(ContainerLimits, OfEachControllerInVersion1) {
  const Root root;
  root.write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/box\n1:cpu,cpuacct:/box\n0::/\n");
  root.write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "5000000\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(root.limits().memory_bytes, 5000000u);
  EXPECT_FALSE(root.limits().cpus);
  root.write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(root.limits().cpus, 2);
}

// The path is that of the host, the mount that of the container.
TEST(ContainerLimits, WhereTheGroupIsTheMount) {
  const Root root;
  root.write("proc/self/cgroup", "0::/system.slice/box-1\n");
  root.write("sys/fs/cgroup/memory.max", "7000000\n");
  EXPECT_EQ(root.limits().memory_bytes, 7000000u);
}

}  // namespace
}  // namespace grurun
