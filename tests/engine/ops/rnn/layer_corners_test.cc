// The corners of the recurrent operators that the text of the standard settles by a word.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/ops/rnn/layer_case.h"

namespace grurun::engine::testing {
namespace {

// One unit whose single weight is 1 and that sees x alone: H_1 is f(x).
double activated(const char* name, double x, std::vector<float> alpha = {}, DType dtype = DType::float64) {
  oracle::Layer l;
  l.op = "RNN";
  l.seq_length = l.batch_size = l.input_size = l.hidden_size = 1;
  l.X = {x};
  l.W = {1};
  l.R = {0};
  l.activations = {name};
  l.activation_alpha = std::move(alpha);
  return doubles_of(run_node(node_of(l, 14, dtype))[1].tensor())[0];
}

TEST(Activations, AreStableFarOut) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    EXPECT_EQ(activated("Tanh", 1e4, {}, dtype), 1);
    EXPECT_EQ(activated("Tanh", -1e4, {}, dtype), -1);
    EXPECT_EQ(activated("Sigmoid", 1e4, {}, dtype), 1);
    EXPECT_NEAR(activated("Sigmoid", -1e4, {}, dtype), 0, 1e-30);
    EXPECT_EQ(activated("Softplus", 1e4, {}, dtype), 1e4);
    EXPECT_EQ(activated("Softplus", -1e4, {}, dtype), 0);
    EXPECT_EQ(activated("Elu", -1e4, {}, dtype), -1);
  }
}

TEST(Activations, KeepNaN) {
  for (const char* name :
       {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Elu", "Softsign", "Softplus"}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      EXPECT_TRUE(std::isnan(activated(name, nan, {}, dtype))) << name;
    }
  }
}

TEST(Activations, ThresholdedReluKeepsItsThreshold) {
  EXPECT_EQ(activated("ThresholdedRelu", 1), 1);  // alpha is 1 by default
  EXPECT_EQ(activated("ThresholdedRelu", 0.75), 0);
  EXPECT_EQ(activated("ThresholdedRelu", 0.5, {0.5f}), 0.5);
}

TEST(Activations, NamesInAnyCase) {
  EXPECT_EQ(activated("rElU", -1), 0);
  EXPECT_EQ(activated("hardsigmoid", 1), double{0.2f} + 0.5);
}

TEST(Activations, AnEmptyListMeansTheDefaults) {
  const oracle::Layer l = plain_layer("GRU", 8);
  OneNode node = node_of(l, 14, DType::float32);
  node.attributes.push_back(attr("activations", std::vector<std::string>{}));
  EXPECT_EQ(doubles_of(run_node(node)[0].tensor()), results(l)[0]);
}

TEST(LayerCorners, RnnTakesTheFirstOfTwoActivations) {
  oracle::Layer l = plain_layer("RNN", 9);
  l.activations = {"Relu"};
  const auto one = results(l);
  l.activations = {"Relu", "Affine"};
  EXPECT_EQ(results(l), one);
}

TEST(LayerCorners, AnyLinearBeforeResetButZeroCounts) {
  oracle::Layer l = plain_layer("GRU", 10);
  const auto plain = results(l)[0];
  l.linear_before_reset = true;
  const auto linear = results(l)[0];
  ASSERT_NE(plain, linear);
  for (const int value : {-1, 2, 255}) {
    OneNode node = node_of(l, 14, DType::float32);
    node.attributes.back() = attr("linear_before_reset", value);
    EXPECT_EQ(doubles_of(run_node(node)[0].tensor()), linear) << value;
  }
}

TEST(LayerCorners, OldSpellings) {
  const oracle::Layer l = plain_layer("GRU", 11);
  const auto expected = results(l);
  OneNode node = node_of(l, 1, DType::float32);
  for (auto& attribute : node.attributes) {
    if (attribute.name == "direction") attribute.s = "foward";  // as GRU-1 prints its default
  }
  EXPECT_EQ(doubles_of(run_node(node)[1].tensor()), expected[1]);
  for (const int output_sequence : {0, 1}) {
    OneNode old = node_of(l, 3, DType::float32);
    old.attributes.push_back(attr("output_sequence", output_sequence));
    const auto out = run_node(old);
    EXPECT_EQ(doubles_of(out[0].tensor()), expected[0]) << output_sequence;
    EXPECT_EQ(doubles_of(out[1].tensor()), expected[1]) << output_sequence;
  }
}

TEST(LayerCorners, HiddenSizeMayBeLeftOut) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    const oracle::Layer l = plain_layer(op, 12);
    OneNode node = node_of(l, 7, DType::float32);
    std::erase_if(node.attributes, [](const auto& attribute) { return attribute.name == "hidden_size"; });
    EXPECT_EQ(doubles_of(run_node(node)[0].tensor()), results(l)[0]) << op;
  }
}

TEST(LayerCorners, TheForgetGatesWeightsAreUnusedWhenCoupled) {
  oracle::Layer l = plain_layer("LSTM", 13);
  l.input_forget = true;
  const auto expected = results(l);
  const auto H = static_cast<std::size_t>(l.hidden_size), I = static_cast<std::size_t>(l.input_size);
  std::fill_n(l.W.begin() + static_cast<std::ptrdiff_t>(2 * H * I), H * I, nan);
  std::fill_n(l.R.begin() + static_cast<std::ptrdiff_t>(2 * H * H), H * H, nan);
  EXPECT_EQ(results(l), expected);
}

}  // namespace
}  // namespace grurun::engine::testing
