// Functions of a cell's gates that are written as other operators.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/opset/cell_graphs.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FoundCells, EveryWayToWriteAHardSigmoid) {
  const auto clip = [](Builder& b, const std::string& x, float low, float high) {
    return b.one("Clip",
                 {x, b.number(fmt::format("low{}", low), low), b.number(fmt::format("high{}", high), high)});
  };
  const auto times = [](Builder& b, const std::string& x, float factor) {
    return b.mul(b.number(fmt::format("factor{}", factor), factor), x);
  };
  const auto plus = [](Builder& b, const std::string& x, float term) {
    return b.add(x, b.number(fmt::format("term{}", term), term));
  };
  const auto clip_6 = [](Builder& b, const std::string& x, float low, float high) {
    const std::string y = b.one("Clip", {x});
    for (const auto& [name, value] : {std::pair("min", low), std::pair("max", high)}) {
      Attribute bound;
      bound.name = name;
      bound.type = AttributeType::float_;
      bound.f = value;
      b.graph.nodes.back().attributes.push_back(bound);
    }
    return y;
  };
  struct Case {
    const char* what;
    Function function;
    bool is_one;
  };
  const std::vector<Case> table = {
      {"relu6(x + 3) * (1 / 6)",
       [&](Builder& b, auto& x) { return times(b, clip(b, plus(b, x, 3), 0, 6), 1.F / 6); }, true},
      {"relu6(x + 3) / 6",
       [&](Builder& b, auto& x) {
         return b.one("Div", {clip(b, plus(b, x, 3), 0, 6), b.number("six", 6)});
       },
       true},
      {"Clip(0.2x + 0.5, 0, 1)",
       [&](Builder& b, auto& x) { return clip(b, plus(b, times(b, x, 0.2F), 0.5F), 0, 1); }, true},
      {"the same, Clip of version 6",
       [&](Builder& b, auto& x) { return clip_6(b, plus(b, times(b, x, 0.2F), 0.5F), 0, 1); }, true},
      {"Clip(0.2x, 0, 1)", [&](Builder& b, auto& x) { return clip(b, times(b, x, 0.2F), 0, 1); }, true},
      {"relu6(x + 3)", [&](Builder& b, auto& x) { return clip(b, plus(b, x, 3), 0, 6); }, false},
      {"6 / relu6(x + 3)",
       [&](Builder& b, auto& x) {
         return b.one("Div", {b.number("six", 6), clip(b, plus(b, x, 3), 0, 6)});
       },
       false},
      {"Clip(x, -1, 1)", [&](Builder& b, auto& x) { return clip(b, x, -1, 1); }, false},
      {"Clip(x, 0)",
       [&](Builder& b, auto& x) {
         return b.one("Clip", {x, b.number("low", 0)});
       },
       false},
  };
  for (const Case& row : table) {
    Builder b;
    std::string H = "H0";
    for (const std::int64_t i : {0, 1})
      H = keras_step(b, b.one("Gather", {"X", b.integers(fmt::format("i{}", i), {i})}), H, row.function);
    const auto lines = found(b.graph);
    if (row.is_one)
      EXPECT_THAT(lines, ElementsAre("unrolled GRU 2 steps 2x5 forward [HardSigmoid,Tanh] lbr 0 order ''"))
          << row.what;
    else
      EXPECT_THAT(lines, IsEmpty()) << row.what;
  }
}

}  // namespace
}  // namespace grurun::opset
