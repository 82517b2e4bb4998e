// Nodes drawn from a seed, of every operator and version: a check and a run agree about each
// (fuzz/check_run.h). build/release/bin/draw_nodes draws for as long as asked.
#include "fuzz/check_run.h"

#include <gtest/gtest.h>

#include <random>

#include "tensor/memory/memory.h"

namespace grurun::fuzz {
namespace {

TEST(CheckAndRun, Agree) {
  memory::set_limit(std::size_t{64} << 20);
  for (std::uint64_t draw = 0; draw < 20'000; ++draw) {
    std::mt19937_64 random(draw);
    std::vector<std::uint8_t> bytes(64 << (random() % 6));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 32);
    Drawn drawn(bytes.data(), bytes.size());
    const auto found = difference_in(drawn);
    if (!found) continue;
    ADD_FAILURE() << "draw " << draw << ": " << found->operator_text << "\n  run:   " << found->run
                  << "\n  check: " << found->check;
  }
  memory::set_limit(0);
}

TEST(CheckAndRun, MostOperatorsHaveAnExample) {
  std::size_t made = 0, all = 0;
  for (const auto& versions : all_operators())
    for (const Operator& each : versions) {
      ++all;
      made += example_of(*each.schema) == nullptr ? 0 : 1;
    }
  EXPECT_GT(10 * made, 7 * all);
}

}  // namespace
}  // namespace grurun::fuzz
