// FlexAttention (ai.onnx.preview 1).
//
//   Scores = score_mod((Q K^T) * scale)      Probs = prob_mod(Softmax(Scores))      Y = Probs V
//
// Q [batch_size, q_num_heads, q_sequence_length, head_size], K [batch_size, kv_num_heads, kv_sequence_length,
// head_size], V [batch_size, kv_num_heads, kv_sequence_length, v_head_size], Y [batch_size, q_num_heads,
// q_sequence_length, v_head_size]. q_num_heads is a multiple of kv_num_heads; neighbouring query heads share
// a head of K and V. scale is 1 / sqrt(head_size) by default.
//
// score_mod and prob_mod are graphs of one input and one output [batch_size, q_num_heads, q_sequence_length,
// kv_sequence_length] in the type softmax_precision, by default float, double for double. Intermediate values
// have the types that they have in the schema's function body: scores Q's until they are cast, sqrt(scale)
// multiplied into Q and K beforehand.
#include <array>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"
#include "engine/ops/math/softmax.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "engine/ops/shared/matrix_product.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct FlexAttention {
  std::optional<float> scale;
  std::optional<DType> softmax_precision;
  std::shared_ptr<const Plan> score_mod, prob_mod;
};

struct Sizes {
  std::int64_t batch, q_heads, kv_heads, q_length, kv_length, head, v_head;
};

Sizes read_sizes(const Tensor& Q, const Tensor& K, const Tensor& V) {
  if (Q.rank() != 4 || K.rank() != 4 || V.rank() != 4) refuse();
  const Sizes sizes{.batch = Q.dim(0),
                    .q_heads = Q.dim(1),
                    .kv_heads = K.dim(1),
                    .q_length = Q.dim(2),
                    .kv_length = K.dim(2),
                    .head = Q.dim(3),
                    .v_head = V.dim(3)};
  const Shape k_shape{sizes.batch, sizes.kv_heads, sizes.kv_length, sizes.head};
  const Shape v_shape{sizes.batch, sizes.kv_heads, sizes.kv_length, sizes.v_head};
  if (!(K.shape() == k_shape) || !(V.shape() == v_shape)) refuse();
  const bool divides = sizes.kv_heads > 0 && sizes.q_heads % sizes.kv_heads == 0;
  if (!divides && sizes.q_heads != sizes.kv_heads) refuse();
  return sizes;
}

Tensor times(const Tensor& x, float factor) {
  Tensor y(x.dtype(), x.shape());
  dispatch(Floats{}, x.dtype(), [&]<typename T>() {
    using C = ComputeType<T>;
    const auto rounded = static_cast<C>(static_cast<T>(factor));
    const T* from = x.data<T>();
    T* to = y.mutable_data<T>();
    for (std::int64_t i = 0; i < x.size(); ++i) to[i] = static_cast<T>(static_cast<C>(from[i]) * rounded);
  });
  return y;
}

/// Query heads that share a head of K and V as rows of one matrix: [batch, kv_heads, group * length, width].
Tensor grouped(const Tensor& x, const Sizes& sizes) {
  const std::int64_t group = sizes.kv_heads > 0 ? sizes.q_heads / sizes.kv_heads : 0;
  return x.reshaped({sizes.batch, sizes.kv_heads, group * x.dim(2), x.dim(3)});
}

/// (Q K^T) * scale, [batch_size, q_num_heads, q_sequence_length, kv_sequence_length].
Tensor scores(const Tensor& Q, const Tensor& K, float scale, const Sizes& sizes) {
  const float root = std::sqrt(std::abs(scale));
  const Tensor scaled = times(K, root);
  const std::int64_t S = sizes.kv_length, E = sizes.head;
  const Tensor transposed = strided_copy(scaled, 0, {sizes.batch, sizes.kv_heads, E, S},
                                         std::array{sizes.kv_heads * S * E, S * E, std::int64_t{1}, E});
  return matrix_product(grouped(times(Q, std::copysign(root, scale)), sizes), transposed)
      .reshaped({sizes.batch, sizes.q_heads, sizes.q_length, S});
}

Tensor modified(RunContext& run, const Plan& body, const char* name, const Tensor& x) {
  const Tensor y = run.run_subgraph(body, {x})[0].tensor();
  if (y.dtype() != x.dtype() || !(y.shape() == x.shape())) {
    fail_invalid("{} must return {} {}, as it is given, but returns {} {}", name, dtype_name(x.dtype()),
                 x.shape().to_string(), dtype_name(y.dtype()), y.shape().to_string());
  }
  return y;
}

void attend(const FlexAttention& op, RunContext& run) {
  const Tensor& Q = run.tensor(0);
  const Tensor& K = run.tensor(1);
  const Tensor& V = run.tensor(2);
  const Sizes sizes = read_sizes(Q, K, V);
  const DType precision =
      op.softmax_precision.value_or(Q.dtype() == DType::float64 ? DType::float64 : DType::float32);
  const float scale = op.scale.value_or(1 / std::sqrt(static_cast<float>(sizes.head)));
  Tensor weights = cast_tensor(scores(Q, K, scale, sizes), precision);
  if (op.score_mod) weights = modified(run, *op.score_mod, "score_mod", weights);
  weights = softmax(weights, -1);
  if (op.prob_mod) weights = modified(run, *op.prob_mod, "prob_mod", weights);
  const Tensor Y = matrix_product(grouped(weights, sizes), cast_tensor(V, precision));
  run.set_output(
      0, cast_tensor(Y, Q.dtype()).reshaped({sizes.batch, sizes.q_heads, sizes.q_length, sizes.v_head}));
}

RunFunction prepare_flex_attention(PrepareContext& node) {
  FlexAttention op;
  op.scale = node.optional_float("scale");
  op.softmax_precision = dtype_attribute(node, "softmax_precision", Floats::set);
  for (const auto& [name, body] :
       {std::pair{"score_mod", &op.score_mod}, std::pair{"prob_mod", &op.prob_mod}}) {
    if (!node.has_attribute(name)) continue;
    *body = node.subgraph(name);
    require_body(**body, "FlexAttention", 1, 1);
  }
  return [op](RunContext& run) { attend(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_flex_attention() {
  return {{"ai.onnx.preview", "FlexAttention", {1}, prepare_flex_attention}};
}

}  // namespace grurun::engine
