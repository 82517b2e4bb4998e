// MoE and QMoE (com.microsoft 1): a mixture of experts.
//
//   output[t] = sum over the k experts e of the highest router_probs[t]: p[t, e] * (fc2[e] * h[t, e] + bias)
//   h[t, e] = activation(fc1[e] * input[t] + bias)
//
// p is Softmax(router_probs[t]), divided by the sum of those of the k with normalize_routing_weights; QMoE
// takes p from router_weights where that is given. With swiglu, h = G * Sigmoid(activation_alpha * G) * (L +
// activation_beta) where G = min(g, swiglu_limit) and L = l within +-swiglu_limit; g and l are the rows of
// fc1 by turns (swiglu_fusion 1), its halves (2), or what fc1 and fc3 make (0). input [tokens, hidden_size]
// or [batch_size, length, hidden_size]; router_probs [tokens, experts]. Weights: expert_weights.h. All is
// computed in float.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/ops/microsoft/expert_weights.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

enum class ExpertActivation { relu, gelu, silu, swiglu, identity };

struct Mixture {
  ExpertActivation activation = ExpertActivation::relu;
  std::int64_t k = 1, fusion = 0;
  bool normalizes = false, quantized = false;
  float alpha = 1, beta = 0, limit = std::numeric_limits<float>::infinity();
  PackedWeights fc1, fc2, fc3;

  /// That fc3 gates what fc1 makes.
  bool is_apart() const { return activation == ExpertActivation::swiglu && fusion == 0; }
};

// Where a node has its inputs.
struct MixtureInputs {
  std::size_t fc1, fc2, fc3;
  std::size_t bias;                        // how far behind the weights
  std::optional<std::size_t> zero_points;  // of fc1; the others' follow
};

constexpr MixtureInputs plain_inputs{2, 4, 6, 1, std::nullopt};
constexpr MixtureInputs quantized_inputs{2, 5, 8, 2, 11};
constexpr std::size_t router_weights_input = 14;

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

float activated(ExpertActivation activation, float x) {
  switch (activation) {
    case ExpertActivation::relu:
      return std::max(x, 0.0f);
    case ExpertActivation::gelu:
      return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    case ExpertActivation::silu:
      return x * sigmoid(x);
    default:
      return x;
  }
}

struct Route {
  std::int64_t token;
  float weight;
};

// The tokens of each expert.
std::vector<std::vector<Route>> routed(const Mixture& op, const Tensor& logits, const Tensor* weights) {
  const std::int64_t tokens = logits.dim(0), experts = logits.dim(1);
  const Tensor wide = widened<float>(logits),
               given = weights != nullptr ? widened<float>(*weights) : Tensor();
  std::vector<std::vector<Route>> routes(static_cast<std::size_t>(experts));
  std::vector<float> probabilities(routes.size());
  std::vector<std::size_t> order(routes.size());
  for (std::int64_t t = 0; t < tokens; ++t) {
    const float* row = wide.data<float>() + t * experts;
    const float most = *std::max_element(row, row + experts);
    std::transform(row, row + experts, probabilities.begin(), [most](float x) { return std::exp(x - most); });
    const float sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0f);
    for (float& probability : probabilities) probability /= sum;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + op.k, order.end(), [&](std::size_t a, std::size_t b) {
      return row[a] > row[b] || (row[a] == row[b] && a > b);
    });
    const auto weight = [&](std::size_t e) {
      return weights != nullptr ? given.data<float>()[t * experts + static_cast<std::int64_t>(e)]
                                : probabilities[e];
    };
    float taken = 0;
    for (std::int64_t j = 0; j < op.k; ++j) taken += weight(order[static_cast<std::size_t>(j)]);
    for (std::int64_t j = 0; j < op.k; ++j) {
      const std::size_t e = order[static_cast<std::size_t>(j)];
      routes[e].push_back({t, op.normalizes ? weight(e) / taken : weight(e)});
    }
  }
  return routes;
}

