// Adagrad, Adam, Momentum (ai.onnx.preview.training 1): one step of an optimizer on any number of tensors X,
// each with its gradient G and what the optimizer keeps of earlier ones. R: learning rate; T: update count.
//
//   Gr = norm_coefficient * X + G
//   Adagrad:  H' = H + Gr^2;  X' = X - R / (1 + T * decay_factor) * Gr / (sqrt(H') + epsilon)
//   Adam:     V' = alpha * V + (1 - alpha) * Gr;  H' = beta * H + (1 - beta) * Gr^2
//             r = T > 0 ? R * sqrt(1 - beta^T) / (1 - alpha^T) : R
//             X' = (1 - norm_coefficient_post) * (X - r * V' / (sqrt(H') + epsilon))
//   Momentum: V' = alpha * V + (T > 0 ? beta : 1) * Gr
//             mode standard: X' = X - R * V'; nesterov: X' = X - R * (Gr + alpha * V')
//
// Inputs: R, T, all X, all G, all V (Adam, Momentum), all H (Adam, Adagrad). Outputs: all X', V', H' in that
// order. What belongs to one X has its shape and type; scalars are worked out in double and rounded to that
// type.
#include <array>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using OptimizedTypes = TypeList<float, double>;

struct Progress {
  double R;
  std::int64_t T;
};

// Each rule: how many tensors of state an X has, and for an element type the step of one element, which
// updates the state and returns the new x.

struct Adagrad {
  static constexpr std::size_t states = 1;
  double norm_coefficient, decay_factor, epsilon;

  template <typename T>
  auto step(const Progress& at) const {
    const auto norm = static_cast<T>(norm_coefficient), tiny = static_cast<T>(epsilon);
    const auto rate = static_cast<T>(at.R / (1 + static_cast<double>(at.T) * decay_factor));
    return [=](T x, T g, std::array<T, 1>& state) {
      const T gradient = norm * x + g;
      state[0] += gradient * gradient;
      return x - rate * gradient / (std::sqrt(state[0]) + tiny);
    };
  }
};

struct Adam {
  static constexpr std::size_t states = 2;
  double norm_coefficient, norm_coefficient_post, alpha, beta, epsilon;

  template <typename T>
  auto step(const Progress& at) const {
    const auto norm = static_cast<T>(norm_coefficient), tiny = static_cast<T>(epsilon);
    const auto keep_v = static_cast<T>(alpha), add_v = static_cast<T>(1 - alpha);
    const auto keep_h = static_cast<T>(beta), add_h = static_cast<T>(1 - beta);
    const auto shrink = static_cast<T>(1 - norm_coefficient_post);
    const auto count = static_cast<double>(at.T);
    const auto rate = static_cast<T>(
        at.T > 0 ? at.R * std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count)) : at.R);
    return [=](T x, T g, std::array<T, 2>& state) {
      auto& [v, h] = state;
      const T gradient = norm * x + g;
      v = keep_v * v + add_v * gradient;
      h = keep_h * h + add_h * (gradient * gradient);
      return shrink * (x - rate * v / (std::sqrt(h) + tiny));
    };
  }
};

struct Momentum {
  static constexpr std::size_t states = 1;
  double norm_coefficient, alpha, beta;
  bool nesterov;

  template <typename T>
  auto step(const Progress& at) const {
    const auto norm = static_cast<T>(norm_coefficient), keep = static_cast<T>(alpha);
    const auto add = static_cast<T>(at.T > 0 ? beta : 1), rate = static_cast<T>(at.R);
    return [=, ahead = nesterov](T x, T g, std::array<T, 1>& state) {
      const T gradient = norm * x + g;
      state[0] = keep * state[0] + add * gradient;
      return x - rate * (ahead ? gradient + keep * state[0] : state[0]);
    };
  }
};

void require_alike(const Tensor& x, const Tensor& other) {
  if (other.dtype() != x.dtype() || other.shape() != x.shape()) refuse();
}

