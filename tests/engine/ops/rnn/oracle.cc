#include "tests/engine/ops/rnn/oracle.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace oracle {
namespace {

struct Function {
  std::string name;
  double alpha, beta;
};

// The functions of the whole layer in the order of the list, with the values that each of them consumes.
std::vector<Function> functions_of(const Layer& layer) {
  std::vector<std::string> names = layer.activations;
  if (names.empty()) {
    for (int d = 0; d < layer.directions(); ++d) {
      if (layer.op != "RNN") names.push_back("Sigmoid");
      names.push_back("Tanh");
      if (layer.op == "LSTM") names.push_back("Tanh");
    }
  }
  std::size_t alphas = 0, betas = 0;
  std::vector<Function> functions;
  for (const std::string& name : names) {
    const bool two = name == "Affine" || name == "ScaledTanh" || name == "HardSigmoid";
    const bool one = name == "LeakyRelu" || name == "ThresholdedRelu" || name == "Elu";
    double alpha = 0, beta = 0;
    if (name == "LeakyRelu") alpha = 0.01f;
    if (name == "ThresholdedRelu" || name == "Elu") alpha = 1.0f;
    if (name == "HardSigmoid") alpha = 0.2f, beta = 0.5f;
    if ((one || two) && alphas < layer.activation_alpha.size()) alpha = layer.activation_alpha[alphas++];
    if (two && betas < layer.activation_beta.size()) beta = layer.activation_beta[betas++];
    functions.push_back({name, alpha, beta});
  }
  return functions;
}

class Direction {
 public:
  Direction(const Layer& layer, int index, double& nearest_jump)
      : l(layer), d(index), H(layer.hidden_size), I(layer.input_size), nearest_jump_(nearest_jump) {
    const std::vector<Function> all = functions_of(layer);
    const std::size_t each = all.size() / layer.directions();
    functions_.assign(all.begin() + index * each, all.begin() + (index + 1) * each);
  }

  // One step of one row: from h (and c) at t-1 to those at t.
  void step(const double* x, std::vector<double>& h, std::vector<double>& c) {
    if (l.op == "RNN") {
      std::vector<double> next(H);
      for (int j = 0; j < H; ++j)
        next[j] = call(0, input(0, j, x) + recurrent(0, j, h) + Wb(0, j) + Rb(0, j));
      h = next;
    } else if (l.op == "GRU") {
      gru(x, h);
    } else {
      lstm(x, h, c);
    }
  }

 private:
  void gru(const double* x, std::vector<double>& h) {
    std::vector<double> z(H), r(H), rh(H), next(H);
    for (int j = 0; j < H; ++j) {
      z[j] = call(0, input(0, j, x) + recurrent(0, j, h) + Wb(0, j) + Rb(0, j));
      r[j] = call(0, input(1, j, x) + recurrent(1, j, h) + Wb(1, j) + Rb(1, j));
      rh[j] = r[j] * h[j];
    }
    for (int j = 0; j < H; ++j) {
      const double candidate =
          l.linear_before_reset ? call(1, input(2, j, x) + r[j] * (recurrent(2, j, h) + Rb(2, j)) + Wb(2, j))
                                : call(1, input(2, j, x) + recurrent(2, j, rh) + Rb(2, j) + Wb(2, j));
      next[j] = (1 - z[j]) * candidate + z[j] * h[j];
    }
    h = next;
  }

  void lstm(const double* x, std::vector<double>& h, std::vector<double>& c) {
    const std::vector<double> old_h = h, old_c = c;
    for (int j = 0; j < H; ++j) {
      const auto sum = [&](int gate) {
        return input(gate, j, x) + recurrent(gate, j, old_h) + Wb(gate, j) + Rb(gate, j);
      };
      const double i = call(0, sum(0) + P(0, j) * old_c[j]);
      const double f = l.input_forget ? 1 - i : call(0, sum(2) + P(2, j) * old_c[j]);
      const double candidate = call(1, sum(3));
      c[j] = f * old_c[j] + i * candidate;
      const double o = call(0, sum(1) + P(1, j) * c[j]);
      h[j] = o * call(2, c[j]);
    }
  }

