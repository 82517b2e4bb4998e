// DynamicQuantizeLSTM against its equations, element by element, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "tensor/error.h"
#include "tests/engine/ops/rnn/quantized_layer.h"

namespace grurun::engine::testing {
namespace {

const std::vector<QuantizedCase>& cases() {
  static const std::vector<QuantizedCase> table = {
      {"plain"},
      {.what = "unsigned", .is_signed = false},
      {.what = "by column", .by_column = true},
      {.what = "unsigned by column", .is_signed = false, .by_column = true},
      {.what = "weights that are fed", .constant = false},
      {.what = "reverse", .direction = "reverse"},
      {.what = "bidirectional", .direction = "bidirectional"},
      {.what = "bidirectional by column", .direction = "bidirectional", .by_column = true, .P = true},
      {.what = "ragged", .lengths = {4, 2}},
      {.what = "ragged, none as long as X", .lengths = {1, 3}},
      {.what = "a row without steps", .lengths = {0, 3}},
      {.what = "no steps", .lengths = {0, 0}},
      {.what = "ragged reverse", .direction = "reverse", .lengths = {2, 4}},
      {.what = "ragged bidirectional", .direction = "bidirectional", .lengths = {3, 1}},
      {.what = "without B", .B = false},
      {.what = "peepholes", .P = true},
      {.what = "without initial states", .initial = false},
      {.what = "input_forget", .P = true, .input_forget = true},
      {.what = "clip", .P = true, .clip = 0.4f},
      {.what = "activations", .activations = {"Tanh", "Relu", "Sigmoid"}},
      {.what = "activations and clip",
       .direction = "bidirectional",
       .clip = 0.7f,
       .activations = {"Relu", "Sigmoid", "Tanh"}},
  };
  return table;
}

TEST(DynamicQuantizeLstm, ComputesItsEquations) {
  std::uint64_t seed = 1;
  for (const QuantizedCase& c : cases()) {
    // Where a quotient lies near a tie the last bit of a function decides which step it becomes.
    std::optional<QuantizedProblem> problem;
    QuantizedResult expected;
    do {
      problem.emplace(c, ++seed);
      expected = compute(*problem);
    } while (expected.margin < 1e-3);
    const std::vector<Value> made = run_node(quantized_node(*problem));
    const std::vector<const FloatValues*> wanted = {&expected.Y, &expected.Y_h, &expected.Y_c};
    for (std::size_t output = 0; output < wanted.size(); ++output) {
      const auto values = made[output].tensor().span<float>();
      ASSERT_EQ(values.size(), wanted[output]->size()) << c.what;
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], (*wanted[output])[i], 2e-6) << c.what << ": output " << output << " at " << i;
    }
  }
}

TEST(DynamicQuantizeLstm, OutputsMayBeLeftOut) {
  const QuantizedProblem problem({"plain"}, 5);
  OneNode one = quantized_node(problem);
  const std::vector<Value> all = run_node(one);
  one.outputs = {false, false, true};
  const std::vector<Value> last = run_node(one);
  EXPECT_TRUE(std::ranges::equal(all[2].tensor().span<float>(), last[2].tensor().span<float>()));
}

TEST(DynamicQuantizeLstm, SumsOfManyProductsDoNotWrap) {
  // 40000 * 255 * 255 is beyond 31 bits.
  constexpr int K = 40000;
  OneNode one{
      .op = "DynamicQuantizeLSTM", .domain = "com.microsoft", .opset = 1, .inputs = {}, .attributes = {}};
  const Tensor scale = Tensor::from(Shape{1}, FloatValues{1e-7f}),
               zero = Tensor::from(Shape{1}, std::vector<std::uint8_t>{0});
  const auto full = [](const Shape& shape) {
    return Tensor::from(shape,
                        std::vector<std::uint8_t>(static_cast<std::size_t>(shape.element_count()), 255));
  };
  one.inputs = {Tensor::from(Shape{1, 1, K}, FloatValues(K, 1.0f)),
                full({1, K, 4}),
                full({1, 1, 4}),
                Value{},
                Value{},
                Value{},
                Value{},
                Value{},
                scale,
                zero,
                scale,
                zero};
  one.outputs = {false, true, true};
  // The sums are 40000 * 255 * 1e-7 = 1.02.
  const double gate = 1 / (1 + std::exp(-1.02));
  const std::vector<Value> made = run_node(one);
  EXPECT_NEAR(made[2].tensor().data<float>()[0], gate * std::tanh(1.02), 1e-5);
}

