// RNN, GRU and LSTM against the oracle, over the product of everything that a node can say: direction,
// layout, linear_before_reset, peepholes, input_forget, sequence_lens, clip, activations and element type.
// What does not multiply (sizes, B, initial states, named outputs, version, constant weights) changes from
// case to case.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "tests/engine/ops/rnn/layer_case.h"
#include "tests/sample.h"

namespace grurun::engine::testing {
namespace {

struct Functions {
  const char* label;
  std::vector<std::string>
      pattern;  // repeated over all functions of all directions; empty: attribute left out
  std::vector<float> alpha, beta;
};

const std::vector<Functions>& all_functions() {
  static const std::vector<Functions> table{
      {"default", {}, {}, {}},
      {"Relu", {"Relu"}, {}, {}},
      {"Tanh", {"Tanh"}, {}, {}},
      {"Sigmoid", {"Sigmoid"}, {}, {}},
      {"LeakyRelu", {"LeakyRelu"}, {}, {}},
      {"ThresholdedRelu", {"ThresholdedRelu"}, {}, {}},
      {"HardSigmoid", {"HardSigmoid"}, {}, {}},
      {"Elu", {"Elu"}, {}, {}},
      {"Softsign", {"Softsign"}, {}, {}},
      {"Softplus", {"Softplus"}, {}, {}},
      {"Affine with values",
       {"Affine"},
       {0.5f, 0.6f, 0.7f, 0.4f, 0.3f, 0.8f},
       {0.1f, -0.1f, 0.2f, 0.3f, 0, 0.05f}},
      {"ScaledTanh with values",
       {"ScaledTanh"},
       {0.5f, 0.6f, 0.7f, 0.4f, 0.3f, 0.8f},
       {1.1f, 0.9f, 0.7f, 1.3f, 1, 0.5f}},
      {"LeakyRelu with values", {"LeakyRelu"}, {0.2f, 0.1f, 0.3f, 0.4f, 0.25f, 0.15f}, {}},
      {"ThresholdedRelu with values", {"ThresholdedRelu"}, {0.2f, -0.1f, 0.3f, 0.35f, 0.25f, -0.5f}, {}},
      {"HardSigmoid with values",
       {"HardSigmoid"},
       {0.3f, 0.25f, 0.4f, 0.5f, 0.1f, 0.6f},
       {0.4f, 0.6f, 0.5f, 0.3f, 0.2f, 0.1f}},
      {"Elu with values", {"Elu"}, {0.7f, 0.5f, 1.2f, 0.9f, 0.3f, 0.1f}, {}},
      {"values for the first only", {"HardSigmoid"}, {0.3f}, {0.4f, 0.3f}},
      {"functions without parameters take no value",
       {"Sigmoid", "LeakyRelu", "Tanh", "HardSigmoid"},
       {0.3f, 0.4f},
       {0.1f, 0.2f}},
      {"alpha and beta are counted apart",
       {"Elu", "HardSigmoid", "Softsign", "LeakyRelu", "ScaledTanh"},
       {0.5f, 0.3f, 0.2f, 0.9f, 0.6f, 0.4f},
       {0.4f, 0.8f, 0.2f}},
      {"values that no function takes", {"Sigmoid", "Softsign"}, {0.5f, 0.3f}, {0.4f}},
  };
  return table;
}

enum class Lens { absent, full, ragged, with_zero };
constexpr std::array<const char*, 4> lens_names{"no sequence_lens", "full lengths", "ragged lengths",
                                                "a length of 0"};

struct Case {
  std::string direction;
  int layout;
  bool flag;       // GRU: linear_before_reset; LSTM: input_forget
  bool peepholes;  // LSTM
  Lens lens;
  bool clip;
  const Functions* functions;
  DType dtype;
  int number;

  std::string label() const {
    return fmt::format("case {}: {} layout {} {} {} {} {} '{}' {}", number, direction, layout,
                       flag ? "flag" : "-", peepholes ? "peepholes" : "-",
                       lens_names[static_cast<std::size_t>(lens)], clip ? "clip" : "-", functions->label,
                       dtype_name(dtype));
  }
};

void for_each_case(const std::string& op, const std::function<void(const Case&)>& run) {
  int number = 0;
  const std::vector<bool> flags = op == "RNN" ? std::vector{false} : std::vector{false, true};
  const std::vector<bool> peepholes = op == "LSTM" ? std::vector{false, true} : std::vector{false};
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    for (const int layout : {0, 1})
      for (const bool flag : flags)
        for (const bool peephole : peepholes)
          for (const Lens lens : {Lens::absent, Lens::full, Lens::ragged, Lens::with_zero})
            for (const bool clip : {false, true})
              for (const Functions& functions : all_functions())
                for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16})
                  run({direction, layout, flag, peephole, lens, clip, &functions, dtype, number++});
}

// A version that can say what the case says.
std::int64_t opset_for(const std::string& op, const Case& c) {
  if (c.dtype == DType::bfloat16) return 22;
  std::vector<std::int64_t> opsets{14, 22};
  if (c.layout == 0) {
    opsets.push_back(7);
    if (!(op == "GRU" && c.flag)) opsets.push_back(1);
    if (op == "GRU") opsets.push_back(3);
  }
  return opsets[static_cast<std::size_t>(c.number) % opsets.size()];
}

