// What must hold for any recurrent layer, whatever its numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/ops/rnn/layer_case.h"
#include "tests/sample.h"

namespace grurun::engine::testing {
namespace {

struct Shapes {
  const char* op;
  const char* direction;
  int layout;
};

class LayerProperties : public ::testing::TestWithParam<Shapes> {
 protected:
  // Ragged, with a row of length 0, none in the order of their lengths.
  static oracle::Layer layer(std::uint64_t seed) {
    oracle::Layer made;
    made.op = GetParam().op;
    made.direction = GetParam().direction;
    made.layout = GetParam().layout;
    made.seq_length = 6;
    made.batch_size = 5;
    made.input_size = 3;
    made.hidden_size = 19;
    made.has_sequence_lens = true;
    made.sequence_lens = {2, 6, 0, 5, 1};
    fill_layer(made, DType::float32, {.P = true}, seed);
    return made;
  }
};

std::size_t x_at(const oracle::Layer& l, int t, int n) {
  return static_cast<std::size_t>((l.layout == 1 ? n * l.seq_length + t : t * l.batch_size + n) *
                                  l.input_size);
}
std::size_t y_at(const oracle::Layer& l, int t, int d, int n) {
  const int D = l.directions();
  return static_cast<std::size_t>(
      (l.layout == 1 ? (n * l.seq_length + t) * D + d : (t * D + d) * l.batch_size + n) * l.hidden_size);
}
std::size_t state_at(const oracle::Layer& l, int d, int n) {
  return static_cast<std::size_t>((l.layout == 1 ? n * l.directions() + d : d * l.batch_size + n) *
                                  l.hidden_size);
}

std::vector<double> slice(const std::vector<double>& from, std::size_t at, int count) {
  return {from.begin() + static_cast<std::ptrdiff_t>(at),
          from.begin() + static_cast<std::ptrdiff_t>(at) + count};
}

bool backward(const oracle::Layer& l, int d) {
  return l.direction == "reverse" || d == 1;
}

TEST_P(LayerProperties, Y_hIsTheLastValidY) {
  const oracle::Layer l = layer(1);
  const auto out = results(l);
  for (int d = 0; d < l.directions(); ++d) {
    for (int n = 0; n < l.batch_size; ++n) {
      const int length = l.sequence_lens[static_cast<std::size_t>(n)];
      const auto last = slice(out[1], state_at(l, d, n), l.hidden_size);
      if (length == 0) {
        EXPECT_EQ(last, std::vector<double>(last.size(), 0.0));
      } else {
        EXPECT_EQ(last, slice(out[0], y_at(l, backward(l, d) ? 0 : length - 1, d, n), l.hidden_size))
            << d << n;
      }
      for (int t = length; t < l.seq_length; ++t) {
        EXPECT_EQ(slice(out[0], y_at(l, t, d, n), l.hidden_size), std::vector<double>(last.size(), 0.0))
            << t << n;
      }
    }
  }
}

TEST_P(LayerProperties, WhatLiesBeyondALengthHasNoInfluence) {
  oracle::Layer l = layer(2);
  const auto clean = results(l);
  for (const double poison : {nan, std::numeric_limits<double>::infinity(), -1e30}) {
    for (int n = 0; n < l.batch_size; ++n) {
      for (int t = l.sequence_lens[static_cast<std::size_t>(n)]; t < l.seq_length; ++t) {
        for (int i = 0; i < l.input_size; ++i) l.X[x_at(l, t, n) + static_cast<std::size_t>(i)] = poison;
      }
    }
    EXPECT_EQ(results(l), clean) << poison;
  }
}

TEST_P(LayerProperties, ARowDoesNotDependOnItsNeighbours) {
  const oracle::Layer l = layer(3);
  const auto together = results(l);
  for (int n = 0; n < l.batch_size; ++n) {
    oracle::Layer alone = l;
    alone.batch_size = 1;
    alone.sequence_lens = {l.sequence_lens[static_cast<std::size_t>(n)]};
    alone.X.clear();
    for (int t = 0; t < l.seq_length; ++t) {
      const auto x = slice(l.X, x_at(l, t, n), l.input_size);
      alone.X.insert(alone.X.end(), x.begin(), x.end());
    }
    alone.initial_h.clear();
    alone.initial_c.clear();
    for (int d = 0; d < l.directions(); ++d) {
      const auto h = slice(l.initial_h, state_at(l, d, n), l.hidden_size);
      alone.initial_h.insert(alone.initial_h.end(), h.begin(), h.end());
      if (l.initial_c.empty()) continue;
      const auto c = slice(l.initial_c, state_at(l, d, n), l.hidden_size);
      alone.initial_c.insert(alone.initial_c.end(), c.begin(), c.end());
    }
    const auto single = results(alone);
    for (int d = 0; d < l.directions(); ++d) {
      for (std::size_t j = 0; j < static_cast<std::size_t>(l.hidden_size); ++j) {
        EXPECT_NEAR(single[1][state_at(alone, d, 0) + j], together[1][state_at(l, d, n) + j], 2e-6) << n;
        for (int t = 0; t < l.seq_length; ++t) {
          EXPECT_NEAR(single[0][y_at(alone, t, d, 0) + j], together[0][y_at(l, t, d, n) + j], 2e-6) << n << t;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerProperties,
                         ::testing::Values(Shapes{"RNN", "forward", 0}, Shapes{"RNN", "bidirectional", 1},
                                           Shapes{"GRU", "forward", 1}, Shapes{"GRU", "reverse", 0},
                                           Shapes{"GRU", "bidirectional", 0}, Shapes{"GRU", "reverse", 1},
                                           Shapes{"LSTM", "forward", 0}, Shapes{"LSTM", "reverse", 1},
                                           Shapes{"LSTM", "bidirectional", 0}),
                         [](const auto& info) {
                           return std::string(info.param.op) + info.param.direction +
                                  std::to_string(info.param.layout);
                         });

TEST(Layer, ReverseIsForwardOnFlippedInputFlipped) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    oracle::Layer reverse = plain_layer(op, 4);
    reverse.direction = "reverse";
    oracle::Layer forward = plain_layer(op, 4);
    for (int t = 0; t < forward.seq_length; ++t) {
      const auto from =
          reverse.X.begin() + static_cast<std::ptrdiff_t>(x_at(reverse, forward.seq_length - 1 - t, 0));
      std::copy_n(from, forward.batch_size * forward.input_size,
                  forward.X.begin() + static_cast<std::ptrdiff_t>(x_at(forward, t, 0)));
    }
    const auto flipped = results(reverse), plain = results(forward);
    EXPECT_EQ(flipped[1], plain[1]) << op;
    for (int t = 0; t < forward.seq_length; ++t) {
      EXPECT_EQ(slice(flipped[0], y_at(reverse, forward.seq_length - 1 - t, 0, 0), 10),
                slice(plain[0], y_at(forward, t, 0, 0), 10))
          << op << t;
    }
  }
}

TEST(Layer, AStateCarriedOverASplitGivesTheWhole) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    const oracle::Layer whole = plain_layer(op, 5);
    oracle::Layer first = whole, second = whole;
    first.seq_length = 3;
    second.seq_length = 4;
    first.X.assign(whole.X.begin(), whole.X.begin() + 3 * 2 * 3);
    second.X.assign(whole.X.begin() + 3 * 2 * 3, whole.X.end());
    const auto head = results(first);
    second.initial_h = head[1];
    if (whole.op == "LSTM") second.initial_c = head[2];
    const auto tail = results(second), all = results(whole);
    for (std::size_t i = 0; i < tail[1].size(); ++i) EXPECT_NEAR(tail[1][i], all[1][i], 2e-6) << op;
  }
}

// The first step of a layer without initial_h needs no product with R, except where 0 times a weight is NaN.
TEST(Layer, AnInfiniteWeightCountsFromTheFirstStep) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    oracle::Layer layer = plain_layer(op, 5);
    layer.initial_h.clear();
    layer.R[1] = std::numeric_limits<double>::infinity();
    const std::vector<double> Y = results(layer)[0];
    EXPECT_TRUE(std::isnan(Y[0])) << op << ": " << Y[0];
  }
}

