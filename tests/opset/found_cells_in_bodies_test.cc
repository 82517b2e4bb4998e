// Cells in the bodies of Loop and Scan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/opset/cell_graphs.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;

TEST(FoundCells, ACellInALoop) {
  for (const bool reverse : {false, true}) {
    Builder body;
    body.graph.inputs = {{"i", {}}, {"cond", {}}, {"H", {}}};
    const std::string index = reverse ? body.one("Sub", {body.integers("last", {9}), "i"}) : "i";
    const std::string next = keras_step(body, body.one("Gather", {"X", index}), "H");
    body.graph.outputs = {
        {body.one("Identity", {"cond"}), {}}, {next, {}}, {body.one("Identity", {next}), {}}};
    Builder b;
    b.integers("M", {10});
    b.op("Loop", {"M", "", "H0"}, 2);
    b.graph.nodes.back().attributes.push_back(body_of(body));
    EXPECT_THAT(found(b.graph),
                ElementsAre(fmt::format("Loop GRU 10 steps 2x5 {} [Sigmoid,Tanh] lbr 0 order ''",
                                        reverse ? "reverse" : "forward")));
  }
}

TEST(FoundCells, ALoopOfLessThanNoStep) {
  Builder body;
  body.graph.inputs = {{"i", {}}, {"cond", {}}, {"H", {}}};
  const std::string next = keras_step(body, body.one("Gather", {"X", "i"}), "H");
  body.graph.outputs = {{body.one("Identity", {"cond"}), {}}, {next, {}}};
  Builder b;
  b.integers("M", {-3});
  b.op("Loop", {"M", "", "H0"}, 1);
  b.graph.nodes.back().attributes.push_back(body_of(body));
  EXPECT_THAT(found(b.graph), ElementsAre("Loop GRU 0 steps 2x5 forward [Sigmoid,Tanh] lbr 0 order ''"));
}

// As Keras masks: each step is chosen or the old state kept; tf2onnx writes the choice as a sum.
TEST(FoundCells, ALoopWhoseStepsAreMasked) {
  using Choice = std::string (*)(Builder&, const std::string&);  // of a step or the state H
  struct Case {
    Choice choose;
    bool masked;
  };
  const Case cases[] = {
      {[](Builder& b, const std::string& step) {
         return b.one("Where", {"m", step, "H"});
       },
       true},
      {[](Builder& b, const std::string& step) {
         return b.one("Where", {"m", "H", step});
       },
       true},
      {[](Builder& b, const std::string& step) {
         const std::string rest = b.one("Cast", {b.one("Not", {"m"})});
         return b.add(b.mul(b.one("Cast", {"m"}), step), b.mul("H", rest));
       },
       true},
      {[](Builder& b, const std::string& step) {
         return b.one("Where", {"m", step, "other"});
       },
       false},
      // A leaky or gated RNN is no masked one.
      {[](Builder& b, const std::string& step) {
         const std::string rest = b.one("Sub", {b.number("one", 1), "m"});
         return b.add(b.mul("m", step), b.mul(rest, "H"));
       },
       false},
  };
  for (const Case& c : cases) {
    Builder body;
    body.graph.inputs = {{"i", {}}, {"cond", {}}, {"H", {}}};
    const std::string product =
        body.one("MatMul", {body.one("Gather", {"X", "i"}), body.weight("W", {input_size, hidden_size})});
    const std::string of_h = body.one("MatMul", {"H", body.weight("R", {hidden_size, hidden_size})});
    const std::string next = c.choose(body, body.one("Tanh", {body.add(product, of_h)}));
    body.graph.outputs = {{body.one("Identity", {"cond"}), {}}, {next, {}}};
    Builder b;
    b.integers("M", {10});
    b.op("Loop", {"M", "", "H0"}, 1);
    b.graph.nodes.back().attributes.push_back(body_of(body));
    const std::vector<std::string> expected = {"Loop RNN 10 steps 2x5 forward [Tanh] lbr - order '' masked"};
    EXPECT_EQ(found(b.graph), c.masked ? expected : std::vector<std::string>{});
  }
}

