// The functions of cells' gates, of one operator or of some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <tuple>

#include "tests/opset/cell_graphs.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Function = std::function<std::string(Builder&, const std::string& x)>;

std::string sigmoid(Builder& b, const std::string& x) {
  return b.one("Sigmoid", {x});
}

Builder gru_of(const Function& of_z, const Function& of_r) {
  Builder b;
  const auto x = b.op("Split", {b.one("MatMul", {"X", b.weight("W", {input_size, 3 * hidden_size})})}, 3);
  const auto h = b.op("Split", {b.one("MatMul", {"H", b.weight("R", {hidden_size, 3 * hidden_size})})}, 3);
  const std::string z = of_z(b, b.add(x[0], h[0]));
  const std::string r = of_r(b, b.add(x[1], h[1]));
  const std::string n = b.one("Tanh", {b.add(x[2], b.mul(r, h[2]))});
  b.add(b.mul(b.one("Sub", {b.number("one", 1), z}), n), b.mul(z, "H"));
  return b;
}

Builder lstm_of(const Function& of_i, const Function& of_o) {
  Builder b;
  const auto x = b.one("MatMul", {"X", b.weight("W", {input_size, 4 * hidden_size})});
  const auto h = b.one("MatMul", {"H", b.weight("R", {hidden_size, 4 * hidden_size})});
  const auto gates = b.op("Split", {b.add(x, h)}, 4);
  const std::string i = of_i(b, gates[0]), f = of_i(b, gates[1]), o = of_o(b, gates[3]);
  const std::string C = b.add(b.mul(f, "C"), b.mul(i, b.one("Softsign", {gates[2]})));
  b.mul(o, b.one("Softsign", {C}));
  return b;
}

std::string clip(Builder& b, const std::string& x, float low, float high) {
  return b.one("Clip",
               {x, b.number(fmt::format("low {}", low), low), b.number(fmt::format("high {}", high), high)});
}

std::string line(Builder& b, float alpha, const std::string& x, float beta) {
  return b.add(b.number("beta", beta), b.mul(x, b.number("alpha", alpha)));
}

std::string relu6(Builder& b, const std::string& x) {
  return clip(b, b.add(x, b.number("three", 3)), 0, 6);
}

TEST(CellFunctions, HardSigmoidHoweverItIsWritten) {
  struct Case {
    const char* what;
    Function function;
    const char* alpha_beta = "alpha 0.2, beta 0.5";
  };
  const char* const sixth = "alpha 0.16666667, beta 0.5";
  const auto with = [](Builder& b, const char* op_type, const std::string& x, float number) {
    return b.one(op_type, {x, b.number(fmt::format("{} {}", op_type, number), number)});
  };
  const Case cases[] = {
      {"HardSigmoid", [](Builder& b, const auto& x) { return b.one("HardSigmoid", {x}); }},
      {"Clip", [](Builder& b, const auto& x) { return clip(b, line(b, 0.2F, x, 0.5F), 0, 1); }},
      {"Clip with attributes",
       [](Builder& b, const auto& x) {
         const std::string made = b.one("Clip", {line(b, 0.2F, x, 0.5F)});
         for (const char* name : {"min", "max"}) {
           Attribute limit;
           limit.name = name;
           limit.type = AttributeType::float_;
           limit.f = name == std::string_view("max") ? 1 : 0;
           b.graph.nodes.back().attributes.push_back(limit);
         }
         return made;
       }},
      {"Min of Max",
       [&](Builder& b, const auto& x) {
         return with(b, "Min", with(b, "Max", line(b, 0.2F, x, 0.5F), 0), 1);
       }},
      {"Max of Min",
       [&](Builder& b, const auto& x) {
         return with(b, "Max", with(b, "Min", line(b, 0.2F, x, 0.5F), 1), 0);
       }},
      {"Min of Relu",
       [&](Builder& b, const auto& x) { return with(b, "Min", b.one("Relu", {line(b, 0.2F, x, 0.5F)}), 1); }},
      {"x / 5 + 1/2",
       [&](Builder& b, const auto& x) { return clip(b, with(b, "Add", with(b, "Div", x, 5), 0.5F), 0, 1); }},
      {"0.2 x alone", [&](Builder& b, const auto& x) { return clip(b, with(b, "Mul", x, 0.2F), 0, 1); },
       "alpha 0.2, beta 0"},
      {"relu6(x + 3) / 6", [&](Builder& b, const auto& x) { return with(b, "Div", relu6(b, x), 6); }, sixth},
      {"relu6(x + 3) * 1/6", [&](Builder& b, const auto& x) { return with(b, "Mul", relu6(b, x), 1.0F / 6); },
       sixth},
      {"3 among the terms of a sum",
       [&](Builder& b, const auto&) {
         const Node sum = b.graph.nodes.back();
         const std::string terms = b.add(sum.inputs[0], b.add(b.number("three", 3), sum.inputs[1]));
         return with(b, "Mul", clip(b, terms, 0, 6), 1.0F / 6);
       },
       sixth},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(found(gru_of(c.function, c.function).graph),
                ElementsAre(fmt::format("unrolled GRU 1 steps 2x5  [HardSigmoid ({}),Tanh] lbr 1 order 'zrh'",
                                        c.alpha_beta)))
        << c.what;
    if (c.what == std::string_view("3 among the terms of a sum")) continue;  // an LSTM's sum is split
    EXPECT_THAT(found(lstm_of(c.function, c.function).graph),
                ElementsAre(fmt::format(
                    "unrolled LSTM 1 steps 2x5  [HardSigmoid ({}),Softsign,Softsign] lbr - order 'ifco'",
                    c.alpha_beta)))
        << c.what;
  }
}