TEST(Layer, NoInitialStateIsAStateOfZeros) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    oracle::Layer with = plain_layer(op, 5), without = with;
    without.initial_h.clear();
    std::fill(with.initial_h.begin(), with.initial_h.end(), 0.0);
    EXPECT_EQ(results(without), results(with)) << op;
    with.initial_h.back() = 1;
    EXPECT_NE(results(without), results(with)) << op;
  }
}

// More steps and rows than are projected at once.
TEST(Layer, LongSequencesOfLargeBatches) {
  Sample sample(5);
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"reverse", "bidirectional"}) {
      for (const bool ragged : {false, true}) {
        for (const int batch_size : {1, 37}) {
          if (!sample.takes_next()) continue;
          oracle::Layer l;
          l.op = op;
          l.direction = direction;
          l.seq_length = batch_size == 1 ? 5000 : 150;
          l.batch_size = batch_size;
          l.input_size = 2;
          l.hidden_size = 24;
          l.has_sequence_lens = ragged;
          for (int n = 0; ragged && n < batch_size; ++n)
            l.sequence_lens.push_back(l.seq_length - (n * 31) % 149);
          fill_layer(l, DType::float32, {}, 6);
          const auto out = run_node(node_of(l, 14, DType::float32));
          const oracle::Result expected = oracle::compute(l);
          EXPECT_EQ(difference("Y", out[0].tensor(), expected.Y, shape_of_Y(l)), "")
              << op << direction << ragged;
          EXPECT_EQ(difference("Y_h", out[1].tensor(), expected.Y_h, shape_of_state(l)), "")
              << op << direction;
        }
      }
    }
  }
}

