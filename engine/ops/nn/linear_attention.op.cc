// LinearAttention (ai.onnx 27): a recurrence over the tokens t, for each batch entry and head of key and
// value.
//
//   S_t = exp(g_t) * S_(t-1) + k_t w_t^T        output_t = scale * q_t^T S_t
//
//   update_rule     exp(g_t)     w_t
//   linear          1            v_t
//   gated           of decay     v_t
//   delta           1            beta_t * (v_t - S_(t-1)^T k_t)
//   gated_delta     of decay     beta_t * (v_t - (exp(g_t) * S_(t-1))^T k_t)
//
// query [B, T, q_num_heads * d_k], key [B, T, kv_num_heads * d_k], value [B, T, kv_num_heads * d_v], output
// [B, T, q_num_heads * d_v]; query heads in groups of q_num_heads / kv_num_heads read the same state.
// past_state, zeros by default, and present_state [B, kv_num_heads, d_k, d_v]. decay g [B, T, kv_num_heads *
// d_k], or [B, T, kv_num_heads] for a head at a time; beta [B, T, kv_num_heads], or [B, T, 1] for all. scale
// is 1 / sqrt(d_k) where the attribute is 0, the default. All is computed in float; the state keeps float
// throughout and becomes past_state's type, or query's without one.
//
// com.microsoft's also takes fewer query heads than heads of the state, each read by as many of these, and
// fewer heads of the key. With state_window W it holds states of W tokens, [W, B, kv_num_heads, d_k, d_v]:
// the last is that after the last token, and the one to begin with; those before the first token are 0.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_fused.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

struct LinearAttention {
  std::int64_t q_heads, kv_heads;
  float scale;
  bool gated, delta;
  std::int64_t window = 0;
  bool shares_heads = false;  // com.microsoft's

  std::int64_t output_heads() const { return std::max(q_heads, kv_heads); }
};

struct Sizes {
  std::int64_t batch, length, d_k, d_v, k_heads;
};

/// What a head takes of the last dimension of an input [B, T, heads * width].
std::int64_t packed_width(const Tensor& tensor, const Tensor& query, std::int64_t heads) {
  const bool fits = tensor.rank() == 3 && tensor.dim(0) == query.dim(0) && tensor.dim(1) == query.dim(1);
  if (!fits || tensor.dim(2) % heads != 0) refuse();
  return tensor.dim(2) / heads;
}

Sizes read_sizes(const LinearAttention& op, RunContext& run) {
  const Tensor& query = run.tensor(0);
  if (query.rank() != 3) refuse();
  Sizes sizes{query.dim(0), query.dim(1), packed_width(query, query, op.q_heads),
              packed_width(run.tensor(2), query, op.kv_heads), op.kv_heads};
  const auto one_of = [&](std::size_t index, std::int64_t first, std::int64_t second) {
    const std::int64_t width = packed_width(run.tensor(index), query, 1);
    if (width != first && width != second) refuse();
  };
  const std::int64_t keys = checked_mul(op.kv_heads, sizes.d_k);
  const std::int64_t key_width = packed_width(run.tensor(1), query, 1);
  if (op.shares_heads && sizes.d_k > 0 && key_width > 0 && key_width % sizes.d_k == 0)
    sizes.k_heads = key_width / sizes.d_k;
  if (key_width != sizes.k_heads * sizes.d_k || op.kv_heads % sizes.k_heads != 0) refuse();
  const auto fits = [&](std::size_t input, bool used) {
    return run.has_input(input) == used || (op.shares_heads && !used);
  };
  if (!fits(4, op.gated) || !fits(5, op.delta)) refuse();
  for (const std::size_t input : {4, 5})
    if (run.has_input(input)) run.accept_input(input);  // com.microsoft's may be without effect
  if (op.gated) one_of(4, op.kv_heads, keys);
  if (op.delta) one_of(5, op.kv_heads, 1);
  Shape state{sizes.batch, op.kv_heads, sizes.d_k, sizes.d_v};
  if (op.window > 0) state = Shape{op.window, sizes.batch, op.kv_heads, sizes.d_k, sizes.d_v};
  if (run.has_input(3) && !(run.tensor(3).shape() == state)) refuse();
  return sizes;
}

struct Inputs {
  Tensor query, key, value, decay, beta;  // all as float
};

