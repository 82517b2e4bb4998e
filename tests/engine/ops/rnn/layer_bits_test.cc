// How a recurrent layer is computed must not show in any bit of what it gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/kernels/gates/gate_panels.h"
#include "engine/kernels/machine/parallel.h"
#include "tests/engine/kernels/target_fixture.h"
#include "tests/engine/ops/rnn/layer_case.h"
#include "tests/sample.h"

namespace grurun::engine::testing {
namespace {

using LayerThreads = kernels::EveryTarget;
GRURUN_FOR_EVERY_TARGET(LayerThreads);

// They share panels, of large products in pieces, or rows where panels are few and rows many or weights few:
// for all steps, or step by step where rows end at different times.
TEST_P(LayerThreads, DoNotChangeABit) {
  struct Sizes {
    std::int64_t batch_size, hidden_size;
  };
  Sample sample(5);
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "bidirectional"}) {
      for (const auto& [batch_size, hidden_size] :
           {Sizes{1, 260}, Sizes{9, 260}, Sizes{37, 140}, Sizes{40, 260}, Sizes{83, 140}, Sizes{50, 40},
            Sizes{70, 17}, Sizes{83, 16}, Sizes{45, 5}, Sizes{8, 140}, Sizes{15, 54}, Sizes{21, 17},
            Sizes{29, 105}}) {
        oracle::Layer l;
        l.op = op;
        l.direction = direction;
        l.seq_length = 5;
        l.batch_size = batch_size;
        l.input_size = 130;
        l.hidden_size = hidden_size;
        for (const bool ragged : {false, true}) {
          if (!sample.takes_next()) continue;
          l.has_sequence_lens = ragged;
          for (int n = 0; ragged && n < batch_size; ++n) l.sequence_lens.push_back(5 - n % 4);
          l.layout = ragged ? 1 : 0;
          fill_layer(l, DType::float32, {}, 8);
          const auto once = results(l);
          for (const int threads : {2, 3, 5}) {
            kernels::set_threads(threads);
            const auto again = results(l);
            kernels::set_threads(1);
            EXPECT_EQ(again, once) << op << " " << direction << " of " << batch_size << " rows "
                                   << (ragged ? "of different lengths " : "") << "on " << threads
                                   << " threads";
          }
        }
      }
    }
  }
}

// Of other types, and in the other layout.
TEST_P(LayerThreads, MayEachTakeRows) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16}) {
      for (const int layout : {0, 1}) {
        oracle::Layer l;
        l.op = op;
        l.direction = "reverse";
        l.layout = layout;
        l.seq_length = 7;
        l.batch_size = 37;
        l.input_size = 50;
        l.hidden_size = 40;
        fill_layer(l, dtype, {}, 10);
        const auto values = [&] {
          std::vector<std::vector<double>> of_outputs;
          for (const Value& out : run_node(node_of(l, 22, dtype)))
            of_outputs.push_back(doubles_of(out.tensor()));
          return of_outputs;
        };
        const auto once = values();
        kernels::set_threads(2);
        const auto again = values();
        kernels::set_threads(1);
        EXPECT_EQ(again, once) << op << " " << dtype_name(dtype) << ", layout " << layout;
      }
    }
  }
}

// Of a single step, whose X has far more elements than its state: products of one may run on the tile
// registers and those of the other not.
TEST_P(LayerThreads, MayEachTakeRowsOfAStep) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    oracle::Layer l;
    l.op = op;
    l.seq_length = 1;
    l.batch_size = 20;
    l.input_size = 300;
    l.hidden_size = 64;
    fill_layer(l, DType::float32, {}, 12);
    const auto once = results(l);
    kernels::set_threads(2);
    const auto again = results(l);
    kernels::set_threads(1);
    EXPECT_EQ(again, once) << op;
  }
}

// Of more steps than are projected at once, which are not the same for each thread.
TEST(LayerThreads, MayEachTakeRowsOfLongSequences) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    oracle::Layer l;
    l.op = op;
    l.seq_length = 300;
    l.batch_size =
        19;  // nine rows for one thread, which takes more of them at once than the other of its ten
    l.input_size = 7;
    l.hidden_size = 76;
    fill_layer(l, DType::float32, {}, 11);
    const auto once = results(l);
    kernels::set_threads(2);
    const auto again = results(l);
    kernels::set_threads(1);
    EXPECT_EQ(again, once) << op;
  }
}