std::vector<int> lengths_of(Lens lens, int seq_length, int batch_size, int number) {
  std::vector<int> lengths(static_cast<std::size_t>(batch_size), seq_length);
  if (lens == Lens::full) return lengths;
  for (int n = 0; n < batch_size; ++n)
    lengths[static_cast<std::size_t>(n)] = 1 + (number + n * 2) % seq_length;
  if (lens == Lens::with_zero) lengths[static_cast<std::size_t>(number % batch_size)] = 0;
  return lengths;
}

oracle::Layer layer_of(const std::string& op, const Case& c) {
  struct Sizes {
    int seq_length, batch_size, input_size, hidden_size;
  };
  constexpr std::array<Sizes, 7> sizes{{{4, 3, 3, 4},
                                        {3, 5, 2, 17},
                                        {1, 1, 1, 1},
                                        {5, 1, 4, 9},
                                        {2, 2, 5, 33},
                                        {3, 2, 70, 5},
                                        {1, 3, 64, 18}}};
  const Sizes& size = sizes[static_cast<std::size_t>(c.number / 4) % sizes.size()];
  oracle::Layer layer;
  layer.op = op;
  layer.seq_length = size.seq_length;
  layer.batch_size = size.batch_size;
  layer.input_size = size.input_size;
  layer.hidden_size = size.hidden_size;
  layer.direction = c.direction;
  layer.layout = c.layout;
  layer.linear_before_reset = op == "GRU" && c.flag;
  layer.input_forget = op == "LSTM" && c.flag;
  if (c.clip) layer.clip = 0.4f;
  if (!c.functions->pattern.empty()) {
    const int count = layer.directions() * (op == "LSTM" ? 3 : op == "GRU" ? 2 : 1);
    for (int i = 0; i < count; ++i) {
      layer.activations.push_back(
          c.functions->pattern[static_cast<std::size_t>(i) % c.functions->pattern.size()]);
    }
  }
  layer.activation_alpha = c.functions->alpha;
  layer.activation_beta = c.functions->beta;
  layer.has_sequence_lens = c.lens != Lens::absent;
  if (layer.has_sequence_lens) {
    layer.sequence_lens = lengths_of(c.lens, size.seq_length, size.batch_size, c.number);
  }
  const int odd = c.number / 3;
  const Present present{
      .B = odd % 4 != 0, .initial_h = odd % 3 != 0, .initial_c = odd % 5 < 3, .P = c.peepholes};
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    fill_layer(layer, c.dtype, present, static_cast<std::uint64_t>(c.number) * 100 + seed);
    if (oracle::compute(layer).nearest_jump > 1e-4) return layer;
  }
  throw std::logic_error("every draw falls on a jump of a function: " + c.label());
}

std::vector<bool> named_outputs(const std::string& op, const Case& c, std::int64_t opset) {
  const int pick = c.number / 7;
  if (op == "LSTM") {
    const int mask = 1 + pick % 7;
    return {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0};
  }
  if (op == "GRU" && opset == 1) return {pick % 2 == 0, true};
  const int mask = 1 + pick % 3;
  return {(mask & 1) != 0, (mask & 2) != 0};
}

std::string run_case(const std::string& op, const Case& c) {
  const oracle::Layer layer = layer_of(op, c);
  const std::int64_t opset = opset_for(op, c);
  OneNode node = node_of(layer, opset, c.dtype);
  node.outputs = named_outputs(op, c, opset);
  if (c.number % 2 == 1) node.initializers = {false, true, true, true, false, false, false, true};
  std::vector<Value> outputs;
  try {
    outputs = run_node(node);
  } catch (const Error& error) {
    return error.what();
  }
  const oracle::Result expected = oracle::compute(layer);
  std::string found;
  const auto compare = [&](std::size_t index, const char* name, const std::vector<double>& values,
                           const Shape& shape) {
    if (index >= node.outputs.size() || !node.outputs[index] || !found.empty()) return;
    const Tensor& actual = outputs[index].tensor();
    found = actual.dtype() == c.dtype ? difference(name, actual, values, shape)
                                      : std::string(name) + " has another type";
  };
  compare(0, "Y", expected.Y, shape_of_Y(layer));
  compare(1, "Y_h", expected.Y_h, shape_of_state(layer));
  compare(2, "Y_c", expected.Y_c, shape_of_state(layer));
  return found.empty() ? "" : fmt::format("opset {}: {}", opset, found);
}

class LayerProduct : public ::testing::TestWithParam<const char*> {};

TEST_P(LayerProduct, EqualsTheOracle) {
  const std::string op = GetParam();
  std::vector<std::string> failures;
  int cases = 0;
  Sample sample(11);
  for_each_case(op, [&](const Case& c) {
    ++cases;
    if (!sample.takes_next()) return;
    const std::string failure = run_case(op, c);
    if (!failure.empty()) failures.push_back(c.label() + ": " + failure);
  });
  const int each = 3 * 2 * 4 * 2 * 4 * static_cast<int>(all_functions().size());
  EXPECT_EQ(cases, each * (op == "LSTM" ? 4 : op == "GRU" ? 2 : 1));
  std::string listed;
  for (const std::string& failure : failures) listed += failure + "\n";
  EXPECT_TRUE(failures.empty()) << failures.size() << " of " << cases << " differ:\n" << listed;
}

INSTANTIATE_TEST_SUITE_P(Operators, LayerProduct, ::testing::Values("RNN", "GRU", "LSTM"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace grurun::engine::testing
