#include "conformance/memory_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tensor/sanitizers.h"
#include "tests/places/scratch.h"

namespace grurun::conformance {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::size_t most_of_group = std::size_t{48} << 20;

/// A tree like the system's.
class GroupTree {
 public:
  GroupTree() { write("box/cgroup.procs", std::to_string(getpid()) + "\n"); }

  void groups(const std::string& text) const { scratch_.file("proc/self/cgroup", text); }
  void write(const std::string& file, const std::string& text) const {
    scratch_.file("sys/fs/cgroup/" + file, text);
  }
  std::string path(const std::string& file) const { return scratch_.path("sys/fs/cgroup/" + file); }
  std::string read(const std::string& file) const {
    std::ifstream open(path(file));
    return {std::istreambuf_iterator<char>(open), {}};
  }
  GroupPlace place() const { return find_group_place(scratch_.folder()); }

 private:
  tests::Scratch scratch_;
};

TEST(MemoryGroups, AreMadeInVersion2WhereTheControllerIsHandedOn) {
  const GroupTree tree;
  tree.groups("0::/box\n");
  EXPECT_THAT(tree.place().reason, HasSubstr("not handed on"));
  tree.write("box/cgroup.subtree_control", "cpu memory\n");
  EXPECT_EQ(tree.place().version, 2);
  EXPECT_EQ(tree.place().folder, tree.path("box"));
  EXPECT_FALSE(tree.place().counts_processes);
  tree.write("box/cgroup.subtree_control", "memory pids\n");
  EXPECT_TRUE(tree.place().counts_processes);
}

// What a container sees as its root may be the group of the process, or one around it, whose limits are
// others.
TEST(MemoryGroups, AreMadeBelowTheGroupOfThisProcessAlone) {
  const GroupTree tree;
  tree.groups("0::/somewhere/box-1\n");
  tree.write("cgroup.subtree_control", "memory\n");
  tree.write("cgroup.procs", "1\n");
  EXPECT_EQ(tree.place().version, 0);
  tree.write("cgroup.procs", "1\n" + std::to_string(getpid()) + "\n");
  EXPECT_EQ(tree.place().version, 2);
  EXPECT_EQ(tree.place().folder, fs::path(tree.path("box")).parent_path().string());
}

TEST(MemoryGroups, AreMadeInVersion1WhereTheGroupAroundHoldsThem) {
  const GroupTree tree;
  tree.groups("4:memory:/box\n0::/\n");
  tree.write("memory/box/cgroup.procs", std::to_string(getpid()) + "\n");
  tree.write("memory/box/memory.use_hierarchy", "0\n");
  EXPECT_THAT(tree.place().reason, HasSubstr("would not hold"));
  tree.write("memory/box/memory.use_hierarchy", "1\n");
  EXPECT_EQ(tree.place().version, 1);
}

TEST(MemoryGroups, HaveALimitEachAndTellWhatTheKernelKilled) {
  const GroupTree tree;
  tree.groups("0::/box\n");
  tree.write("box/cgroup.subtree_control", "memory pids\n");
  MemoryGroups groups(2, most_of_group, tree.place());
  EXPECT_EQ(groups.version(), 2);
  const std::string second = "box/grurun-" + std::to_string(getpid()) + "-1";
  EXPECT_EQ(tree.read(second + "/memory.max"), std::to_string(most_of_group));
  EXPECT_EQ(tree.read(second + "/memory.swap.max"), "0");
  EXPECT_EQ(tree.read(second + "/pids.max"), "4096");
  EXPECT_FALSE(groups.has_killed(1));
  tree.write(second + "/memory.events", "max 0\noom 0\noom_kill 1\n");
  EXPECT_FALSE(groups.has_killed(1)) << "for the limit of another group";
  tree.write(second + "/memory.events", "max 5\noom 1\noom_kill 2\n");
  EXPECT_TRUE(groups.has_killed(1));
  EXPECT_FALSE(groups.has_killed(1)) << "told before";
  EXPECT_FALSE(groups.has_killed(0));
}

TEST(MemoryGroups, OfNoneNothingIsMade) {
  MemoryGroups groups(1, most_of_group, GroupPlace{});
  EXPECT_EQ(groups.version(), 0);
  EXPECT_FALSE(groups.enter(0));
  EXPECT_FALSE(groups.has_killed(0));
}

/// Groups of this system.
class RealMemoryGroups : public testing::Test {
 protected:
  void SetUp() override {
    if (GRURUN_ASAN || GRURUN_TSAN) GTEST_SKIP() << "the sanitizers take memory of their own";
    place_ = find_group_place();
    if (place_.version == 0) GTEST_SKIP() << "no control groups: " << place_.reason;
    if (MemoryGroups(1, most_of_group, place_).version() == 0) GTEST_SKIP() << "none can be made";
  }

  std::string folder(pid_t maker) const { return place_.folder + "/grurun-" + std::to_string(maker) + "-0"; }

  GroupPlace place_;
};

TEST_F(RealMemoryGroups, AreThereAsLongAsTheirObject) {
  {
    MemoryGroups groups(1, most_of_group, place_);
    EXPECT_TRUE(fs::exists(folder(getpid())));
  }
  EXPECT_FALSE(fs::exists(folder(getpid())));
}

TEST_F(RealMemoryGroups, AreRemovedWhenTheirMakerIsKilled) {
  const pid_t maker = fork();
  if (maker == 0) {
    setpgid(0, 0);
    MemoryGroups groups(1, most_of_group, place_);
    for (;;) pause();
  }
  const auto appears = [&](bool is_there) {
    for (int tries = 0; tries < 500 && fs::exists(folder(maker)) != is_there; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return fs::exists(folder(maker)) == is_there;
  };
  EXPECT_TRUE(appears(true));
  kill(maker, SIGKILL);
  waitpid(maker, nullptr, 0);
  EXPECT_TRUE(appears(false));
}

}  // namespace
}  // namespace grurun::conformance
