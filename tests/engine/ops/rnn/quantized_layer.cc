#include "tests/engine/ops/rnn/quantized_layer.h"

#include <algorithm>
#include <random>
#include <utility>

namespace grurun::engine::testing {
namespace {

constexpr int steps = QuantizedProblem::steps, batch = QuantizedProblem::batch,
              input = QuantizedProblem::input, hidden = QuantizedProblem::hidden,
              columns = QuantizedProblem::columns;

double function(const std::string& name, double x) {
  if (name == "Tanh") return std::tanh(x);
  if (name == "Relu") return std::max(x, 0.0);
  return 1 / (1 + std::exp(-x));
}

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

Tensor bytes_of(const Bytes& values, const Shape& shape, bool is_signed) {
  if (is_signed) return Tensor::from(shape, std::vector<std::int8_t>(values.begin(), values.end()));
  return Tensor::from(shape, std::vector<std::uint8_t>(values.begin(), values.end()));
}

}  // namespace

QuantizedProblem::QuantizedProblem(QuantizedCase given, std::uint64_t seed)
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

QuantizedResult compute(const QuantizedProblem& p) {
  QuantizedResult out;
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

}  // namespace grurun::engine::testing