  double input(int gate, int j, const double* x) const {
    double sum = 0;
    for (int i = 0; i < I; ++i) sum += x[i] * l.W[((std::size_t)d * l.gates() * H + gate * H + j) * I + i];
    return sum;
  }
  double recurrent(int gate, int j, const std::vector<double>& h) const {
    double sum = 0;
    for (int i = 0; i < H; ++i) sum += h[i] * l.R[((std::size_t)d * l.gates() * H + gate * H + j) * H + i];
    return sum;
  }
  double Wb(int gate, int j) const { return l.B.empty() ? 0 : l.B[d * 2 * l.gates() * H + gate * H + j]; }
  double Rb(int gate, int j) const {
    return l.B.empty() ? 0 : l.B[d * 2 * l.gates() * H + (l.gates() + gate) * H + j];
  }
  double P(int gate, int j) const { return l.P.empty() ? 0 : l.P[d * 3 * H + gate * H + j]; }

  double call(int index, double x) {
    if (l.clip) x = std::fmin(std::fmax(x, -double{*l.clip}), double{*l.clip});
    const auto& [name, alpha, beta] = functions_[index];
    if (name == "Relu") return x > 0 ? x : 0;
    if (name == "Tanh") return std::tanh(x);
    if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
    if (name == "Affine") return alpha * x + beta;
    if (name == "LeakyRelu") return x >= 0 ? x : alpha * x;
    if (name == "ThresholdedRelu") {
      nearest_jump_ = std::fmin(nearest_jump_, std::fabs(x - alpha));
      return x >= alpha ? x : 0;
    }
    if (name == "ScaledTanh") return alpha * std::tanh(beta * x);
    if (name == "HardSigmoid") return std::fmin(std::fmax(alpha * x + beta, 0), 1);
    if (name == "Elu") return x >= 0 ? x : alpha * (std::exp(x) - 1);
    if (name == "Softsign") return x / (1 + std::fabs(x));
    if (name == "Softplus") return std::log(1 + std::exp(x));
    throw std::logic_error("no function " + name);
  }

  const Layer& l;
  const int d, H, I;
  std::vector<Function> functions_;
  double& nearest_jump_;
};

}  // namespace

Result compute(const Layer& l) {
  const int T = l.seq_length, N = l.batch_size, H = l.hidden_size, D = l.directions();
  Result out;
  out.Y.assign((std::size_t)T * D * N * H, 0);
  out.Y_h.assign((std::size_t)D * N * H, 0);
  out.Y_c.assign((std::size_t)D * N * H, 0);
  out.nearest_jump = std::numeric_limits<double>::infinity();
  const auto state_at = [&](int d, int n) {
    return (std::size_t)(l.layout == 1 ? n * D + d : d * N + n) * H;
  };

  for (int d = 0; d < D; ++d) {
    const bool backward = l.direction == "reverse" || d == 1;
    Direction direction(l, d, out.nearest_jump);
    for (int n = 0; n < N; ++n) {
      const int length = l.has_sequence_lens ? l.sequence_lens[n] : T;
      std::vector<double> h(H, 0), c(H, 0);
      for (int j = 0; j < H; ++j) {
        if (!l.initial_h.empty()) h[j] = l.initial_h[state_at(d, n) + j];
        if (!l.initial_c.empty()) c[j] = l.initial_c[state_at(d, n) + j];
      }
      for (int s = 0; s < length; ++s) {
        const int t = backward ? length - 1 - s : s;
        direction.step(l.X.data() + (std::size_t)(l.layout == 1 ? n * T + t : t * N + n) * l.input_size, h,
                       c);
        const std::size_t y = (std::size_t)(l.layout == 1 ? (n * T + t) * D + d : (t * D + d) * N + n) * H;
        for (int j = 0; j < H; ++j) out.Y[y + j] = h[j];
      }
      for (int j = 0; j < H && length > 0; ++j) {
        out.Y_h[state_at(d, n) + j] = h[j];
        out.Y_c[state_at(d, n) + j] = c[j];
      }
    }
  }
  return out;
}

}  // namespace oracle
