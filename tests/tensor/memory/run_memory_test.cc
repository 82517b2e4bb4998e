#include "tensor/memory/run_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "tensor/memory/memory.h"
#include "tensor/sanitizers.h"
#include "tensor/tensor.h"

namespace grurun::memory {
namespace {

using Blocks = std::vector<std::optional<Block>>;

/// One step: takes a block of each size, then gives back those whose numbers are listed.
struct Step {
  std::vector<std::size_t> take;
  std::vector<std::size_t> give_back;
};

/// Runs the steps; the blocks that are left are returned.
Blocks run(RunMemory& memory, const std::vector<Step>& steps) {
  const RunMemory::Run within(&memory);
  Blocks blocks(64);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    memory.begin_step(i);
    for (const std::size_t bytes : steps[i].take) {
      blocks[taken].emplace(bytes);
      std::memset(blocks[taken]->data(), static_cast<int>(taken), bytes);
      ++taken;
    }
    for (std::size_t j = 0; j < taken; ++j) {
      if (!blocks[j]) continue;
      const auto* bytes = static_cast<const unsigned char*>(blocks[j]->data());
      for (std::size_t k = 0; k < blocks[j]->size(); ++k) EXPECT_EQ(bytes[k], j) << "block " << j;
    }
    for (const std::size_t number : steps[i].give_back) blocks[number].reset();
  }
  return blocks;
}

// A chain with a branch: 0 lives to the end of step 3, 5 outlives the run.
const std::vector<Step> branched = {
    {{4000}, {}}, {{4000, 640}, {2}}, {{8000}, {1}}, {{100, 4000}, {0, 3, 4}}};

TEST(RunMemory, LaysOutWhatIsHeldTogether) {
  RunMemory memory;
  memory.record();
  run(memory, branched);
  EXPECT_EQ(memory.size(), 0u);
  memory.assign_places();
  // At most 16000 bytes are held together, in step 2; the last block has 4000 of its own.
  EXPECT_GE(memory.size(), 20000u);
  const std::size_t before = in_use();
  for (int i = 0; i < 3; ++i) {
    const Blocks left = run(memory, branched);
    EXPECT_EQ(in_use(), before) << "a block was not in its place";
  }
#if !GRURUN_ASAN
  EXPECT_LE(memory.size(), 20000u + 6 * 64);
#endif
}

TEST(RunMemory, NeverWritesOverWhatIsHeld) {
  RunMemory memory;
  memory.record();
  run(memory, branched);
  memory.assign_places();
  const Blocks kept = run(memory, branched);
  std::vector<Step> hoarding = branched;
  for (Step& step : hoarding) step.give_back.clear();
  const Blocks all = run(memory, hoarding);  // checks every block in every step
  const Blocks others = run(memory, branched);
  const auto still = [](const Block& block, int value) {
    const auto* bytes = static_cast<const unsigned char*>(block.data());
    return std::all_of(bytes, bytes + block.size(), [&](unsigned char byte) { return byte == value; });
  };
  EXPECT_TRUE(still(*kept[5], 5));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(still(*all[static_cast<std::size_t>(i)], i));
}

TEST(RunMemory, OtherSizesAndStepsAreServedToo) {
  RunMemory memory;
  memory.record();
  run(memory, branched);
  memory.assign_places();
  std::vector<Step> larger = branched;
  larger[1].take = {9000, 1, 2000};
  larger[1].give_back = {};
  larger.push_back({{50, 60}, {}});
  run(memory, larger);
  run(memory, {{{}, {}}, {{10}, {}}});
  run(memory, branched);
}

TEST(RunMemory, BlocksOutliveTheirArea) {
  const std::size_t before = in_use();
  {
    Blocks left;
    {
      RunMemory memory;
      memory.record();
      run(memory, branched);
      memory.assign_places();
      left = run(memory, branched);
      memory.forget();
      EXPECT_LT(in_use(), before + 5000) << "only the area of the block that is left stays";
      run(memory, branched);
    }
    EXPECT_EQ(static_cast<const unsigned char*>(left[5]->data())[3999], 5);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(RunMemory, RandomLifetimes) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    std::vector<Step> steps(10);
    std::vector<std::size_t> live;
    std::size_t taken = 0;
    for (Step& step : steps) {
      for (auto n = random() % 5; n-- > 0;) {
        step.take.push_back(random() % (random() % 2 == 0 ? 100 : 3000));
        live.push_back(taken++);
      }
      while (!live.empty() && random() % 3 != 0) {
        const std::size_t at = random() % live.size();
        step.give_back.push_back(live[at]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    RunMemory memory;
    memory.record();
    run(memory, steps);
    memory.assign_places();
    const std::size_t before = in_use();
    for (int i = 0; i < 2; ++i) {
      const Blocks left = run(memory, steps);
      EXPECT_EQ(in_use(), before);
    }
  }
}

TEST(RunMemory, ALimitRefusesTheArea) {
  RunMemory memory;
  memory.record();
  run(memory, branched);
  set_limit(in_use() + 10000);
  EXPECT_THROW(memory.assign_places(), Error);
  set_limit(0);
  memory.forget();
  EXPECT_EQ(memory.size(), 0u);
  run(memory, branched);
}

}  // namespace
}  // namespace grurun::memory