TEST(FoundCells, ALoopThatMayEndEarlier) {
  Builder body;
  body.graph.inputs = {{"i", {}}, {"cond", {}}, {"H", {}}};
  const std::string next = keras_step(body, body.one("Gather", {"X", "i"}), "H");
  body.graph.outputs = {{body.one("Less", {body.one("ReduceSum", {next}), "limit"}), {}}, {next, {}}};
  Builder b;
  b.integers("M", {10});
  b.op("Loop", {"M", "", "H0"}, 1);
  b.graph.nodes.back().attributes.push_back(body_of(body));
  EXPECT_THAT(found(b.graph), ElementsAre("Loop GRU <=10 steps 2x5 forward [Sigmoid,Tanh] lbr 0 order ''"));
}

// As tf2onnx writes a Keras GRU: weights and a counter are states of the Loop, and gates are parts along two
// axes, one of them whole.
TEST(FoundCells, ALoopThatIsHandedItsWeights) {
  for (const std::string turned : {"", "ReverseSequence"}) {
    Builder body;
    body.graph.inputs = {{"i", {}}, {"cond", {}}, {"t", {}}, {"H", {}}, {"W", {}}, {"R", {}}};
    const std::string W = "W", R = "R";
    const auto gates = [&](const std::string& product) {
      std::vector<std::string> parts;
      for (std::int64_t gate = 0; gate < 3; ++gate) {
        const std::string n = fmt::format("{}_{}", product, gate);
        const std::int64_t end = gate == 2 ? 2147483647 : (gate + 1) * hidden_size;
        parts.push_back(
            body.one("Slice", {product, body.integers(n + "s", {0, gate * hidden_size}),
                               body.integers(n + "e", {2147483647, end}), body.integers(n + "a", {0, 1})}));
      }
      return parts;
    };
    const auto of_x = gates(body.one("MatMul", {body.one("Gather", {"X", "t"}), W}));
    const auto of_h = gates(body.one("MatMul", {"H", R}));
    const std::string z = body.one("Sigmoid", {body.add(of_x[0], of_h[0])});
    const std::string r = body.one("Sigmoid", {body.add(of_x[1], of_h[1])});
    const std::string h = body.one("Tanh", {body.add(of_x[2], body.mul(r, of_h[2]))});
    const std::string next =
        body.add(body.mul(z, "H"), body.mul(body.one("Sub", {body.number("one", 1), z}), h));
    const std::string t = body.add("t", body.integers("step", {1}));
    body.graph.outputs = {{body.one("Identity", {"cond"}), {}}, {t, {}}, {next, {}}, {W, {}}, {R, {}}};
    Builder b;
    b.integers("M", {10});
    b.integers("begin", {0});
    b.weight("weights of X", {input_size, 3 * hidden_size});
    b.weight("weights of H", {hidden_size, 3 * hidden_size});
    if (!turned.empty()) b.op(turned, {"given", "lengths"});
    for (Node& node : b.graph.nodes) node.outputs = {"X"};
    b.op("Loop", {"M", "", "begin", "H0", "weights of X", "weights of H"}, 4);
    b.graph.nodes.back().attributes.push_back(body_of(body));
    EXPECT_THAT(found(b.graph),
                ElementsAre(fmt::format("Loop GRU 10 steps 2x5 {} [Sigmoid,Tanh] lbr 1 order 'zrh'",
                                        turned.empty() ? "forward" : "reverse")));
  }
}