TEST(CellFunctions, WhatIsNoHardSigmoid) {
  struct Case {
    const char* what;
    Function function;
  };
  const Case cases[] = {
      {"relu6 without its sixth", relu6},
      {"another sixth", [](Builder& b, const auto& x) { return b.mul(relu6(b, x), b.number("5th", 0.2F)); }},
      {"from a tenth", [](Builder& b, const auto& x) { return clip(b, line(b, 0.2F, x, 0.5F), 0.1F, 1); }},
      {"from -1", [](Builder& b, const auto& x) { return clip(b, x, -1, 1); }},
      {"six divided by it",
       [](Builder& b, const auto& x) {
         return b.one("Div", {b.number("six", 6), relu6(b, x)});
       }},
      {"no upper limit",
       [](Builder& b, const auto& x) {
         return b.one("Max", {x, b.number("0", 0)});
       }},
      {"a limit that is computed",
       [](Builder& b, const auto& x) {
         return b.one("Clip", {x, b.number("0", 0), "one or another"});
       }},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(found(gru_of(c.function, c.function).graph), IsEmpty()) << c.what;
    EXPECT_THAT(found(lstm_of(c.function, c.function).graph), IsEmpty()) << c.what;
  }
}

// The operators have one function for them.
TEST(CellFunctions, GatesOfDifferentFunctionsAreNoLayer) {
  const Function clipped = [](Builder& b, const auto& x) { return clip(b, line(b, 0.2F, x, 0.5F), 0, 1); };
  const Function operators = [](Builder& b, const auto& x) { return b.one("HardSigmoid", {x}); };
  const Function sixths = [](Builder& b, const auto& x) {
    return b.mul(relu6(b, x), b.number("6th", 1.0F / 6));
  };
  for (const auto& [of_z, of_r, same] :
       {std::tuple(Function(sigmoid), clipped, false), std::tuple(clipped, sixths, false),
        std::tuple(clipped, operators, true)}) {
    EXPECT_EQ(found(gru_of(of_z, of_r).graph).size(), same ? 1u : 0u);
    EXPECT_EQ(found(lstm_of(of_z, of_r).graph).size(), same ? 1u : 0u);
  }
}

TEST(CellFunctions, ParametersAreTold) {
  const Function leaky = [](Builder& b, const auto& x) {
    const std::string made = b.one("LeakyRelu", {x});
    Attribute alpha;
    alpha.name = "alpha";
    alpha.type = AttributeType::float_;
    alpha.f = 0.25F;
    b.graph.nodes.back().attributes.push_back(alpha);
    return made;
  };
  EXPECT_THAT(found(gru_of(leaky, leaky).graph),
              ElementsAre("unrolled GRU 1 steps 2x5  [LeakyRelu (alpha 0.25),Tanh] lbr 1 order 'zrh'"));
}

}  // namespace
}  // namespace grurun::opset
