#include "opset/cells/found_cells.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/opset/cell_graphs.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Layer {
  int steps = 4;
  bool reverse = false;
  bool linear_before_reset = true;  // GRU
  std::string prefix = {};
  std::string X = "X";
  std::string H0 = "H0";
};

// As PyTorch takes a layer apart: the input's products are made for the whole sequence before it is split.
std::vector<std::string> inputs_of_steps(Builder& b, const Layer& layer, int gates) {
  const std::string& p = layer.prefix;
  const std::string W = b.one("Transpose", {b.weight(p + "W", {gates * hidden_size, input_size})});
  std::string products = b.add(b.one("MatMul", {layer.X, W}), b.weight(p + "Wb", {gates * hidden_size}));
  if (layer.reverse) {
    products = b.one("Slice", {products, b.integers(p + "start", {-1}), b.integers(p + "end", {-100}),
                               b.integers(p + "axis", {0}), b.integers(p + "step", {-1})});
  }
  std::vector<std::string> inputs = b.op("Split", {products}, layer.steps);
  for (std::string& input : inputs) input = b.one("Squeeze", {input});
  return inputs;
}

std::string recurrent_product(Builder& b, const Layer& layer, int gates, const std::string& H, bool first) {
  const std::string R = layer.prefix + "R";
  const std::string Rb = layer.prefix + "Rb";
  if (first) {
    b.weight(R, {gates * hidden_size, hidden_size});
    b.weight(Rb, {gates * hidden_size});
  }
  return b.gemm(H, R, Rb);
}

void unrolled_gru(Builder& b, const Layer& layer) {
  std::string H = layer.H0;
  bool first = true;
  for (const std::string& input : inputs_of_steps(b, layer, 3)) {
    const auto x = b.op("Split", {input}, 3);
    const auto h = b.op("Split", {recurrent_product(b, layer, 3, H, first)}, 3);
    const std::string r = b.one("Sigmoid", {b.add(h[0], x[0])});
    const std::string z = b.one("Sigmoid", {b.add(h[1], x[1])});
    const std::string n = b.one("Tanh", {b.add(x[2], b.mul(h[2], r))});
    H = b.one("Unsqueeze", {b.add(b.mul(b.one("Sub", {H, n}), z), n)});
    first = false;
  }
}

void unrolled_lstm(Builder& b, const Layer& layer) {
  std::string H = "H0";
  std::string C = "C0";
  bool first = true;
  for (const std::string& input : inputs_of_steps(b, layer, 4)) {
    const auto gates = b.op("Split", {b.add(recurrent_product(b, layer, 4, H, first), input)}, 4);
    const std::string i = b.one("Sigmoid", {gates[0]});
    const std::string f = b.one("Sigmoid", {gates[1]});
    const std::string c = b.one("Tanh", {gates[2]});
    const std::string o = b.one("Sigmoid", {gates[3]});
    C = b.add(b.mul(f, C), b.mul(i, c));
    H = b.mul(o, b.one("Tanh", {C}));
    first = false;
  }
}

// As PyTorch 2 exports a loop over an LSTMCell: W is multiplied in each step, and in the first, whose state
// is 0, the product with R is a constant.
void lstm_cells_from_zero(Builder& b, std::int64_t width, int steps) {
  b.weight("W", {4 * hidden_size, width});
  b.weight("R", {4 * hidden_size, hidden_size});
  b.weight("Wb", {4 * hidden_size});
  b.weight("Rb", {4 * hidden_size});
  std::string H;
  std::string C = b.weight("C0", {3, hidden_size});
  for (int t = 0; t < steps; ++t) {
    const std::string x = b.one("Gather", {"X", b.number(fmt::format("t{}", t), 0)});
    const std::string of_h = H.empty() ? b.weight("HR", {3, 4 * hidden_size}) : b.gemm(H, "R", "Rb");
    const auto gates = b.op("Split", {b.add(b.gemm(x, "W", "Wb"), of_h)}, 4);
    C = b.add(b.mul(b.one("Sigmoid", {gates[1]}), C),
              b.mul(b.one("Sigmoid", {gates[0]}), b.one("Tanh", {gates[2]})));
    H = b.mul(b.one("Sigmoid", {gates[3]}), b.one("Tanh", {C}));
  }
}

void unrolled_rnn(Builder& b, const Layer& layer) {
  std::string H = "H0";
  bool first = true;
  for (const std::string& input : inputs_of_steps(b, layer, 1)) {
    H = b.one("Relu", {b.add(recurrent_product(b, layer, 1, H, first), input)});
    first = false;
  }
}

