// Nodes drawn from a seed, of every operator and version: a check and a run agree about each
// (fuzz/check_run.h). build/release/bin/draw_nodes draws for as long as asked.
#include "fuzz/check_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tensor/memory/memory.h"
#include "tests/places/in_tree.h"

namespace grurun::fuzz {
namespace {

// Operators of which the two still differ: testdata/check_run_differing.txt. "com.microsoft." stands for a
// domain.
std::vector<std::string> differing() {
  std::ifstream file(tests::in_tree("testdata/check_run_differing.txt"));
  std::vector<std::string> operators;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && !line.starts_with('#')) operators.push_back(line.substr(0, line.find(' ')));
  return operators;
}

TEST(CheckAndRun, Agree) {
  const std::vector<std::string> listed = differing();
  EXPECT_FALSE(listed.empty());
  const auto is_listed = [&](const std::string& of) {
    return std::ranges::any_of(listed, [&](const std::string& each) {
      return each.ends_with('.') ? of.starts_with(each) : of == each;
    });
  };
  memory::set_limit(std::size_t{64} << 20);
  for (std::uint64_t draw = 0; draw < 20'000; ++draw) {
    std::mt19937_64 random(draw);
    std::vector<std::uint8_t> bytes(64 << (random() % 6));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 32);
    Drawn drawn(bytes.data(), bytes.size());
    const auto found = difference_in(drawn);
    if (!found || is_listed(found->operator_text)) continue;
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
