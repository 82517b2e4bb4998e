// DynamicQuantizeLSTM against its equations, element by element, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tensor/error.h"
#include "tests/engine/one_node.h"

namespace grurun::engine::testing {
namespace {

using FloatValues = std::vector<float>;
using Bytes = std::vector<int>;

struct QuantizedCase {
  std::string what;
  std::string direction = "forward";
  std::vector<std::int32_t> lengths = {};  // empty: left out
  bool is_signed = true, by_column = false, B = true, P = false, initial = true, input_forget = false;
  float clip = INFINITY;
  bool constant = true;                       // weights are initializers
  std::vector<std::string> activations = {};  // of one direction
};

constexpr int steps = 4, batch = 2, input = 3, hidden = 3, columns = 4 * hidden;

double function(const std::string& name, double x) {
  if (name == "Tanh") return std::tanh(x);
  if (name == "Relu") return std::max(x, 0.0);
  return 1 / (1 + std::exp(-x));
}

struct QuantizedProblem {
  QuantizedCase c;
  int directions;
  FloatValues X, B, P, initial_h, initial_c, W_scale, R_scale;
  Bytes W, R, W_zero_point, R_zero_point;

  QuantizedProblem(QuantizedCase given, std::uint64_t seed)
      : c(std::move(given)), directions(c.direction == "bidirectional" ? 2 : 1) {
    std::mt19937_64 engine(seed);
    const auto unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    const auto floats = [&](int count, double low, double high) {
      FloatValues out(static_cast<std::size_t>(count));
      for (float& value : out) value = static_cast<float>(low + (high - low) * unit());
      return out;
    };
    const auto bytes = [&](int count, int low, int high) {
      Bytes out(static_cast<std::size_t>(count));
      for (int& value : out) value = low + static_cast<int>(unit() * (high - low + 1));
      return out;
    };
    const int low = c.is_signed ? -128 : 0, D = directions, parameters = c.by_column ? D * columns : D;
    X = floats(steps * batch * input, -2, 3);
    W = bytes(D * input * columns, low, low + 255);
    R = bytes(D * hidden * columns, low, low + 255);
    W_scale = floats(parameters, 0.003, 0.008);
    R_scale = floats(parameters, 0.003, 0.008);
    W_zero_point = bytes(parameters, low + 100, low + 150);
    R_zero_point = bytes(parameters, low + 100, low + 150);
    if (c.B) B = floats(D * 8 * hidden, -0.5, 0.5);
    if (c.P) P = floats(D * 3 * hidden, -0.5, 0.5);
    if (c.initial) {
      initial_h = floats(D * batch * hidden, -1, 1);
      initial_c = floats(D * batch * hidden, -1, 1);
    }
  }

