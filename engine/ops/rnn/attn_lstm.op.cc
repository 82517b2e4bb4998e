// AttnLSTM (com.microsoft 1): LSTM of ONNX that attends to a memory between its steps.
//
//   X't = concat(Xt, ATTNt-1)     Ht, Ct = LSTM(X't, Ht-1, Ct-1), with f, g, h, P and clip as LSTM has them
//   ALIGN = Softmax(sum over the last axis of V * Tanh(M * MW + Ht * QW)) over memory_seq_lens steps of M
//   CONTEXT = ALIGN * M           ATTNt = concat(Ht, CONTEXT) * AW, or CONTEXT without AW; at first 0
//
// X [seq_length, batch_size, input_size], W [num_directions, 4*hidden_size, input_size + attention], R
// [num_directions, 4*hidden_size, hidden_size], B [num_directions, 8*hidden_size], gates i, o, f, c;
// sequence_lens, initial_h, initial_c, P and the outputs as LSTM has them. QW [num_directions, hidden_size,
// am], MW [num_directions, depth, am], V [num_directions, am], M [batch_size, steps, depth], AW
// [num_directions, depth + hidden_size, attention]. The clip bounds what the functions of the gates see.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/rnn/activation.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace rnn {
namespace {

struct AttnLstm {
  std::int64_t hidden = 0;
  std::vector<bool> reversed;  // of each direction
  std::vector<Activation> functions;
  float clip = no_clip;
  bool couples = false;  // ft = 1 - it
};

struct AttnSizes {
  std::int64_t steps, batch, input, hidden, directions, attention, am, depth, memory;
};

// Element [direction, row, column] of a weight.
template <typename T>
const T* part(const Tensor* weight, std::int64_t direction) {
  if (weight == nullptr) return nullptr;
  return weight->data<T>() + direction * (weight->size() / std::max<std::int64_t>(1, weight->dim(0)));
}

// y += x [n] * W [n, m].
template <typename T>
void add_product(const T* x, std::int64_t n, const T* W, std::int64_t m, T* y) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) y[j] += x[i] * W[i * m + j];
}