// y [tokens, inter] of what the projections make, fc1 [tokens, width] and, unless they are fused, fc3.
std::vector<float> hidden_of(const Mixture& op, const std::vector<float>& fc1, const std::vector<float>& fc3,
                             std::int64_t tokens, std::int64_t inter) {
  std::vector<float> made(static_cast<std::size_t>(tokens * inter));
  const auto n = static_cast<std::size_t>(inter);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (op.activation != ExpertActivation::swiglu) {
      made[i] = activated(op.activation, fc1[i]);
      continue;
    }
    const std::size_t row = i / n, at = i % n;
    float g = fc1[i], l = 0;
    if (op.fusion == 1) g = fc1[2 * i], l = fc1[2 * i + 1];
    if (op.fusion == 2) g = fc1[row * 2 * n + at], l = fc1[row * 2 * n + n + at];
    if (op.fusion == 0) l = fc3[i];
    g = std::min(g, op.limit), l = std::clamp(l, -op.limit, op.limit);
    made[i] = g * sigmoid(op.alpha * g) * (l + op.beta);
  }
  return made;
}

void mix(const Mixture& op, RunContext& run) {
  const MixtureInputs& at = op.quantized ? quantized_inputs : plain_inputs;
  const Tensor &input = run.tensor(0), &logits = run.tensor(1);
  if ((input.rank() != 2 && input.rank() != 3) || logits.rank() != 2) refuse();
  const std::int64_t hidden = input.dim(input.rank() - 1), experts = logits.dim(1);
  const std::int64_t tokens = hidden == 0 ? 0 : input.size() / hidden;
  if (logits.dim(0) != tokens) refuse();
  if (op.k > experts) refuse();
  const Tensor* weights = op.quantized ? run.optional_tensor(router_weights_input) : nullptr;
  if (weights != nullptr && !(weights->shape() == logits.shape())) refuse();
  const auto projection = [&](const char* part, const PackedWeights& packed, std::size_t weight,
                              std::size_t number, std::int64_t columns) {
    std::optional<std::size_t> zero;
    if (at.zero_points) zero = *at.zero_points + number;
    return Projection(run, part, packed, weight, weight + at.bias, weight + 1, zero, experts, columns);
  };
  const Projection fc1 = projection("fc1", op.fc1, at.fc1, 0, hidden);
  const bool apart = op.is_apart();
  const bool fused = op.activation == ExpertActivation::swiglu && !apart;
  if (fused && fc1.rows() % 2 != 0) refuse();
  const std::int64_t inter = fused ? fc1.rows() / 2 : fc1.rows();
  std::optional<Projection> fc3;
  if (apart) fc3 = projection("fc3", op.fc3, at.fc3, 2, hidden);
  if (fc3 && fc3->rows() != inter) refuse();
  const Projection fc2 = projection("fc2", op.fc2, at.fc2, 1, inter);
  if (fc2.rows() != hidden) refuse();

  const Tensor wide = widened<float>(input);
  Tensor output = Tensor::zeros(DType::float32, input.shape());
  float* y = output.mutable_data<float>();
  const auto routes = routed(op, logits, weights);
  std::vector<float> x, made, gate, out;
  for (std::size_t e = 0; e < routes.size(); ++e) {
    run.check_limits();
    if (routes[e].empty()) continue;
    const auto expert = static_cast<std::int64_t>(e), count = std::ssize(routes[e]);
    x.clear();
    for (const Route& route : routes[e]) {
      const float* row = wide.data<float>() + route.token * hidden;
      x.insert(x.end(), row, row + hidden);
    }
    fc1.multiply(expert, x.data(), count, made);
    if (fc3) fc3->multiply(expert, x.data(), count, gate);
    const std::vector<float> h = hidden_of(op, made, gate, count, inter);
    fc2.multiply(expert, h.data(), count, out);
    for (std::size_t r = 0; r < routes[e].size(); ++r) {
      float* to = y + routes[e][r].token * hidden;
      const float* from = out.data() + static_cast<std::int64_t>(r) * hidden;
      for (std::int64_t i = 0; i < hidden; ++i) to[i] += routes[e][r].weight * from[i];
    }
  }
  run.set_output(0, narrowed(output, input.dtype()));
}