// Rows of X and states the other way round, `size` elements each.
std::vector<double> rows_reversed(const std::vector<double>& from, int rows, int size) {
  std::vector<double> to(from.size());
  for (std::size_t block = 0; block < from.size(); block += static_cast<std::size_t>(rows * size)) {
    for (int row = 0; row < rows; ++row) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(block) + row * size, size,
                  to.begin() + static_cast<std::ptrdiff_t>(block) + (rows - 1 - row) * size);
    }
  }
  return to;
}

using LayerRows = kernels::EveryTarget;
GRURUN_FOR_EVERY_TARGET(LayerRows);

// Rows fall into tiles of different heights.
TEST_P(LayerRows, GiveTheSameBitsInAnyPlace) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const int hidden_size : {5, 16, 24, 33, 64, 100}) {
      for (const int batch_size : {5, 7, 9, 11, 15, 33}) {
        oracle::Layer l;
        l.op = op;
        l.seq_length = 3;
        l.batch_size = batch_size;
        l.input_size = 21;
        l.hidden_size = hidden_size;
        fill_layer(l, DType::float32, {}, 9);
        oracle::Layer reversed = l;
        reversed.X = rows_reversed(l.X, batch_size, l.input_size);
        reversed.initial_h = rows_reversed(l.initial_h, batch_size, hidden_size);
        reversed.initial_c = rows_reversed(l.initial_c, batch_size, hidden_size);
        const auto out = results(l), of_reversed = results(reversed);
        for (std::size_t i = 0; i < out.size(); ++i) {
          EXPECT_EQ(rows_reversed(of_reversed[i], batch_size, hidden_size), out[i])
              << op << " of " << hidden_size << " units, " << batch_size << " rows, output " << i;
        }
      }
    }
  }
}

// Weights of few rows are compact from the second run on.
class CompactLayer : public ::testing::Test {
 protected:
  CompactLayer() { kernels::tuning::override_most_compact_rows(3); }
  ~CompactLayer() override { kernels::tuning::override_most_compact_rows({}); }
};

TEST_F(CompactLayer, DoesNotChangeABit) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const std::int64_t batch_size : {1, 3, 4}) {
      for (const std::int64_t seq_length : {1, 6}) {
        oracle::Layer l;
        l.op = op;
        l.direction = "bidirectional";
        l.seq_length = seq_length;
        l.batch_size = batch_size;
        l.input_size = 130;
        l.hidden_size = 150;
        fill_layer(l, DType::float32, {}, 8);
        OneNode node = node_of(l, 14, DType::float32);
        node.initializers = {false, true, true, true};
        const auto plan = make_plan(one_node_model(node));
        const auto first = run_plan(*plan, fed_values(node));
        for (int run = 2; run <= 3; ++run) {
          const auto again = run_plan(*plan, fed_values(node));
          for (std::size_t i = 0; i < first.size(); ++i) {
            EXPECT_EQ(doubles_of(first[i].tensor()), doubles_of(again[i].tensor()))
                << op << ", batch_size " << batch_size << ", run " << run << ", output " << i;
          }
        }
      }
    }
  }
}

// Runs side by side, some of them with too many rows for compact weights.
TEST_F(CompactLayer, ServesRunsOfAnyRowsSideBySide) {
  const auto layer_of = [](int batch_size) {
    oracle::Layer l;
    l.op = "GRU";
    l.seq_length = 1;
    l.batch_size = batch_size;
    l.input_size = 40;
    l.hidden_size = 70;
    fill_layer(l, DType::float32, {.initial_h = false}, 8);
    OneNode node = node_of(l, 14, DType::float32);
    node.initializers = {false, true, true, true};
    return node;
  };
  const OneNode few = layer_of(1), many = layer_of(5);
  // The same weights, whatever X is.
  onnx_io::Model model = one_node_model(few);
  model.graph.inputs[0].type = ValueType::tensor(DType::float32);
  const auto results_of = [](const Plan& plan, const OneNode& node) {
    return doubles_of(run_plan(plan, {node.inputs[0]})[0].tensor());
  };
  const auto fresh = [&](const OneNode& node) { return results_of(*make_plan(model), node); };
  const std::vector<double> of_few = fresh(few), of_many = fresh(many);
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto plan = make_plan(model);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller) {
      callers.emplace_back([&, caller] {
        for (int run = 0; run < 9; ++run) {
          const bool is_few = (run + caller) % 9 != 8;
          if (results_of(*plan, is_few ? few : many) != (is_few ? of_few : of_many)) ++wrong;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    ASSERT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace grurun::engine::testing
