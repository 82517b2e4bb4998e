#include "trial/diagnosis/layer.h"

#include <algorithm>
#include <cmath>

namespace grurun::trial::diagnosis {

Array make_array(std::vector<double> values) {
  return std::make_shared<const std::vector<double>>(std::move(values));
}

Array swap_leading(const Array& array, std::int64_t A, std::int64_t B) {
  if (!array) return nullptr;
  const std::int64_t size = static_cast<std::int64_t>(array->size()) / std::max<std::int64_t>(A * B, 1);
  std::vector<double> swapped(array->size());
  for (std::int64_t a = 0; a < A; ++a) {
    for (std::int64_t b = 0; b < B; ++b) {
      std::copy_n(array->begin() + (a * B + b) * size, size, swapped.begin() + (b * A + a) * size);
    }
  }
  return make_array(std::move(swapped));
}

const opset::RecurrentForm& form_of(Op op) {
  return *opset::find_recurrent_form(op == Op::rnn ? "RNN" : op == Op::gru ? "GRU" : "LSTM", "");
}

const char* gate_name(Op op, std::int64_t gate) {
  static constexpr const char* gru[] = {"z", "r", "h"};
  static constexpr const char* lstm[] = {"i", "o", "f", "c"};
  return op == Op::rnn ? "i" : op == Op::gru ? gru[gate] : lstm[gate];
}

double apply_function(const Activation& f, double x) {
  const double alpha = f.alpha;
  const double beta = f.beta;
  switch (f.kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);  // in this order NaN stays
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationKind::affine:
      return alpha * x + beta;
    case ActivationKind::leaky_relu:
      return x >= 0 ? x : alpha * x;
    case ActivationKind::thresholded_relu:
      return x >= alpha ? x : 0;
    case ActivationKind::scaled_tanh:
      return alpha * std::tanh(beta * x);
    case ActivationKind::hard_sigmoid:
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    case ActivationKind::elu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case ActivationKind::softsign:
      return x / (1 + std::fabs(x));
    case ActivationKind::softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

namespace {

enum Function { f, g, h };

/// One direction of a layer, and the state of one row on its way.
class Row {
 public:
  Row(const Layer& layer, std::int64_t direction, std::int64_t n)
      : layer_(layer),
        size_(layer.hidden_size),
        W_(layer.W->data() + direction * layer.rows() * layer.input_size),
        R_(layer.R->data() + direction * layer.rows() * size_),
        Wb_(layer.Wb ? layer.Wb->data() + direction * layer.rows() : nullptr),
        Rb_(layer.Rb ? layer.Rb->data() + direction * layer.rows() : nullptr),
        P_(layer.P ? layer.P->data() + direction * 3 * size_ : nullptr),
        functions_(layer.functions.data() + static_cast<std::size_t>(direction) * layer.functions_each()),
        sums_(static_cast<std::size_t>(layer.rows())),
        gates_(sums_.size()),
        reset_(static_cast<std::size_t>(size_)) {
    const auto begin = [&](const Array& initial) {
      if (!initial) return std::vector<double>(static_cast<std::size_t>(size_), 0.0);
      const double* from = initial->data() + (direction * layer.batch_size + n) * size_;
      return std::vector<double>(from, from + size_);
    };
    H_ = begin(layer.initial_h);
    C_ = begin(layer.initial_c);
  }

  void force(const double* H) { std::copy_n(H, size_, H_.data()); }

  Step step(const double* x) {
    H_before_ = H_;
    C_before_ = C_;
    if (layer_.op == Op::rnn) rnn(x);
    if (layer_.op == Op::gru) gru(x);
    if (layer_.op == Op::lstm) lstm(x);
    return {0, 0, gates_.data(), sums_.data(), H_before_.data(), C_before_.data(), H_.data(), C_.data()};
  }

 private:
  static double dot(const double* a, const double* b, std::int64_t count) {
    double sums[4] = {};  // four chains of additions at a time
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (int k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
    }
    for (; i < count; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  // Xt*(W^T) + Wb and Ht-1*(R^T) + Rb of one unit of one gate; H may be another state.
  double input_part(const double* x, std::int64_t row) const {
    return dot(W_ + row * layer_.input_size, x, layer_.input_size) + (Wb_ != nullptr ? Wb_[row] : 0);
  }
  double recurrent_part(const double* H, std::int64_t row) const {
    return dot(R_ + row * size_, H, size_) + (Rb_ != nullptr ? Rb_[row] : 0);
  }
  double activated(Function function, double x) const {
    if (layer_.clip && (function != h || layer_.clip_cell_state))
      x = std::clamp(x, -*layer_.clip, *layer_.clip);
    return apply_function(functions_[function], x);
  }
  double gate(std::int64_t number, std::int64_t k, Function function, double sum) {
    const auto at = static_cast<std::size_t>(number * size_ + k);
    sums_[at] = sum;
    return gates_[at] = activated(function, sum);
  }
  double peephole(std::int64_t number, std::int64_t k, const std::vector<double>& C) const {
    return P_ != nullptr ? P_[number * size_ + k] * C[static_cast<std::size_t>(k)] : 0;
  }

  void rnn(const double* x) {
    for (std::int64_t k = 0; k < size_; ++k) {
      // Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
      H_[static_cast<std::size_t>(k)] = gate(0, k, f, input_part(x, k) + recurrent_part(H_before_.data(), k));
    }
  }

  void gru(const double* x) {
    const double* H = H_before_.data();
    for (const GruGate number : {update_gate, reset_gate}) {
      // zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz), and rt
      for (std::int64_t k = 0; k < size_; ++k) {
        const std::int64_t row = number * size_ + k;
        gate(number, k, f, input_part(x, row) + recurrent_part(H, row));
      }
    }
    const double* r = gates_.data() + reset_gate * size_;
    for (std::int64_t k = 0; k < size_; ++k) reset_[static_cast<std::size_t>(k)] = r[k] * H[k];
    for (std::int64_t k = 0; k < size_; ++k) {
      const std::int64_t row = hidden_gate * size_ + k;
      // ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh), or (rt (.) Ht-1)*(Rh^T) + Rbh
      const double recurrent =
          layer_.linear_before_reset ? r[k] * recurrent_part(H, row) : recurrent_part(reset_.data(), row);
      const double ht = gate(hidden_gate, k, g, input_part(x, row) + recurrent);
      const double zt = gates_[static_cast<std::size_t>(k)];
      // Ht = (1 - zt) (.) ht + zt (.) Ht-1
      H_[static_cast<std::size_t>(k)] = (1 - zt) * ht + zt * H[k];
    }
  }

  void lstm(const double* x) {
    const double* H = H_before_.data();
    const auto sum = [&](std::int64_t number, std::int64_t k) {
      const std::int64_t row = number * size_ + k;
      return input_part(x, row) + recurrent_part(H, row);
    };
    for (std::int64_t k = 0; k < size_; ++k) {
      const auto at = static_cast<std::size_t>(k);
      // P's i, o, f are numbered as the gates are
      const double it = gate(input_gate, k, f, sum(input_gate, k) + peephole(input_gate, k, C_before_));
      double ft = gate(forget_gate, k, f, sum(forget_gate, k) + peephole(forget_gate, k, C_before_));
      if (layer_.input_forget) ft = gates_[static_cast<std::size_t>(forget_gate * size_ + k)] = 1 - it;
      const double ct = gate(cell_gate, k, g, sum(cell_gate, k));
      // Ct = ft (.) Ct-1 + it (.) ct
      C_[at] = ft * C_before_[at] + it * ct;
      const double ot = gate(output_gate, k, f, sum(output_gate, k) + peephole(output_gate, k, C_));
      // Ht = ot (.) h(Ct)
      H_[at] = ot * activated(h, C_[at]);
    }
  }

  const Layer& layer_;
  const std::int64_t size_;
  const double* W_;
  const double* R_;
  const double* Wb_;
  const double* Rb_;
  const double* P_;
  const Activation* functions_;
  std::vector<double> sums_, gates_, reset_;
  std::vector<double> H_, C_, H_before_, C_before_;
};

}  // namespace

void run_row(const Layer& layer, std::int64_t direction, std::int64_t n,
             const std::function<bool(const Step&)>& visit, const Forcing& forced) {
  Row row(layer, direction, n);
  const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
  const bool reversed = layer.reversed[static_cast<std::size_t>(direction)];
  for (std::int64_t number = 0; number < length; ++number) {
    const std::int64_t time = reversed ? length - 1 - number : number;
    Step step = row.step(layer.X->data() + (time * layer.batch_size + n) * layer.input_size);
    step.number = number;
    step.time = time;
    if (!visit(step)) return;
    if (forced) {
      if (const double* H = forced(time)) row.force(H);
    }
  }
}

}  // namespace grurun::trial::diagnosis