TEST(FoundCells, UnrolledLayers) {
  for (const int steps : {1, 2, 3, 4, 7}) {
    for (const bool reverse : {false, true}) {
      const std::string direction = steps == 1 ? "" : reverse ? "reverse" : "forward";
      const Layer layer{.steps = steps, .reverse = reverse};
      Builder gru;
      unrolled_gru(gru, layer);
      EXPECT_THAT(found(gru.graph),
                  ElementsAre(fmt::format("unrolled GRU {} steps 2x5 {} [Sigmoid,Tanh] lbr 1 order 'rzh'",
                                          steps, direction)));
      Builder lstm;
      unrolled_lstm(lstm, layer);
      EXPECT_THAT(
          found(lstm.graph),
          ElementsAre(fmt::format("unrolled LSTM {} steps 2x5 {} [Sigmoid,Tanh,Tanh] lbr - order 'ifco'",
                                  steps, direction)));
      Builder rnn;
      unrolled_rnn(rnn, layer);
      if (steps == 1) {
        EXPECT_THAT(found(rnn.graph), IsEmpty()) << "one step is a dense layer";
      } else {
        EXPECT_THAT(
            found(rnn.graph),
            ElementsAre(fmt::format("unrolled RNN {} steps 2x5 {} [Relu] lbr - order ''", steps, direction)));
      }
    }
  }
}

TEST(FoundCells, AnInitialStateMayBeAConstant) {
  for (const int steps : {2, 3}) {
    for (const bool node : {false, true}) {
      Builder b;
      std::string zeros = b.weight("zeros", {3, hidden_size});
      if (node) {
        zeros = b.one("Constant", {});
        Attribute value;
        value.name = "value";
        value.type = AttributeType::tensor;
        value.tensors.push_back(Tensor::zeros(DType::float32, {3, hidden_size}));
        b.graph.nodes.back().attributes.push_back(value);
      }
      unrolled_gru(b, {.steps = steps, .H0 = zeros});
      EXPECT_THAT(found(b.graph),
                  ElementsAre(fmt::format(
                      "unrolled GRU {} steps 2x5 forward [Sigmoid,Tanh] lbr 1 order 'rzh'", steps)));
    }
  }
  Builder b;
  const std::string first = keras_step(b, "X", b.weight("zeros", {3, hidden_size}));
  EXPECT_THAT(found(b.graph), SizeIs(1)) << first;
}

TEST(FoundCells, AStepFromZeroIsNoLayerByItself) {
  for (const std::int64_t width : {input_size, hidden_size, hidden_size + 1}) {
    Builder b;
    lstm_cells_from_zero(b, width, 4);
    std::vector<std::string> lines = found(b.graph);
    ASSERT_THAT(lines, SizeIs(1)) << width;
    EXPECT_THAT(lines[0], testing::StartsWith(fmt::format("unrolled LSTM 3 steps {}x5", width)));
  }
  Builder alone;
  lstm_cells_from_zero(alone, input_size, 1);
  EXPECT_THAT(found(alone.graph), IsEmpty());
}

TEST(FoundCells, TwoDirectionsOfOneSequenceAreAPair) {
  Builder b;
  unrolled_gru(b, {.prefix = "f"});
  unrolled_gru(b, {.reverse = true, .prefix = "r"});
  unrolled_gru(b, {.reverse = true, .prefix = "other", .X = "Z"});
  const auto cells = find_cells(b.graph, {});
  ASSERT_THAT(cells, SizeIs(3));
  EXPECT_EQ(cells[0].pair_of, cells[1].where);
  EXPECT_EQ(cells[1].pair_of, cells[0].where);
  EXPECT_EQ(cells[2].pair_of, "");
}

// TorchScript cuts with bounds that it computes of the product's size.
TEST(FoundCells, GatesThatAreCutWhereAShapeSays) {
  Builder b;
  std::map<std::string, ValueType> types;
  const auto chunks = [&](const std::string& product, const std::string& n) {
    types[product] = ValueType::tensor(DType::float32, SymbolicShape{{{}, "batch"}, {3 * hidden_size, ""}});
    const std::string axis = b.integers(n + "axis", {1});
    const std::string size = b.one("Gather", {b.one("Shape", {product}), axis});
    const std::string more = b.add(size, b.integers(n + "two", {2}));
    const std::string each = b.one("Div", {more, b.integers(n + "three", {3})});
    std::vector<std::string> parts;
    std::string begin = b.integers(n + "begin", {0});
    for (std::int64_t i = 1; i <= 3; ++i) {
      const std::string end = b.mul(each, b.integers(fmt::format("{}{}", n, i), {i}));
      parts.push_back(b.one("Slice", {product, begin, end, axis}));
      begin = end;
    }
    return parts;
  };
  const auto x = chunks(b.one("MatMul", {"X", b.weight("W", {input_size, 3 * hidden_size})}), "x");
  const auto h = chunks(b.one("MatMul", {"H", b.weight("R", {hidden_size, 3 * hidden_size})}), "h");
  const std::string z = b.one("Sigmoid", {b.add(x[1], h[1])}), r = b.one("Sigmoid", {b.add(x[0], h[0])});
  const std::string n = b.one("Tanh", {b.add(x[2], b.mul(r, h[2]))});
  b.add(b.mul(b.one("Sub", {b.number("one", 1), z}), n), b.mul(z, "H"));
  EXPECT_THAT(found(b.graph, types),
              ElementsAre("unrolled GRU 1 steps 2x5  [Sigmoid,Tanh] lbr 1 order 'rzh'"));
  EXPECT_THAT(found(b.graph), IsEmpty()) << "no size is known";
  for (Node& node : b.graph.nodes) {
    if (node.op_type == "MatMul") node.op_type = "Gemm";
  }
  EXPECT_THAT(found(b.graph), SizeIs(1)) << "of a Gemm it is";
  for (std::size_t i = 0; i < b.graph.nodes.size(); ++i) {
    if (b.graph.nodes[i].op_type != "Div") continue;
    const std::string number = b.one("Cast", {b.graph.nodes[i].inputs[0]});
    b.graph.nodes[i].inputs[0] = number;
  }
  EXPECT_THAT(found(b.graph), IsEmpty()) << "a quotient of floats";
}