TEST(DynamicQuantizeLstm, RefusesWhatContradictsItself) {
  const QuantizedProblem problem({"plain"}, 5);
  struct Row {
    std::function<void(OneNode&)> change;
    std::string message;
  };
  const auto floats = [](const Shape& shape) { return Tensor::zeros(DType::float32, shape); };
  const auto bytes = [](const Shape& shape) { return Tensor::zeros(DType::int8, shape); };
  const std::vector<Row> rows = {
      {[](OneNode& one) { one.inputs.pop_back(); },
       "11 inputs; com.microsoft.DynamicQuantizeLSTM-1 takes 12 (X, W, R, "},
      {[](OneNode& one) { one.inputs[8] = Value{}; }, "input 8 (W_scale) is omitted, but it is required"},
      {[](OneNode& one) { one.outputs.assign(4, true); },
       "4 outputs; com.microsoft.DynamicQuantizeLSTM-1 gives 0 to 3 (Y?, Y_h?, Y_c?)"},
      {[&](OneNode& one) {
         one.inputs[0] = floats({2, 3});
       },
       "X is [2,3]; it must be [seq_length, batch_size, input_size]"},
      {[&](OneNode& one) {
         one.inputs[0] = floats({4, 2, 5});
       },
       "W is [1,3,12]; it must be [num_directions, input_size, 4*hidden_size], here [1,5,12]"},
      {[&](OneNode& one) {
         one.inputs[0] = bytes({4, 2, 3});
       },
       "input X is tensor(int8); DynamicQuantizeLSTM-1 admits tensor(float)"},
      {[&](OneNode& one) {
         one.inputs[1] = bytes({1, 12, 3});
       },
       "W is [1,12,3]; it must be [num_directions, input_size, 4*hidden_size], here [1,"},
      {[&](OneNode& one) {
         one.inputs[1] = bytes({3, 12});
       },
       "W is [3,12]; it must be [num_directions, input_size, 4*hidden_size]"},
      {[&](OneNode& one) {
         one.inputs[1] = floats({1, 3, 12});
       },
       "input W is tensor(float); DynamicQuantizeLSTM-1 admits tensor("},
      {[&](OneNode& one) {
         one.inputs[2] = bytes({1, 4, 12});
       },
       "R is [1,4,12]; it must be [num_directions, hidden_size, 4*hidden_size], here [1,3,12]"},
      {[&](OneNode& one) {
         one.inputs[2] = bytes({2, 3, 12});
       },
       "R is [2,3,12]"},
      {[&](OneNode& one) {
         one.inputs[3] = floats({1, 12});
       },
       "B is [1,12]; it must be [num_directions, 8*hidden_size], here [1,24]"},
      {[&](OneNode& one) {
         one.inputs[4] = Tensor::from(Shape{2}, std::vector<std::int32_t>{5, 1});
       },
       "sequence_lens[0] is 5; it must be in 0 to seq_length, here 4"},
      {[&](OneNode& one) {
         one.inputs[4] = Tensor::from(Shape{2}, std::vector<std::int32_t>{-1, 1});
       },
       "sequence_lens[0] is -1"},
      {[&](OneNode& one) {
         one.inputs[5] = floats({1, 3, 3});
       },
       "initial_h is [1,3,3]"},
      {[&](OneNode& one) {
         one.inputs[6] = floats({2, 3});
       },
       "initial_c is [2,3]"},
      {[&](OneNode& one) {
         one.inputs[7] = floats({1, 12});
       },
       "P is [1,12]"},
      {[&](OneNode& one) { one.inputs[8] = floats({2}); },
       "W_scale is [2]; it must be [num_directions] or [num_directions, 4*hidden_size], here [1] or [1,12]"},
      {[&](OneNode& one) {
         one.inputs[8] = floats({1, 3});
       },
       "W_scale is [1,3]; it must be [num_directions] or [num_directions, 4*hidden_size], here [1] or "
       "[1,12]"},
      {[&](OneNode& one) {
         one.inputs[9] = bytes({1, 12});
       },
       "W_zero_point is [1,12]; it must be [num_directions] or [num_directions, 4*hidden_size] as its scale "
       "is"},
      {[&](OneNode& one) { one.inputs[11] = Tensor::zeros(DType::uint8, {1}); },
       "input R_zero_point is tensor(uint8), but input W is tensor(int8); both are T2 of"},
      {[&](OneNode& one) { one.attributes.push_back(attr("input_forget", 2)); }, "input_forget is 2"},
      {[&](OneNode& one) { one.attributes.push_back(attr("clip", -1.0f)); }, "clip is -1"},
  };
  for (const bool constant : {true, false}) {
    for (const Row& row : rows) {
      OneNode one = quantized_node(problem);
      if (!constant) one.initializers.clear();
      row.change(one);
      try {
        run_node(one);
        ADD_FAILURE() << "accepted: " << row.message;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
        EXPECT_NE(error.message().find(row.message), std::string::npos)
            << row.message << "\n  " << error.what();
      }
    }
  }
}

TEST(DynamicQuantizeLstm, AttributesThatItDoesNotHaveAreInvalid) {
  for (const char* name : {"layout", "output_sequence"}) {
    OneNode one = quantized_node(QuantizedProblem({"plain"}, 5));
    one.attributes.push_back(attr(name, 0));
    try {
      run_node(one);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