TEST(Layer, DimensionsOfZero) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "bidirectional"}) {
      for (int zero = 0; zero < 4; ++zero) {
        oracle::Layer l = plain_layer(op, 7);
        l.direction = direction;
        (zero == 0 ? l.seq_length : zero == 1 ? l.batch_size : zero == 2 ? l.input_size : l.hidden_size) = 0;
        fill_layer(l, DType::float32, {.initial_h = false, .initial_c = false}, 7);
        OneNode node = node_of(l, 14, DType::float32);
        // fill_layer leaves an input without elements out; here they are present and empty.
        node.inputs.resize(3);
        if (!l.B.empty()) {
          node.inputs.push_back(
              tensor_of(l.B, {l.directions(), 2 * l.gates() * l.hidden_size}, DType::float32));
        }
        const auto out = run_node(node);
        const oracle::Result expected = oracle::compute(l);
        EXPECT_EQ(difference("Y", out[0].tensor(), expected.Y, shape_of_Y(l)), "") << op << zero;
        EXPECT_EQ(difference("Y_h", out[1].tensor(), expected.Y_h, shape_of_state(l)), "") << op << zero;
      }
    }
  }
}

// The same plan again: nothing of a run may stay behind.
TEST(Layer, APlanRunsAgain) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    const oracle::Layer l = plain_layer(op, 14);
    OneNode node = node_of(l, 14, DType::float32);
    node.initializers = {false, true, true, true};
    const auto plan = make_plan(one_node_model(node));
    const auto first = run_plan(*plan, fed_values(node));
    const auto second = run_plan(*plan, fed_values(node));
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(doubles_of(first[i].tensor()), doubles_of(second[i].tensor())) << op << i;
    }
  }
}

TEST(Layer, StopsWhenTheTimeIsUp) {
  const oracle::Layer l = plain_layer("GRU", 15);
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  try {
    run_node(node_of(l, 14, DType::float32), options);
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
  }
}

}  // namespace
}  // namespace grurun::engine::testing