// A step of which a Loop takes the shape alone is none.
TEST(FoundCells, AStepThatOnlyTellsAShape) {
  Builder b;
  unrolled_gru(b, {.steps = 1});
  EXPECT_THAT(found(b.graph), SizeIs(1));
  b.one("Shape", {b.graph.nodes[b.graph.nodes.size() - 2].outputs[0]});
  b.graph.nodes.erase(b.graph.nodes.end() - 2);
  EXPECT_THAT(found(b.graph), IsEmpty());
}

TEST(FoundCells, GatesOfStateAndInputJoined) {
  Builder b;
  const std::string joined = b.one("Concat", {"x", "H"});
  const auto gates = b.op(
      "Split",
      {b.one("Sigmoid",
             {b.add(b.one("MatMul", {joined, b.weight("K", {input_size + hidden_size, 2 * hidden_size})}),
                    b.weight("Kb", {2 * hidden_size}))})},
      2);
  const std::string candidate =
      b.one("Tanh", {b.one("MatMul", {b.one("Concat", {"x", b.mul(gates[0], "H")}),
                                      b.weight("C", {input_size + hidden_size, hidden_size})})});
  const std::string next =
      b.add(b.mul(gates[1], "H"), b.mul(b.one("Sub", {b.number("one", 1), gates[1]}), candidate));
  const auto type = ValueType::tensor(DType::float32, SymbolicShape{{{}, "batch"}, {hidden_size, ""}});
  for (const std::map<std::string, ValueType>& types : {std::map<std::string, ValueType>{}, {{next, type}}})
    EXPECT_THAT(found(b.graph, types),
                ElementsAre("unrolled GRU 1 steps 2x5  [Sigmoid,Tanh] lbr 0 order 'rz'"));
}

// The reset gate comes before the product, so that R of h stands apart from that of z and r, and W does not.
TEST(FoundCells, SizesWhereTheWeightsHaveDifferentWidths) {
  for (const std::int64_t width :
       {std::int64_t{1}, input_size, hidden_size, 2 * hidden_size, 3 * hidden_size}) {
    Builder b;
    const auto x = b.op("Split", {b.one("MatMul", {"x", b.weight("W", {width, 3 * hidden_size})})}, 3);
    const auto h = b.op("Split", {b.one("MatMul", {"H", b.weight("R", {hidden_size, 2 * hidden_size})})}, 2);
    const std::string z = b.one("Sigmoid", {b.add(x[0], h[0])});
    const std::string r = b.one("Sigmoid", {b.add(x[1], h[1])});
    const std::string n = b.one(
        "Tanh", {b.add(x[2], b.one("MatMul", {b.mul(r, "H"), b.weight("Rh", {hidden_size, hidden_size})}))});
    b.add(b.mul(b.one("Sub", {b.number("one", 1), z}), n), b.mul(z, "H"));
    EXPECT_THAT(found(b.graph), ElementsAre(fmt::format(
                                    "unrolled GRU 1 steps {}x5  [Sigmoid,Tanh] lbr 0 order 'zr'", width)));
  }
}

TEST(FoundCells, WhatIsNoCell) {
  Builder dense;
  std::string x = "X";
  for (int i = 0; i < 5; ++i)
    x = dense.one("Tanh", {dense.one("Gemm", {x, dense.weight(fmt::format("w{}", i), {5, 5})})});
  EXPECT_THAT(found(dense.graph), IsEmpty()) << "dense layers";
  Builder gated;
  const std::string g = gated.one("Sigmoid", {gated.one("MatMul", {"X", gated.weight("w", {5, 5})})});
  gated.mul(g, gated.one("Tanh", {gated.one("MatMul", {"X", gated.weight("v", {5, 5})})}));
  gated.add(gated.mul("X", g), gated.mul(gated.one("Sub", {gated.number("one", 1), g}), "Y"));
  EXPECT_THAT(found(gated.graph), IsEmpty()) << "gates without a reset gate";
}

TEST(FoundCells, EndsForGraphsThatAreNone) {
  Builder b;
  b.op("Identity", {"n0_0"});
  b.op("Add", {"n1_0", "n1_0"});
  b.op("Tanh", {"n2_0"});
  b.op("Split", {"n3_0"});
  b.op("Add", {"n3_0", "n3_0"});
  EXPECT_THAT(found(b.graph), IsEmpty());
}

}  // namespace
}  // namespace grurun::opset