/// One head's walk over the tokens. scratch holds 2 * d_k + d_v. windows: [window, batch, kv_heads, d_k,
/// d_v], or nullptr.
void run_head(const LinearAttention& op, const Sizes& sizes, const Inputs& in, std::int64_t batch,
              std::int64_t head, float* state, float* scratch, float* output, float* windows) {
  const std::int64_t dk = sizes.d_k, dv = sizes.d_v,
                     group = std::max<std::int64_t>(1, op.q_heads / op.kv_heads);
  const std::int64_t k_head = head * sizes.k_heads / op.kv_heads, q_head = head * op.q_heads / op.kv_heads;
  const float scale = op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<float>(dk));
  float *keep = scratch, *seen = keep + dk, *write = seen + dk;
  std::fill_n(keep, dk, 1.0f);
  const std::int64_t decay_width = op.gated ? in.decay.dim(2) / op.kv_heads : 0;
  for (std::int64_t t = 0; t < sizes.length; ++t) {
    const std::int64_t token = batch * sizes.length + t;
    const float* k = in.key.data<float>() + (token * sizes.k_heads + k_head) * dk;
    const float* v = in.value.data<float>() + (token * op.kv_heads + head) * dv;
    if (op.gated) {
      kernels::vec_exp(in.decay.data<float>() + (token * op.kv_heads + head) * decay_width, keep,
                       decay_width);
      if (decay_width == 1) std::fill_n(keep, dk, keep[0]);
    }
    if (op.delta) {
      kernels::vec_mul(k, keep, seen, dk);
      kernels::gemm<float>(1, dv, dk, -1.0f, {seen, dk}, {state, dv}, 0.0f, write, dv);
      kernels::vec_add(write, v, write, dv);
      kernels::vec_mul(write, in.beta.data<float>()[in.beta.dim(2) == 1 ? token : token * op.kv_heads + head],
                       write, dv);
      v = write;
    }
    kernels::vec_update_rows(keep, k, v, state, dk, dv);
    const float* q = in.query.data<float>() + (token * op.q_heads + q_head) * dk;
    float* o = output + (token * op.output_heads() + head * group) * dv;
    kernels::gemm<float>(group, dv, dk, scale, {q, dk}, {state, dv}, 0.0f, o, dv);
    const std::int64_t slot = t - sizes.length + op.window;
    if (windows != nullptr && slot >= 0)
      std::copy_n(state, dk * dv, windows + ((slot * sizes.batch + batch) * op.kv_heads + head) * dk * dv);
  }
}

/// The state to begin with [batch, kv_heads, d_k, d_v], in float: of a window the last one.
Tensor first_state(const LinearAttention& op, const Sizes& sizes, const Tensor* past) {
  const Shape shape{sizes.batch, op.kv_heads, sizes.d_k, sizes.d_v};
  if (past == nullptr) return Tensor::zeros(DType::float32, shape);
  const Tensor wide = widened<float>(*past);
  if (op.window == 0) return wide;
  Tensor last(DType::float32, shape);
  std::copy_n(wide.data<float>() + (op.window - 1) * last.size(), last.size(), last.mutable_data<float>());
  return last;
}

void attend(const LinearAttention& op, RunContext& run) {
  const Sizes sizes = read_sizes(op, run);
  const DType type = run.tensor(0).dtype();
  const auto optional = [&](std::size_t index, bool used) {
    return used ? widened<float>(run.tensor(index)) : Tensor();
  };
  const Inputs in{widened<float>(run.tensor(0)), widened<float>(run.tensor(1)), widened<float>(run.tensor(2)),
                  optional(4, op.gated), optional(5, op.delta)};
  const Tensor* past = run.optional_tensor(3);
  Tensor state = first_state(op, sizes, past), windows;
  if (op.window > 0)
    windows = Tensor::zeros(DType::float32, Shape{op.window, sizes.batch, op.kv_heads, sizes.d_k, sizes.d_v});
  float* kept = op.window > 0 ? windows.mutable_data<float>() : nullptr;
  const auto set_outputs = [&](const Tensor& made) {
    run.set_output(0, narrowed(made, type));
    if (run.has_output(1))
      run.set_output(1, narrowed(op.window > 0 ? windows : state, past == nullptr ? type : past->dtype()));
  };
  Tensor output(DType::float32, Shape{sizes.batch, sizes.length, checked_mul(op.output_heads(), sizes.d_v)});
  float *s = state.mutable_data<float>(), *o = output.mutable_data<float>();
  if (output.size() == 0 && state.size() == 0) return set_outputs(output);
  const std::int64_t size = checked_mul(sizes.d_k, sizes.d_v);
  const double work = static_cast<double>(sizes.length) * static_cast<double>(size + 16);
  kernels::parallel_for(checked_mul(sizes.batch, op.kv_heads),
                        static_cast<std::int64_t>(50'000 / (work + 1)) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          Tensor scratch(DType::float32, Shape{2 * sizes.d_k + sizes.d_v});
                          for (std::int64_t i = begin; i < end; ++i) {
                            run_head(op, sizes, in, i / op.kv_heads, i % op.kv_heads, s + i * size,
                                     scratch.mutable_data<float>(), o, kept);
                          }
                        });
  set_outputs(output);
}

LinearAttention read_linear_attention(PrepareContext& node) {
  LinearAttention op{};
  op.q_heads = node.int_attribute("q_num_heads");
  op.kv_heads = node.int_attribute("kv_num_heads");
  if (op.q_heads < 1 || op.kv_heads < 1) refuse();
  op.scale = node.float_attribute("scale", 0.0f);
  node.accept_attribute("chunk_size");  // a hint about speed, without effect on values
  const std::string rule = node.string_attribute("update_rule", "gated_delta");
  op.gated = rule.starts_with("gated");
  op.delta = rule.ends_with("delta");
  return op;
}

RunFunction prepare_linear_attention(PrepareContext& node) {
  const LinearAttention op = read_linear_attention(node);
  if (op.q_heads % op.kv_heads != 0) refuse();
  return [op](RunContext& run) { attend(op, run); };
}

RunFunction prepare_microsoft_linear_attention(PrepareContext& node) {
  LinearAttention op = read_linear_attention(node);
  op.shares_heads = true;
  op.window = node.int_attribute("state_window", 0);
  if (op.window < 0 || op.window > 8) refuse();
  const auto [less, more] = std::minmax(op.q_heads, op.kv_heads);
  if (more % less != 0) refuse();
  return [op](RunContext& run) { attend(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_linear_attention() {
  return {{"", "LinearAttention", {27}, prepare_linear_attention},
          {"com.microsoft", "LinearAttention", {1}, prepare_microsoft_linear_attention}};
}

}  // namespace grurun::engine
