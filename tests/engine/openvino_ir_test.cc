// OpenVINO IRs through the whole engine, against the equations of the operators' pages in double precision.
#include "onnx_io/openvino/openvino_ir.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "tests/engine/one_node.h"
#include "tests/onnx_io/ir_text.h"
#include "tests/places/scratch.h"

namespace grurun::engine {
namespace {

using Values = std::vector<double>;
using Function = std::function<double(double)>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double tanh_of(double x) {
  return std::tanh(x);
}
double relu(double x) {
  return x > 0 ? x : 0;
}

constexpr int batch = 2, input = 3, hidden = 2;

/// A cell as its page describes it: gates in the IR's order, B as the IR has it (empty: none).
struct Cell {
  std::string kind;
  bool linear_before_reset = false;
  double clip = INFINITY;
  Function f = sigmoid, g = tanh_of, h = tanh_of;
  Values W, R, B;

  int gates() const { return kind == "GRU" ? 3 : kind == "LSTM" ? 4 : 1; }
  int bias_blocks() const { return linear_before_reset ? 4 : gates(); }
  double bias(int block, int unit) const {
    return B.empty() ? 0 : B[static_cast<std::size_t>(block * hidden + unit)];
  }
  double clipped(double x) const { return std::max(-clip, std::min(clip, x)); }

  double of_x(int gate, int unit, const double* x) const {
    double sum = 0;
    for (int k = 0; k < input; ++k)
      sum += x[k] * W[static_cast<std::size_t>((gate * hidden + unit) * input + k)];
    return sum;
  }
  double of_h(int gate, int unit, const Values& state) const {
    double sum = 0;
    for (int k = 0; k < hidden; ++k)
      sum += state[static_cast<std::size_t>(k)] *
             R[static_cast<std::size_t>((gate * hidden + unit) * hidden + k)];
    return sum;
  }