// As tf2onnx writes a Keras GRU with reset_after=False: the Loop's weights are cut where they are used.
TEST(FoundCells, ALoopThatCutsItsWeights) {
  for (const bool transposed : {false, true}) {
    Builder body;
    body.graph.inputs = {{"i", {}}, {"cond", {}}, {"H", {}}, {"R", {}}};
    const auto columns = [&](std::int64_t begin, std::int64_t end) {
      const std::string n = fmt::format("{}", begin);
      const std::string part =
          body.one("Slice", {"R", body.integers(n + "s", {begin}), body.integers(n + "e", {end}),
                             body.integers(n + "a", {transposed ? 0 : -1})});
      return transposed ? body.one("Transpose", {part}) : part;
    };
    const std::string W = body.weight("W", {input_size, 3 * hidden_size});
    const auto x = body.op("Split", {body.one("MatMul", {body.one("Gather", {"X", "i"}), W})}, 3);
    const auto h = body.op("Split", {body.one("MatMul", {"H", columns(0, 2 * hidden_size)})}, 2);
    const std::string z = body.one("Sigmoid", {body.add(x[0], h[0])});
    const std::string r = body.one("Sigmoid", {body.add(x[1], h[1])});
    const std::string of_h = body.one("MatMul", {body.mul(r, "H"), columns(2 * hidden_size, 2147483647)});
    const std::string n = body.one("Tanh", {body.add(x[2], of_h)});
    const std::string next =
        body.add(body.mul(z, "H"), body.mul(body.one("Sub", {body.number("one", 1), z}), n));
    body.graph.outputs = {{body.one("Identity", {"cond"}), {}}, {next, {}}, {"R", {}}};
    Builder b;
    b.integers("M", {10});
    if (transposed) {
      b.weight("weights of H", {3 * hidden_size, hidden_size});
    } else {
      b.weight("weights of H", {hidden_size, 3 * hidden_size});
    }
    b.op("Loop", {"M", "", "H0", "weights of H"}, 2);
    b.graph.nodes.back().attributes.push_back(body_of(body));
    EXPECT_THAT(found(b.graph),
                ElementsAre("Loop GRU 10 steps 2x5 forward [Sigmoid,Tanh] lbr 0 order 'zrh'"));
  }
}

// Rows that multiply the input and rows that multiply the state, and each gate's columns of them.
TEST(FoundCells, OneConstantOfAllWeights) {
  Builder b;
  b.weight("K", {input_size + hidden_size, 4 * hidden_size});
  const auto gate = [&](std::int64_t place) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      const std::string n = fmt::format("{} {}", place, begin);
      return b.one("Slice", {"K", b.integers(n + "s", {begin, place * hidden_size}),
                             b.integers(n + "e", {end, (place + 1) * hidden_size})});
    };
    return b.add(b.one("MatMul", {"x", part(0, input_size)}),
                 b.one("MatMul", {"H", part(input_size, input_size + hidden_size)}));
  };
  const std::string f = b.one("Sigmoid", {gate(2)}), i = b.one("Sigmoid", {gate(0)});
  const std::string o = b.one("Sigmoid", {gate(1)}), c = b.one("Tanh", {gate(3)});
  b.mul(o, b.one("Tanh", {b.add(b.mul(f, "C"), b.mul(i, c))}));
  const std::vector<std::string> lines = found(b.graph);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::HasSubstr("[Sigmoid,Tanh,Tanh] lbr - order 'iofc'"));
}

TEST(FoundCells, ACellInAScan) {
  for (const int reverse : {0, 1}) {
    Builder body;
    body.graph.inputs = {{"H", {}}, {"x", {}}};
    const std::string next = keras_step(body, "x", "H");
    body.graph.outputs = {{next, {}}, {body.one("Identity", {next}), {}}};
    Builder b;
    b.op("Scan", {"H0", "X"}, 2);
    Attribute count;
    count.name = "num_scan_inputs";
    count.type = AttributeType::int_;
    count.i = 1;
    b.graph.nodes.back().attributes = {body_of(body), count, ints("scan_input_directions", {reverse}),
                                       ints("scan_input_axes", {-2})};
    const auto X = ValueType::tensor(DType::float32, SymbolicShape{{3, ""}, {10, ""}, {2, ""}});
    EXPECT_THAT(found(b.graph, {{"X", X}}),
                ElementsAre(fmt::format("Scan GRU 10 steps 2x5 {} [Sigmoid,Tanh] lbr 0 order ''",
                                        reverse == 1 ? "reverse" : "forward")));
  }
}

}  // namespace
}  // namespace grurun::opset