template <typename T>
T row_product(const T* a, const T* b, std::int64_t n) {
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename T>
class AttnCell {
 public:
  AttnCell(const AttnLstm& op, const AttnSizes& sizes, RunContext& run, std::int64_t direction)
      : op_(op), sizes_(sizes), functions_(op.functions.data() + 3 * direction) {
    const auto of = [&](std::size_t input) { return part<T>(run.optional_tensor(input), direction); };
    W_ = of(1), R_ = of(2), B_ = of(3), P_ = of(7), QW_ = of(8), MW_ = of(9), V_ = of(10), AW_ = of(13);
    M_ = run.tensor(11).data<T>();
    keys_.assign(static_cast<std::size_t>(sizes.batch * sizes.memory * sizes.am), T(0));
    for (std::int64_t i = 0; i < sizes.batch * sizes.memory; ++i)
      add_product(M_ + i * sizes.depth, sizes.depth, MW_, sizes.am, keys_.data() + i * sizes.am);
  }

  /// h and c [hidden], attention [attention] of row b; x [input].
  void step(const T* x, std::int64_t b, std::int64_t memory, T* h, T* c, T* attention) const {
    const std::int64_t n = sizes_.hidden, width = sizes_.input + sizes_.attention;
    std::vector<T> gates(static_cast<std::size_t>(4 * n));
    for (std::int64_t g = 0; g < 4 * n; ++g) {
      T sum = row_product(W_ + g * width, x, sizes_.input) +
              row_product(W_ + g * width + sizes_.input, attention, sizes_.attention) +
              row_product(R_ + g * n, h, n);
      if (B_ != nullptr) sum += B_[g] + B_[4 * n + g];
      gates[static_cast<std::size_t>(g)] = sum;
    }
    const auto gate = [&](int function, std::int64_t number, std::int64_t i, T peephole) {
      const T seen = gates[static_cast<std::size_t>(number * n + i)] + peephole;
      return kernels::activate_scalar(functions_[function], kernels::clipped(seen, op_.clip));
    };
    const auto peephole = [&](std::int64_t number, std::int64_t i, T cell) {
      return P_ == nullptr ? T(0) : P_[number * n + i] * cell;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      const T in = gate(0, 0, i, peephole(0, i, c[i]));
      const T forget = op_.couples ? 1 - in : gate(0, 2, i, peephole(2, i, c[i]));
      c[i] = forget * c[i] + in * gate(1, 3, i, 0);
      h[i] = gate(0, 1, i, peephole(1, i, c[i])) * kernels::activate_scalar(functions_[2], c[i]);
    }
    attend(b, memory, h, attention);
  }

 private:
  void attend(std::int64_t b, std::int64_t memory, const T* h, T* attention) const {
    const std::int64_t am = sizes_.am, depth = sizes_.depth;
    std::vector<T> query(static_cast<std::size_t>(am), T(0)), context(static_cast<std::size_t>(depth), T(0)),
        align;
    add_product(h, sizes_.hidden, QW_, am, query.data());
    for (std::int64_t m = 0; m < memory; ++m) {
      const T* key = keys_.data() + (b * sizes_.memory + m) * am;
      T score = 0;
      for (std::int64_t i = 0; i < am; ++i)
        score += V_[i] * std::tanh(key[i] + query[static_cast<std::size_t>(i)]);
      align.push_back(score);
    }
    const T most = align.empty() ? T(0) : *std::ranges::max_element(align);
    T sum = 0;
    for (T& score : align) sum += score = std::exp(score - most);
    for (std::int64_t m = 0; m < memory; ++m) {
      const T weight = align[static_cast<std::size_t>(m)] / sum;
      for (std::int64_t i = 0; i < depth; ++i)
        context[static_cast<std::size_t>(i)] += weight * M_[(b * sizes_.memory + m) * depth + i];
    }
    if (AW_ == nullptr) {
      std::ranges::copy(context, attention);
      return;
    }
    std::fill_n(attention, sizes_.attention, T(0));
    add_product(h, sizes_.hidden, AW_, sizes_.attention, attention);
    add_product(context.data(), depth, AW_ + sizes_.hidden * sizes_.attention, sizes_.attention, attention);
  }

  const AttnLstm& op_;
  const AttnSizes& sizes_;
  const Activation* functions_;
  const T *W_, *R_, *B_, *P_, *QW_, *MW_, *V_, *AW_, *M_;
  std::vector<T> keys_;  // [batch, memory, am]
};

void require_dims(RunContext& run, std::size_t input, const Shape& wanted) {
  if (!run.has_input(input) || run.tensor(input).shape() == wanted) return;
  refuse();
}

AttnSizes read_attn_sizes(const AttnLstm& op, RunContext& run) {
  const Tensor &X = run.tensor(0), &QW = run.tensor(8), &M = run.tensor(11);
  if (X.rank() != 3 || QW.rank() != 3 || M.rank() != 3) refuse();
  const Tensor* AW = run.optional_tensor(13);
  if (AW != nullptr && AW->rank() != 3) refuse();
  const AttnSizes s{X.dim(0),
                    X.dim(1),
                    X.dim(2),
                    op.hidden,
                    std::ssize(op.reversed),
                    AW != nullptr ? AW->dim(2) : M.dim(2),
                    QW.dim(2),
                    M.dim(2),
                    M.dim(1)};
  require_dims(run, 1, {s.directions, 4 * s.hidden, s.input + s.attention});
  require_dims(run, 2, {s.directions, 4 * s.hidden, s.hidden});
  require_dims(run, 3, {s.directions, 8 * s.hidden});
  require_dims(run, 4, {s.batch});
  require_dims(run, 5, {s.directions, s.batch, s.hidden});
  require_dims(run, 6, {s.directions, s.batch, s.hidden});
  require_dims(run, 7, {s.directions, 3 * s.hidden});
  require_dims(run, 8, {s.directions, s.hidden, s.am});
  require_dims(run, 9, {s.directions, s.depth, s.am});
  require_dims(run, 10, {s.directions, s.am});
  require_dims(run, 11, {s.batch, s.memory, s.depth});
  require_dims(run, 12, {s.batch});
  require_dims(run, 13, {s.directions, s.depth + s.hidden, s.attention});
  return s;
}

std::int64_t length_at(const Tensor* lengths, std::int64_t b, std::int64_t all) {
  if (lengths == nullptr) return all;
  const std::int64_t length = lengths->data<std::int32_t>()[b];
  if (length < 0 || length > all) refuse();
  return length;
}

template <typename T>
void run_attn_lstm(const AttnLstm& op, RunContext& run) {
  const AttnSizes s = read_attn_sizes(op, run);
  const DType type = run.tensor(0).dtype();
  const Shape last{s.directions, s.batch, s.hidden};
  Tensor Y = Tensor::zeros(type, {s.steps, s.directions, s.batch, s.hidden});
  Tensor H = run.has_input(5) ? run.tensor(5) : Tensor::zeros(type, last);
  Tensor C = run.has_input(6) ? run.tensor(6) : Tensor::zeros(type, last);
  T *y = Y.mutable_data<T>(), *h_all = H.mutable_data<T>(), *c_all = C.mutable_data<T>();
  const T* x = run.tensor(0).data<T>();
  for (std::int64_t d = 0; d < s.directions; ++d) {
    const AttnCell<T> cell(op, s, run, d);
    for (std::int64_t b = 0; b < s.batch; ++b) {
      const std::int64_t length = length_at(run.optional_tensor(4), b, s.steps);
      const std::int64_t memory = length_at(run.optional_tensor(12), b, s.memory);
      std::vector<T> attention(static_cast<std::size_t>(s.attention), T(0));
      T *h = h_all + (d * s.batch + b) * s.hidden, *c = c_all + (d * s.batch + b) * s.hidden;
      for (std::int64_t t = 0; t < length; ++t) {
        run.check_limits();
        const std::int64_t at = op.reversed[static_cast<std::size_t>(d)] ? length - 1 - t : t;
        cell.step(x + (at * s.batch + b) * s.input, b, memory, h, c, attention.data());
        std::copy_n(h, s.hidden, y + ((at * s.directions + d) * s.batch + b) * s.hidden);
      }
    }
  }
  run.set_output(0, Y), run.set_output(1, H), run.set_output(2, C);
}

// No page knows the functions of recurrent layers.
void require_activations(const std::vector<std::string>& names, const std::vector<float>& alphas,
                         const std::vector<float>& betas) {
  std::size_t alpha = alphas.size(), beta = betas.size();
  const auto take = [](const opset::RecurrentParameter& parameter, std::size_t& left) {
    if (!parameter.used || left == 0) return !parameter.used || parameter.fallback.has_value();
    --left;
    return true;
  };
  for (const std::string& name : names) {
    const opset::RecurrentFunction* function = opset::find_recurrent_function(name);
    if (function == nullptr) fail_invalid("activations names '{}', which is no activation", name);
    if (!take(function->alpha, alpha)) fail_invalid("activation_alpha has no number for {}", name);
    if (!take(function->beta, beta)) fail_invalid("activation_beta has no number for {}", name);
  }
}

RunFunction prepare_attn_lstm(PrepareContext& node) {
  AttnLstm op;
  op.hidden = node.int_attribute("hidden_size");
  if (op.hidden < 1) refuse();
  const std::string direction = node.string_attribute("direction", "forward");
  if (direction != "reverse") op.reversed.push_back(false);
  if (direction != "forward") op.reversed.push_back(true);
  std::vector<std::string> names = node.strings_attribute("activations");
  const bool left_out = names.empty();
  for (std::size_t i = 0; left_out && i < op.reversed.size(); ++i)
    names.insert(names.end(), {"Sigmoid", "Tanh", "Tanh"});
  if (names.size() != 3 * op.reversed.size())
    fail_invalid("activations names {} functions, but must name {}", names.size(), 3 * op.reversed.size());
  require_activations(names, node.floats_attribute("activation_alpha"),
                      node.floats_attribute("activation_beta"));
  op.functions = parse_activations(names, node.floats_attribute("activation_alpha"),
                                   node.floats_attribute("activation_beta"));
  op.clip = node.optional_float("clip").value_or(no_clip);
  if (!(op.clip > 0)) refuse();
  op.couples = node.flag_attribute("input_forget", false);
  return [op](RunContext& run) {
    if (run.tensor(0).dtype() == DType::float64) return run_attn_lstm<double>(op, run);
    run_attn_lstm<float>(op, run);
  };
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_attn_lstm() {
  return {{"com.microsoft", "AttnLSTM", {1}, rnn::prepare_attn_lstm}};
}

}  // namespace grurun::engine
