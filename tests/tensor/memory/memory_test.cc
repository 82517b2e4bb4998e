#include "tensor/memory/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/sanitizers.h"

namespace grurun::memory {
namespace {

TEST(Block, IsAlignedAndCounted) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{5} << 20}) {
    const std::size_t before = in_use();
    const Block block(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
    EXPECT_EQ(in_use() - before, bytes);
  }
}

#if !GRURUN_ASAN && !GRURUN_TSAN
// Runs of a model ask for the same blocks again and again, a large one freed before the next of its size is
// asked for, with smaller ones between them.
TEST(Block, FreedOnesServeTheSameRequestAgain) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // as in the command line
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::vector<std::unique_ptr<Block>> between;
  const auto round = [&] {
    auto first = std::make_unique<Block>(std::size_t{9} << 20);
    between.push_back(std::make_unique<Block>(100'000));
    auto second = std::make_unique<Block>(std::size_t{11} << 20);
    between.push_back(std::make_unique<Block>(100'000));
    first = std::make_unique<Block>(std::size_t{9} << 20);
  };
  for (int i = 0; i < 3; ++i) round();
  const std::size_t before = mallinfo2().arena;
  for (int i = 0; i < 20; ++i) round();
  EXPECT_LT(mallinfo2().arena - before, std::size_t{16} << 20);
}
#endif

#ifdef __linux__
TEST(Repeated, HoldsTheUnitThroughoutAndTakesNoMore) {
  const std::array<float, 2> unit = {1.5f, -2.0f};
  const std::size_t before = in_use(), count = (std::size_t{9} << 18) + 7;
  const auto memory = repeated(std::as_bytes(std::span(unit)), count * sizeof(float));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0u);
  EXPECT_EQ(in_use(), before);
  const std::span values(static_cast<const float*>(memory.get()), count);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += values[i] != unit[i % 2];
  EXPECT_EQ(wrong, 0u);
}

TEST(Repeated, LeavesTheProcessItsMappings) {
  const std::array<std::byte, 1> unit = {std::byte{7}};
  const std::size_t half = std::size_t{9} << 28;
  auto first = repeated(unit, half);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(repeated(unit, half), nullptr);  // together more than are ours to take
  EXPECT_EQ(repeated(unit, SIZE_MAX), nullptr);
  EXPECT_EQ(repeated(unit, 0), nullptr);
  first.reset();
  EXPECT_NE(repeated(unit, half), nullptr);
}
#endif

TEST(Heap, WhatIsTakenBesidesBlocksCountsBeyondAFreePart) {
  constexpr std::ptrdiff_t mebibyte = std::ptrdiff_t{1} << 20;
  set_limit(in_use() + mebibyte);
  EXPECT_TRUE(note_heap(free_heap));
  EXPECT_FALSE(note_heap(2 * mebibyte));
  EXPECT_TRUE(note_heap(mebibyte / 2));
  EXPECT_THROW(Block(std::size_t{mebibyte}), Error);
  EXPECT_TRUE(note_heap(-mebibyte / 2));
  EXPECT_NO_THROW(Block(std::size_t{mebibyte}));
  EXPECT_TRUE(note_heap(-free_heap));
  set_limit(0);
}

}  // namespace
}  // namespace grurun::memory