ExpertActivation expert_activation(const std::string& name) {
  if (name == "relu") return ExpertActivation::relu;
  if (name == "gelu") return ExpertActivation::gelu;
  if (name == "silu") return ExpertActivation::silu;
  if (name == "swiglu") return ExpertActivation::swiglu;
  if (name == "identity") return ExpertActivation::identity;
  fail_unsupported("experts with the activation_type {}", name);
}

Mixture read_mixture(PrepareContext& node) {
  Mixture op;
  op.activation = expert_activation(node.string_attribute("activation_type", "relu"));
  op.k = node.int_attribute("k", 1);
  op.fusion = node.int_attribute("swiglu_fusion", 0);
  if (op.k < 1 || op.fusion < 0 || op.fusion > 2) refuse();
  op.normalizes = node.int_attribute("normalize_routing_weights", 0) != 0;
  op.alpha = node.float_attribute("activation_alpha", 1),
  op.beta = node.float_attribute("activation_beta", 0);
  op.limit = node.optional_float("swiglu_limit").value_or(op.limit);
  if (!(op.limit >= 0)) fail_invalid("swiglu_limit is {}, but must not be negative", op.limit);
  if (node.int_attribute("use_sparse_mixer", 0) != 0)
    fail_unsupported("{} with use_sparse_mixer", node.op_type());
  if (node.int_attribute("swiglu_limit_after_activation", 0) != 0)
    fail_unsupported("{} with swiglu_limit_after_activation", node.op_type());
  return op;
}

// What is for other forms of experts.
void require_weight_form(const Mixture& op, const MixtureInputs& at, const PrepareContext& node) {
  if (node.has_input(at.fc3) != op.is_apart()) {
    fail_unsupported("{}: fc3_experts_weights is for swiglu with swiglu_fusion 0, and needed there",
                     node.op_type());
  }
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const bool of_fc3 = (i > at.fc3 && i <= at.fc3 + at.bias) || (at.zero_points && i == *at.zero_points + 2);
    if (node.has_input(i) && ((of_fc3 && !op.is_apart()) || i > router_weights_input))
      fail_unsupported("{} with input {}, which is of another form of weights", node.op_type(), i);
  }
}

RunFunction prepare_moe(PrepareContext& node) {
  const Mixture op = read_mixture(node);
  require_weight_form(op, plain_inputs, node);
  return [op](RunContext& run) { mix(op, run); };
}

RunFunction prepare_qmoe(PrepareContext& node) {
  Mixture op = read_mixture(node);
  op.quantized = true;
  node.accept_attribute("accuracy_level");  // how inexact a product may be; these are in float
  if (const std::string type = node.string_attribute("quant_type", "int"); type != "int")
    fail_unsupported("QMoE with the quant_type {}", type);
  if (node.int_attribute("weights_prepacked", -1) == 1)
    fail_unsupported("QMoE with weights_prepacked 1, a layout of other providers");
  const std::int64_t all = node.int_attribute("expert_weight_bits", 4);
  const std::int64_t size = node.int_attribute("block_size", 0);
  const auto read = [&](const char* name) {
    const std::int64_t bits = node.int_attribute(name, all);
    if (bits != 2 && bits != 4 && bits != 8) fail_unsupported("QMoE with weights of {} bits", bits);
    return PackedWeights{bits, std::max<std::int64_t>(size, 0)};
  };
  op.fc1 = read("fc1_expert_weight_bits"), op.fc2 = read("fc2_expert_weight_bits");
  op.fc3 = read("fc3_expert_weight_bits");
  require_weight_form(op, quantized_inputs, node);
  return [op](RunContext& run) { mix(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_moe() {
  const TypeRule bytes{"T1", TypeList<std::uint8_t>::set};
  return {{"com.microsoft", "MoE", {1}, prepare_moe},
          {"com.microsoft", "QMoE", {1}, prepare_qmoe, {bytes, {"T2", Floats::set}}}};
}

}  // namespace grurun::engine