  /// H [hidden_size] and, for LSTM, C become those of the next step.
  void step(const double* x, Values& H, Values& C) const {
    Values next(hidden);
    Values z(hidden), r(hidden), reset(hidden);
    for (int u = 0; u < hidden && kind == "GRU"; ++u) {
      const auto i = static_cast<std::size_t>(u);
      z[i] = f(clipped(of_x(0, u, x) + of_h(0, u, H) + bias(0, u)));
      r[i] = f(clipped(of_x(1, u, x) + of_h(1, u, H) + bias(1, u)));
      reset[i] = r[i] * H[i];
    }
    for (int u = 0; u < hidden; ++u) {
      const auto i = static_cast<std::size_t>(u);
      if (kind == "RNN") {
        next[i] = f(clipped(of_x(0, u, x) + of_h(0, u, H) + bias(0, u)));
      } else if (kind == "GRU") {
        const double sum = linear_before_reset
                               ? of_x(2, u, x) + r[i] * (of_h(2, u, H) + bias(3, u)) + bias(2, u)
                               : of_x(2, u, x) + of_h(2, u, reset) + bias(2, u);
        next[i] = (1 - z[i]) * g(clipped(sum)) + z[i] * H[i];
      } else {
        const auto gate = [&](int number) {
          return clipped(of_x(number, u, x) + of_h(number, u, H) + bias(number, u));
        };
        C[i] = f(gate(0)) * C[i] + f(gate(1)) * g(gate(2));
        next[i] = f(gate(3)) * h(C[i]);
      }
    }
    H = next;
  }
};

class Source {
 public:
  explicit Source(std::uint64_t seed) : engine_(seed) {}
  Values operator()(int count) {
    Values out(static_cast<std::size_t>(count));
    for (double& value : out) value = static_cast<double>(engine_() >> 11) * 0x1p-53 * 3 - 1.5;
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<Value> run(const onnx_io::testing::IrText& ir, const std::vector<Value>& inputs) {
  const tests::Scratch scratch;
  scratch.file("m.bin", ir.weights);
  const onnx_io::Model model = onnx_io::parse_openvino_ir(ir.xml(), scratch.folder(), "m.bin");
  return run_plan(*make_plan(model), inputs, {});
}

Value tensor(const Shape& shape, const Values& values) {
  return Tensor::from<double>(shape, values);
}

void expect_near(const Value& actual, const Values& expected, const std::string& what) {
  ASSERT_EQ(actual.tensor().size(), static_cast<std::int64_t>(expected.size())) << what;
  const auto values = actual.tensor().span<double>();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-12) << what << " at " << i;
}

struct Row {
  std::string what;
  Cell cell;
  std::string data;
  bool bias = true;
};

std::vector<Row> rows() {
  const Cell rnn{.kind = "RNN", .f = tanh_of, .W = {}, .R = {}, .B = {}};
  const Cell gru{.kind = "GRU", .W = {}, .R = {}, .B = {}};
  const Cell lstm{.kind = "LSTM", .W = {}, .R = {}, .B = {}};
  std::vector<Row> out = {{"rnn", rnn, ""}, {"gru", gru, ""}, {"lstm", lstm, ""}};
  Cell reset = gru;
  reset.linear_before_reset = true;
  out.push_back({"gru, linear_before_reset", reset, R"(linear_before_reset="1")"});
  for (const Cell& cell : {rnn, gru, reset, lstm}) {
    const std::string flag = cell.linear_before_reset ? R"( linear_before_reset="true")" : "";
    out.push_back({cell.kind + flag + " without B", cell, flag, false});
    out.push_back({cell.kind + flag + " with clip", cell, R"(clip="0.4000000059604645")" + flag});
    out.back().cell.clip = 0.4f;
  }
  Cell functions = lstm;
  functions.f = relu;
  functions.g = sigmoid;
  functions.h = relu;
  out.push_back({"lstm with functions", functions, R"(activations="relu, sigmoid, relu")"});
  functions = reset;
  functions.f = tanh_of;
  functions.g = relu;
  out.push_back({"gru with functions", functions, R"(activations="tanh,relu" linear_before_reset="1")"});
  return out;
}

TEST(OpenvinoIr, CellsComputeTheEquationsOfTheirPages) {
  std::uint64_t seed = 1;
  for (Row row : rows()) {
    Source draw(++seed);
    Cell& cell = row.cell;
    const int gates = cell.gates();
    cell.W = draw(gates * hidden * input);
    cell.R = draw(gates * hidden * hidden);
    if (row.bias) cell.B = draw(cell.bias_blocks() * hidden);
    const Values X = draw(batch * input), H = draw(batch * hidden), C = draw(batch * hidden);

    onnx_io::testing::IrText ir;
    std::vector<int> sources = {ir.parameter("X", {batch, input}, "f64"),
                                ir.parameter("H", {batch, hidden}, "f64")};
    std::vector<Value> inputs = {tensor({batch, input}, X), tensor({batch, hidden}, H)};
    const bool lstm = cell.kind == "LSTM";
    if (lstm) {
      sources.push_back(ir.parameter("C", {batch, hidden}, "f64"));
      inputs.push_back(tensor({batch, hidden}, C));
    }
    sources.push_back(ir.constant("W", {gates * hidden, input}, cell.W, "f64"));
    sources.push_back(ir.constant("R", {gates * hidden, hidden}, cell.R, "f64"));
    if (row.bias) sources.push_back(ir.constant("B", {cell.bias_blocks() * hidden}, cell.B, "f64"));
    std::vector<std::vector<int>> outputs = {{batch, hidden}};
    if (lstm) outputs.push_back({batch, hidden});
    const int layer = ir.layer("cell", cell.kind + "Cell", lstm ? "opset4" : "opset3",
                               R"(hidden_size="2" )" + row.data, sources, outputs);
    ir.result("Ho", layer);
    if (lstm) ir.result("Co", layer, 1);

    Values next_H, next_C;
    for (int b = 0; b < batch; ++b) {
      Values h(H.begin() + b * hidden, H.begin() + (b + 1) * hidden),
          c(C.begin() + b * hidden, C.begin() + (b + 1) * hidden);
      cell.step(X.data() + b * input, h, c);
      next_H.insert(next_H.end(), h.begin(), h.end());
      next_C.insert(next_C.end(), c.begin(), c.end());
    }
    const std::vector<Value> made = run(ir, inputs);
    expect_near(made[0], next_H, row.what + ", Ho");
    if (lstm) expect_near(made[1], next_C, row.what + ", Co");
  }
}

TEST(OpenvinoIr, SequencesRunTheirCellOverTheStepsOfEachRow) {
  constexpr int steps = 3;
  const std::vector<std::int64_t> lengths = {3, 1};
  std::uint64_t seed = 100;
  for (Row row : rows()) {
    if (!row.bias) continue;  // of a sequence it is required
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      Source draw(++seed);
      const int directions = direction == "bidirectional" ? 2 : 1;
      const Cell& form = row.cell;
      const bool lstm = form.kind == "LSTM";
      const int w = form.gates() * hidden * input, r = form.gates() * hidden * hidden,
                b = form.bias_blocks() * hidden;
      const Values W = draw(directions * w), R = draw(directions * r), B = draw(directions * b);
      const Values X = draw(batch * steps * input), H = draw(batch * directions * hidden),
                   C = draw(batch * directions * hidden);

      onnx_io::testing::IrText ir;
      std::vector<int> sources = {ir.parameter("X", {batch, steps, input}, "f64"),
                                  ir.parameter("H", {batch, directions, hidden}, "f64")};
      std::vector<Value> inputs = {tensor({batch, steps, input}, X), tensor({batch, directions, hidden}, H)};
      if (lstm) {
        sources.push_back(ir.parameter("C", {batch, directions, hidden}, "f64"));
        inputs.push_back(tensor({batch, directions, hidden}, C));
      }
      sources.push_back(ir.constant("lengths", {batch}, lengths, "i64"));
      sources.push_back(ir.constant("W", {directions, form.gates() * hidden, input}, W, "f64"));
      sources.push_back(ir.constant("R", {directions, form.gates() * hidden, hidden}, R, "f64"));
      sources.push_back(ir.constant("B", {directions, b}, B, "f64"));
      std::vector<std::vector<int>> outputs = {{batch, directions, steps, hidden},
                                               {batch, directions, hidden}};
      if (lstm) outputs.push_back({batch, directions, hidden});
      const int layer = ir.layer("layer", form.kind + "Sequence", "opset5",
                                 fmt::format(R"(hidden_size="2" direction="{}" {})", direction, row.data),
                                 sources, outputs);
      ir.result("Y", layer);
      ir.result("Ho", layer, 1);
      if (lstm) ir.result("Co", layer, 2);

      Values Y(static_cast<std::size_t>(batch * directions * steps * hidden)), Ho, Co;
      for (int n = 0; n < batch; ++n) {
        for (int d = 0; d < directions; ++d) {
          Cell cell = form;
          cell.W.assign(W.begin() + d * w, W.begin() + (d + 1) * w);
          cell.R.assign(R.begin() + d * r, R.begin() + (d + 1) * r);
          cell.B.assign(B.begin() + d * b, B.begin() + (d + 1) * b);
          const auto at = [&](const Values& from) { return from.begin() + (n * directions + d) * hidden; };
          Values h(at(H), at(H) + hidden), c(at(C), at(C) + hidden);
          const int count = static_cast<int>(lengths[static_cast<std::size_t>(n)]);
          for (int step = 0; step < count; ++step) {
            const int time = direction == "reverse" || d == 1 ? count - 1 - step : step;
            cell.step(X.data() + (n * steps + time) * input, h, c);
            std::copy(h.begin(), h.end(), Y.begin() + ((n * directions + d) * steps + time) * hidden);
          }
          Ho.insert(Ho.end(), h.begin(), h.end());
          Co.insert(Co.end(), c.begin(), c.end());
        }
      }
      const std::vector<Value> made = run(ir, inputs);
      const std::string what = row.what + " " + direction;
      expect_near(made[0], Y, what + ", Y");
      expect_near(made[1], Ho, what + ", Ho");
      if (lstm) expect_near(made[2], Co, what + ", Co");
    }
  }
}

// What a stranger's ONNX model may make of the operator that the reader writes.
TEST(OpenvinoIr, ItsLstmCountsInputsAndOutputs) {
  const Value X = tensor({1, 1, 1}, {1});
  const auto run_with = [&](std::size_t inputs, std::size_t outputs) -> std::string {
    try {
      testing::run_node("LSTM", onnx_io::openvino_domain, onnx_io::openvino_opset,
                        std::vector<Value>(inputs, X), {}, outputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
      return error.message();
    }
    return "no error";
  };
  EXPECT_NE(run_with(9, 1).find("9 inputs; openvino.LSTM-22 takes 3 to 8 (X, W, R, B?, "), std::string::npos);
  EXPECT_NE(run_with(2, 1).find("2 inputs; openvino.LSTM-22 takes 3 to 8 (X, W, R, B?, "), std::string::npos);
  EXPECT_NE(run_with(3, 4).find("4 outputs; openvino.LSTM-22 gives 0 to 3 (Y?, Y_h?, Y_c?)"),
            std::string::npos);
}

}  // namespace
}  // namespace grurun::engine