/// Variable i of count: inputs 2 + i + k * count are x, its gradient, its states; outputs i + k * count the
/// new x, its new states.
template <typename T, typename Rule>
void optimize(RunContext& run, const Rule& rule, const Progress& at, std::size_t i, std::size_t count) {
  constexpr std::size_t states = Rule::states;
  const std::size_t first = 2 + i;
  const Tensor& x = run.tensor(first);
  const Tensor& g = run.tensor(first + count);
  require_alike(x, g);
  std::array<const T*, states> from{};
  std::array<T*, states> to{};
  T* x_new = run.output(i, x.dtype(), x.shape()).template mutable_data<T>();
  for (std::size_t k = 0; k < states; ++k) {
    const std::size_t index = first + (2 + k) * count;
    require_alike(x, run.tensor(index));
    from[k] = run.tensor(index).template data<T>();
    to[k] = run.output(i + (1 + k) * count, x.dtype(), x.shape()).template mutable_data<T>();
  }
  const auto step = rule.template step<T>(at);
  for (std::int64_t e = 0; e < x.size(); ++e) {
    std::array<T, states> state;
    for (std::size_t k = 0; k < states; ++k) state[k] = from[k][e];
    x_new[e] = step(x.data<T>()[e], g.data<T>()[e], state);
    for (std::size_t k = 0; k < states; ++k) to[k][e] = state[k];
  }
}

template <typename Rule>
RunFunction optimizer(PrepareContext& node, const Rule& rule) {
  constexpr std::size_t kinds = 2 + Rule::states;
  const std::size_t variables = node.input_count() < 2 ? 0 : node.input_count() - 2;
  if (variables == 0 || variables % kinds != 0) refuse();
  const std::size_t count = variables / kinds;
  if (node.output_count() != count * (kinds - 1)) refuse();
  return [rule, count](RunContext& run) {
    const Tensor& R = run.tensor(0);
    if (R.size() != 1 || R.rank() > 1) refuse();
    const Progress at{dispatch(OptimizedTypes{}, R.dtype(),
                               [&]<typename T>() { return static_cast<double>(*R.data<T>()); }),
                      integer_scalar(run.tensor(1))};
    for (std::size_t i = 0; i < count; ++i) {
      dispatch(OptimizedTypes{}, run.tensor(2 + i).dtype(),
               [&]<typename T>() { optimize<T>(run, rule, at, i, count); });
    }
  };
}

double number(PrepareContext& node, const char* name) {
  return static_cast<double>(node.float_attribute(name));
}
double number(PrepareContext& node, const char* name, float fallback) {
  return static_cast<double>(node.float_attribute(name, fallback));
}

RunFunction prepare_adagrad(PrepareContext& node) {
  return optimizer(node, Adagrad{.norm_coefficient = number(node, "norm_coefficient", 0),
                                 .decay_factor = number(node, "decay_factor", 0),
                                 .epsilon = number(node, "epsilon", 1e-6f)});
}

RunFunction prepare_adam(PrepareContext& node) {
  return optimizer(node, Adam{.norm_coefficient = number(node, "norm_coefficient", 0),
                              .norm_coefficient_post = number(node, "norm_coefficient_post", 0),
                              .alpha = number(node, "alpha", 0.9f),
                              .beta = number(node, "beta", 0.999f),
                              .epsilon = number(node, "epsilon", 1e-6f)});
}

RunFunction prepare_momentum(PrepareContext& node) {
  const std::string mode = node.string_attribute("mode");
  return optimizer(node, Momentum{.norm_coefficient = number(node, "norm_coefficient"),
                                  .alpha = number(node, "alpha"),
                                  .beta = number(node, "beta"),
                                  .nesterov = mode == "nesterov"});
}

}  // namespace

std::vector<OpRow> op_rows_optimizer() {
  return {{"ai.onnx.preview.training", "Adagrad", {1}, prepare_adagrad},
          {"ai.onnx.preview.training", "Adam", {1}, prepare_adam},
          {"ai.onnx.preview.training", "Momentum", {1}, prepare_momentum}};
}

}  // namespace grurun::engine
