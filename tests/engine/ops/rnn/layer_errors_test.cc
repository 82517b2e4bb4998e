// Every shape, type, length and attribute that breaks a rule ends in an Error that names the rule, before
// anything is computed.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/kernels/machine/parallel.h"
#include "tests/engine/ops/rnn/layer_case.h"

namespace grurun::engine::testing {
namespace {

oracle::Layer small_layer(const std::string& op) {
  oracle::Layer layer;
  layer.op = op;
  layer.seq_length = 4;
  layer.batch_size = 3;
  layer.input_size = 2;
  layer.hidden_size = 5;
  layer.has_sequence_lens = true;
  layer.sequence_lens = {4, 2, 0};
  fill_layer(layer, DType::float32, {.P = true}, 11);
  return layer;
}

OneNode small_node(const std::string& op, std::int64_t opset = 14) {
  return node_of(small_layer(op), opset, DType::float32);
}

void set(OneNode& node, onnx_io::Attribute attribute) {
  for (auto& have : node.attributes) {
    if (have.name == attribute.name) {
      have = attribute;
      return;
    }
  }
  node.attributes.push_back(std::move(attribute));
}

Value zeros(const Shape& shape, DType dtype = DType::float32) {
  return Tensor::zeros(dtype, shape);
}
Value lengths(const std::vector<std::int32_t>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

struct Broken {
  const char* what;
  const char* op;
  std::int64_t opset;
  std::function<void(OneNode&)> damage;
  const char* message;  // a part of it
  ErrorKind kind = ErrorKind::invalid_model;
};

std::vector<Broken> broken_nodes() {
  const auto input = [](std::size_t index, Value value) {
    return [=](OneNode& node) { node.inputs[index] = value; };
  };
  const auto attribute = [](onnx_io::Attribute made) { return [=](OneNode& node) { set(node, made); }; };
  const auto names = [](std::vector<std::string> list) { return attr("activations", std::move(list)); };
  return {
      {"X of rank 2", "GRU", 14, input(0, zeros({4, 2})),
       "X is [4,2]; it must be [seq_length, batch_size, input_size]"},
      {"X of rank 4", "GRU", 14, input(0, zeros({4, 3, 2, 1})), "X is [4,3,2,1]"},
      {"X of rank 2 with layout 1", "RNN", 14,
       [](OneNode& n) {
         set(n, attr("layout", 1));
         n.inputs[0] = zeros({4, 2});
       },
       "[batch_size, seq_length, input_size] under layout 1"},
      {"W without num_directions", "GRU", 14, input(1, zeros({15, 2})),
       "W is [15,2]; it must be [num_directions, 3*hidden_size, input_size]"},
      {"W of another input_size", "GRU", 14, input(1, zeros({1, 15, 3})),
       "W is [1,15,3]; it must be [num_directions, 3*hidden_size, input_size], here [1,15,2]"},
      {"W of another hidden_size", "RNN", 14, input(1, zeros({1, 6, 2})),
       "W is [1,6,2]; it must be [num_directions, hidden_size, input_size], here [1,5,2]"},
      {"W for two directions", "LSTM", 14, input(1, zeros({2, 20, 2})), "here [1,20,2]"},
      {"W with GRU's three gates", "LSTM", 14, input(1, zeros({1, 15, 2})),
       "[num_directions, 4*hidden_size, input_size]"},
      {"R of rank 2", "GRU", 14, input(2, zeros({15, 5})),
       "R is [15,5]; it must be [num_directions, 3*hidden_size, hidden_size]"},
      {"R transposed", "GRU", 14, input(2, zeros({1, 5, 15})), "R is [1,5,15]"},
      {"R of another gate count", "LSTM", 14, input(2, zeros({1, 15, 5})),
       "R is [1,15,5]; it must be [num_directions, 4*hidden_size, hidden_size], here [1,20,5]"},
      {"R against hidden_size", "GRU", 14, attribute(attr("hidden_size", 6)),
       "hidden_size is 6, but W [1,15,2], R [1,15,5], B [1,30]"},
      {"hidden_size negative", "GRU", 14, attribute(attr("hidden_size", -5)), "hidden_size is -5"},
      {"one direction's weights for two", "GRU", 14, attribute(attr("direction", "bidirectional")),
       "W is [1,15,2]; it must be [num_directions, 3*hidden_size, input_size], here [2,15,2]"},
      {"B of half the size", "GRU", 14, input(3, zeros({1, 15})),
       "B is [1,15]; it must be [num_directions, 6*hidden_size], here [1,30]"},
      {"B without num_directions", "RNN", 14, input(3, zeros({10})),
       "B is [10]; it must be [num_directions, 2*hidden_size]"},
      {"B of LSTM", "LSTM", 14, input(3, zeros({1, 20})), "[num_directions, 8*hidden_size], here [1,40]"},
      {"sequence_lens too short", "GRU", 14, input(4, lengths({4, 2})),
       "sequence_lens is [2]; it must be [batch_size], here [3]"},
      {"sequence_lens of rank 2", "GRU", 14, input(4, zeros({1, 3}, DType::int32)), "sequence_lens is [1,3]"},
      {"sequence_lens beyond seq_length", "GRU", 14, input(4, lengths({4, 5, 0})),
       "sequence_lens[1] is 5; it must be in 0 to seq_length, here 4"},
      {"sequence_lens negative", "LSTM", 14, input(4, lengths({4, 1, -1})), "sequence_lens[2] is -1"},
      {"sequence_lens smallest", "RNN", 14, input(4, lengths({-2147483647 - 1, 1, 1})), "sequence_lens[0]"},
      {"sequence_lens of int64", "RNN", 14, input(4, zeros({3}, DType::int64)), "int64"},
      {"initial_h of another batch", "GRU", 14, input(5, zeros({1, 2, 5})),
       "initial_h is [1,2,5]; it must be [num_directions, batch_size, hidden_size], here [1,3,5]"},
      {"initial_h of rank 2", "GRU", 14, input(5, zeros({3, 5})), "initial_h is [3,5]"},
      {"initial_h batch first under layout 0", "GRU", 14, input(5, zeros({3, 1, 5})), "initial_h is [3,1,5]"},
      {"initial_h direction first under layout 1", "GRU", 14,
       [](OneNode& n) {
         set(n, attr("layout", 1));
         n.inputs[0] = zeros({3, 4, 2});
       },
       "initial_h is [1,3,5]; it must be [batch_size, num_directions, hidden_size] under layout 1, here "
       "[3,1,5]"},
      {"initial_c of another size", "LSTM", 14, input(6, zeros({1, 3, 4})), "initial_c is [1,3,4]"},
      {"P of four gates", "LSTM", 14, input(7, zeros({1, 20})),
       "P is [1,20]; it must be [num_directions, 3*hidden_size], here [1,15]"},
      {"W of another type", "GRU", 14, input(1, zeros({1, 15, 2}, DType::float64)), "double"},
      {"P of another type", "LSTM", 14, input(7, zeros({1, 15}, DType::float16)), "float16"},
      {"initial_h of another type", "RNN", 14, input(5, zeros({1, 3, 5}, DType::float64)), "double"},
      {"layout 2", "GRU", 14, attribute(attr("layout", 2)), "layout is 2; it must be 0 or 1"},
      {"layout before 14", "GRU", 7, attribute(attr("layout", 1)), "layout"},
      {"output_sequence from 7", "GRU", 7, attribute(attr("output_sequence", 1)), "output_sequence"},
      {"linear_before_reset in GRU-1", "GRU", 1, attribute(attr("linear_before_reset", 1)),
       "linear_before_reset"},
      {"input_forget in GRU", "GRU", 14, attribute(attr("input_forget", 1)), "input_forget"},
      {"an attribute of no version", "LSTM", 14, attribute(attr("zoneout", 1)), "zoneout"},
      {"direction unknown", "GRU", 14, attribute(attr("direction", "backward")),
       "'backward'; it must be forward, reverse or bidirectional"},
      {"direction in capitals", "GRU", 14, attribute(attr("direction", "FORWARD")), "'FORWARD'"},
      {"GRU-1's spelling in another version", "GRU", 7, attribute(attr("direction", "foward")), "'foward'"},
      {"GRU-1's spelling in LSTM-1", "LSTM", 1, attribute(attr("direction", "foward")), "'foward'"},
      {"direction of another type", "GRU", 14, attribute(attr("direction", 1)), "direction"},
      {"clip of 0", "GRU", 14, attribute(attr("clip", 0.0f)), "clip is 0"},
      {"clip negative", "LSTM", 14, attribute(attr("clip", -1.0f)), "clip is -1"},
      {"clip NaN", "RNN", 14, attribute(attr("clip", std::nanf(""))), "clip is nan"},
      {"input_forget of 2", "LSTM", 14, attribute(attr("input_forget", 2)),
       "input_forget is 2; it must be 0 or 1"},
      {"activation unknown", "GRU", 14, attribute(names({"Sigmoid", "Swish"})),
       "'Swish', which is none of the functions in GRU-14's text; there are Relu, Tanh, Sigmoid, Affine"},
      {"activations too few", "LSTM", 14, attribute(names({"Sigmoid", "Tanh"})),
       "lists 2 functions; LSTM-14 with one direction needs 3"},
      {"activations too many", "GRU", 14, attribute(names({"Sigmoid", "Tanh", "Sigmoid", "Tanh"})),
       "lists 4 functions; GRU-14 with one direction needs 2"},
      {"three activations for RNN", "RNN", 14, attribute(names({"Tanh", "Tanh", "Tanh"})),
       "lists 3 functions"},
      {"Affine without values", "GRU", 14, attribute(names({"Affine", "Tanh"})),
       "Affine needs a value in activation_alpha"},
      {"Affine without beta", "GRU", 14,
       [names](OneNode& n) {
         set(n, names({"Affine", "Tanh"}));
         set(n, attr("activation_alpha", std::vector<float>{0.5f}));
       },
       "Affine needs a value in activation_beta"},
      {"ScaledTanh after another took the value", "GRU", 14,
       [names](OneNode& n) {
         set(n, names({"LeakyRelu", "ScaledTanh"}));
         set(n, attr("activation_alpha", std::vector<float>{0.5f}));
         set(n, attr("activation_beta", std::vector<float>{0.5f}));
       },
       "ScaledTanh needs a value in activation_alpha"},
      {"no R", "GRU", 14, [](OneNode& n) { n.inputs[2] = Value{}; },
       "input 2 (R) is omitted, but it is required [GRU021]"},
      {"Y_h left out in GRU-1", "GRU", 1, [](OneNode& n) { n.outputs = {true}; }, "output"},
      {"bfloat16 before 22", "GRU", 14,
       [](OneNode& n) { n = node_of(small_layer("GRU"), 14, DType::bfloat16); }, "bfloat16"},
  };
}

std::string outcome(const Broken& broken, bool constant_weights) {
  OneNode node = small_node(broken.op, broken.opset);
  broken.damage(node);
  if (constant_weights) node.initializers = {false, true, true, true, false, false, false, true};
  try {
    run_node(node);
  } catch (const Error& error) {
    if (error.kind() != broken.kind) return std::string("has another kind: ") + error.what();
    if (std::string(error.what()).find(broken.message) == std::string::npos) {
      return std::string("says otherwise: ") + error.what();
    }
    return "";
  } catch (const std::exception& other) {
    return std::string("throws something else: ") + other.what();
  }
  return "ran";
}

TEST(LayerErrors, NameTheRule) {
  std::string failures;
  for (const Broken& broken : broken_nodes()) {
    for (const bool constant_weights : {false, true}) {
      const std::string found = outcome(broken, constant_weights);
      if (!found.empty()) {
        failures += fmt::format("{} ({}, {} weights): {}\n", broken.what, broken.op,
                                constant_weights ? "constant" : "fed", found);
      }
    }
  }
  EXPECT_EQ(failures, "");
}

// An X without elements carries sizes that nothing could hold.
TEST(LayerErrors, HugeDimensionsBesideAZeroEndInALimit) {
  constexpr std::int64_t huge = std::int64_t{1} << 61;
  for (const Shape& X : {Shape{0, huge, 2}, Shape{huge, huge, 0}, Shape{4, huge, 0}}) {
    for (const int layout : {0, 1}) {
      for (const bool all_outputs : {false, true}) {
        oracle::Layer layer = small_layer("GRU");
        OneNode node = node_of(layer, 14, DType::float32);
        node.inputs.resize(4);
        node.inputs[0] = zeros(layout == 1 ? Shape{X[1], X[0], X[2]} : X);
        if (X[2] == 0) node.inputs[1] = zeros({1, 15, 0});
        node.attributes.push_back(attr("layout", layout));
        node.outputs = {true, all_outputs};
        try {
          run_node(node);
          ADD_FAILURE() << X.to_string() << layout << all_outputs << " ran";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::limit) << error.what();
        }
      }
    }
  }
}

// Also where threads each take rows through all steps.
TEST(LayerErrors, StepsCountAsIterationsOnAnyNumberOfThreads) {
  oracle::Layer l;
  l.op = "GRU";
  l.seq_length = 12;
  l.batch_size = 32;
  l.input_size = 20;
  l.hidden_size = 40;
  fill_layer(l, DType::float32, {}, 3);
  for (const int threads : {1, 2, 3}) {
    kernels::set_threads(threads);
    const auto run_within = [&](std::int64_t iterations) {
      RunOptions options;
      options.max_iterations = iterations;
      run_node(node_of(l, 22, DType::float32), options);
    };
    EXPECT_NO_THROW(run_within(12)) << threads;
    EXPECT_THROW(run_within(11), Error) << threads;
  }
  kernels::set_threads(1);
}

TEST(LayerErrors, TheUndamagedNodesRun) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const std::int64_t opset : {1, 7, 14, 22})
      EXPECT_NO_THROW(run_node(small_node(op, opset))) << op << opset;
  }
}

}  // namespace
}  // namespace grurun::engine::testing