  int length(int row) const { return c.lengths.empty() ? steps : c.lengths[static_cast<std::size_t>(row)]; }
};

/// Differences from the zero point; `margin` becomes the least distance of a quotient from a tie.
std::vector<double> quantized(const FloatValues& x, const FloatValues& over, float& scale, double& margin) {
  float high = 0, low = 0;
  for (const float value : over) {
    high = std::max(high, value);
    low = std::min(low, value);
  }
  scale = (high == low ? 1.0f : high - low) / 255.0f;
  const float zero = std::nearbyint(-low / scale);
  std::vector<double> out;
  for (const float value : x) {
    const double quotient = value / scale;
    margin = std::min(margin, std::abs(quotient - std::floor(quotient) - 0.5));
    out.push_back(std::clamp(std::nearbyint(value / scale) + zero, 0.0f, 255.0f) - zero);
  }
  return out;
}

struct Result {
  FloatValues Y = FloatValues(0), Y_h, Y_c;
  double margin = 1;
};

Result compute(const QuantizedProblem& p) {
  Result out;
  const int D = p.directions;
  out.Y.assign(static_cast<std::size_t>(steps * D * batch * hidden), 0);
  out.Y_h.assign(static_cast<std::size_t>(D * batch * hidden), 0);
  out.Y_c = out.Y_h;
  const std::vector<std::string> usual = {"Sigmoid", "Tanh", "Tanh"};
  const std::vector<std::string>& names = p.c.activations.empty() ? usual : p.c.activations;
  int longest = 0;
  for (int row = 0; row < batch; ++row) longest = std::max(longest, p.length(row));
  const FloatValues used(p.X.begin(), p.X.begin() + longest * batch * input);
  for (int d = 0; d < D; ++d) {
    const bool reversed = p.c.direction == "reverse" || d == 1;
    FloatValues H(static_cast<std::size_t>(batch * hidden)), C(H);
    if (p.c.initial) {
      H.assign(p.initial_h.begin() + d * batch * hidden, p.initial_h.begin() + (d + 1) * batch * hidden);
      C.assign(p.initial_c.begin() + d * batch * hidden, p.initial_c.begin() + (d + 1) * batch * hidden);
    }
    for (int step = 0; step < longest; ++step) {
      float scale_h = 0;
      const std::vector<double> h = quantized(H, H, scale_h, out.margin);
      for (int row = 0; row < batch; ++row) {
        const int length = p.length(row);
        float* const H_row = H.data() + row * hidden;
        if (step >= length) {
          std::fill_n(H_row, hidden, 0.0f);
          continue;
        }
        const int time = reversed ? length - 1 - step : step;
        float scale_x = 0;
        const float* from = p.X.data() + (time * batch + row) * input;
        const std::vector<double> x = quantized(FloatValues(from, from + input), used, scale_x, out.margin);
        const auto sum = [&](int gate, int unit) {
          const int n = gate * hidden + unit;
          const auto parameter = static_cast<std::size_t>(p.c.by_column ? d * columns + n : d);
          double total_x = 0, total_h = 0;
          for (int k = 0; k < input; ++k)
            total_x +=
                x[static_cast<std::size_t>(k)] *
                (p.W[static_cast<std::size_t>((d * input + k) * columns + n)] - p.W_zero_point[parameter]);
          for (int k = 0; k < hidden; ++k)
            total_h +=
                h[static_cast<std::size_t>(row * hidden + k)] *
                (p.R[static_cast<std::size_t>((d * hidden + k) * columns + n)] - p.R_zero_point[parameter]);
          double value = total_x * scale_x * p.W_scale[parameter] + total_h * scale_h * p.R_scale[parameter];
          if (p.c.B) {
            value += p.B[static_cast<std::size_t>(d * 2 * columns + n)];
            value += p.B[static_cast<std::size_t>(d * 2 * columns + columns + n)];
          }
          return value;
        };
        FloatValues next(hidden);
        for (int unit = 0; unit < hidden; ++unit) {
          enum { i, o, f, c };
          float& cell = C[static_cast<std::size_t>(row * hidden + unit)];
          const auto peephole = [&](int gate) {
            return p.c.P ? p.P[static_cast<std::size_t>((d * 3 + gate) * hidden + unit)] * cell : 0;
          };
          const auto clipped = [&](double value) { return std::clamp<double>(value, -p.c.clip, p.c.clip); };
          const double it = function(names[0], clipped(sum(i, unit) + peephole(i)));
          const double ft =
              p.c.input_forget ? 1 - it : function(names[0], clipped(sum(f, unit) + peephole(f)));
          cell = static_cast<float>(ft * cell + it * function(names[1], clipped(sum(c, unit))));
          const double ot = function(names[0], clipped(sum(o, unit) + peephole(o)));
          next[static_cast<std::size_t>(unit)] = static_cast<float>(ot * function(names[2], cell));
        }
        std::copy(next.begin(), next.end(), H_row);
        std::copy(next.begin(), next.end(), out.Y.begin() + ((time * D + d) * batch + row) * hidden);
        if (step + 1 < length) continue;
        std::copy(next.begin(), next.end(), out.Y_h.begin() + (d * batch + row) * hidden);
        std::copy_n(C.begin() + row * hidden, hidden, out.Y_c.begin() + (d * batch + row) * hidden);
      }
    }
  }
  return out;
}

Tensor bytes_of(const Bytes& values, const Shape& shape, bool is_signed) {
  if (is_signed) return Tensor::from(shape, std::vector<std::int8_t>(values.begin(), values.end()));
  return Tensor::from(shape, std::vector<std::uint8_t>(values.begin(), values.end()));
}

OneNode quantized_node(const QuantizedProblem& p) {
  const int D = p.directions;
  const QuantizedCase& c = p.c;
  const Shape state{D, batch, hidden}, parameters = c.by_column ? Shape{D, columns} : Shape{D};
  const auto optional = [](const FloatValues& values, const Shape& shape) {
    return values.empty() ? Value{} : Value{Tensor::from(shape, values)};
  };
  OneNode one{
      .op = "DynamicQuantizeLSTM", .domain = "com.microsoft", .opset = 1, .inputs = {}, .attributes = {}};
  one.inputs = {Tensor::from(Shape{steps, batch, input}, p.X),
                bytes_of(p.W, {D, input, columns}, c.is_signed),
                bytes_of(p.R, {D, hidden, columns}, c.is_signed),
                optional(p.B, {D, 2 * columns}),
                c.lengths.empty() ? Value{} : Value{Tensor::from(Shape{batch}, c.lengths)},
                optional(p.initial_h, state),
                optional(p.initial_c, state),
                optional(p.P, {D, 3 * hidden}),
                Tensor::from(parameters, p.W_scale),
                bytes_of(p.W_zero_point, parameters, c.is_signed),
                Tensor::from(parameters, p.R_scale),
                bytes_of(p.R_zero_point, parameters, c.is_signed)};
  one.attributes = {attr("hidden_size", hidden), attr("direction", c.direction.c_str())};
  if (c.input_forget) one.attributes.push_back(attr("input_forget", 1));
  if (c.clip != INFINITY) one.attributes.push_back(attr("clip", c.clip));
  if (!c.activations.empty()) {
    std::vector<std::string> names;
    for (int d = 0; d < D; ++d) names.insert(names.end(), c.activations.begin(), c.activations.end());
    one.attributes.push_back(attr("activations", names));
  }
  one.outputs = {true, true, true};
  one.initializers.assign(12, false);
  for (const std::size_t index : {1, 2, 3, 8, 9, 10, 11}) one.initializers[index] = c.constant;
  return one;
}

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
    Result expected;
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
      {[](OneNode& one) { one.inputs.pop_back(); }, "11 inputs and 3 outputs; it has 12 inputs"},
      {[](OneNode& one) { one.inputs[8] = Value{}; }, "input 8 (W_scale) is required"},
      {[](OneNode& one) { one.outputs.assign(4, true); }, "12 inputs and 4 outputs"},
      {[&](OneNode& one) {
         one.inputs[0] = floats({2, 3});
       },
       "X is [2,3]; it must be [seq_length, batch_size, input_size]"},
      {[&](OneNode& one) {
         one.inputs[0] = floats({4, 2, 5});
       },
       "X is [4,2,5]"},
      {[&](OneNode& one) {
         one.inputs[0] = bytes({4, 2, 3});
       },
       "X is tensor(int8); it must be tensor(float)"},
      {[&](OneNode& one) {
         one.inputs[1] = bytes({1, 12, 3});
       },
       "W is [1,12,3]; it must be [num_directions, input_size, 4*hidden_size], here [1,12,12]"},
      {[&](OneNode& one) {
         one.inputs[1] = bytes({3, 12});
       },
       "W is [3,12]; it must be [num_directions, input_size, 4*hidden_size]"},
      {[&](OneNode& one) {
         one.inputs[1] = floats({1, 3, 12});
       },
       "W is tensor(float)"},
      {[&](OneNode& one) {
         one.inputs[2] = bytes({1, 4, 12});
       },
       "attribute hidden_size is 3, but R is [1,4,12]"},
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
       "sequence_lens[0] is 5; it must be in [0, seq_length], here [0, 4]"},
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
       "W_scale is [2]; it must be [num_directions] or [num_directions, 4*hidden_size], here [1]"},
      {[&](OneNode& one) {
         one.inputs[8] = floats({1, 3});
       },
       "W_scale is [1,3]; it must be [num_directions] or [num_directions, 4*hidden_size], here [1,12]"},
      {[&](OneNode& one) {
         one.inputs[9] = bytes({1, 12});
       },
       "W_zero_point is [1,12]; it must be of its scale's shape, here [1]"},
      {[&](OneNode& one) { one.inputs[11] = Tensor::zeros(DType::uint8, {1}); },
       "R_zero_point is tensor(uint8); it must be tensor(int8)"},
      {[&](OneNode& one) { one.attributes.push_back(attr("input_forget", 2)); },
       "attribute input_forget is 2"},
      {[&](OneNode& one) { one.attributes.push_back(attr("clip", -1.0f)); }, "attribute clip is -1"},
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

TEST(DynamicQuantizeLstm, AttributesThatItDoesNotHaveAreUnsupported) {
  for (const char* name : {"layout", "output_sequence"}) {
    OneNode one = quantized_node(QuantizedProblem({"plain"}, 5));
    one.attributes.push_back(attr(name, 0));
    try {
      run_node(one);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
