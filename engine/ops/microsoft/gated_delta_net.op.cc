// GatedDeltaNet (com.microsoft 1): the recurrence of LinearAttention over tokens that lie one behind the
// other, and a state in float.
//
//   S_t = exp(g_t) * S_(t-1) + k_t delta_t^T      output_t = scale * q_t^T S_t
//   delta_t = beta_t * (v_t - (exp(g_t) * S_(t-1))^T k_t), or v_t for update_rule linear and gated
//
// query and key [tokens, num_heads_q, head_size_qk], value [tokens, num_heads_v, head_size_v], or all in
// query [tokens, width]; [batch_size, length] may stand for tokens. A head of q and k serves num_heads_v /
// num_heads_q heads of v. decay [tokens, num_heads_v] or [tokens, num_heads_v, head_size_qk]: g, or with
// gate_activation softplus -exp(a_log) * Softplus(decay + dt_bias), with sigmoid gate_lower_bound *
// Sigmoid(exp(a_log) * (decay + dt_bias)). States [batch_size, num_heads_v, head_size_v, head_size_qk].
// cu_seqlens [batch_size + 1] parts the sequences; without it they are of one length. state_update: for the
// first state_update_capacity tokens of each the decays exp(g), then the keys, then the deltas, 0 behind
// capture_count.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

enum class GateActivation { none, softplus, sigmoid };

struct DeltaNet {
  bool gated = true, delta = true, beta_sigmoid = false, normalizes = false;
  GateActivation gate = GateActivation::none;
  float lower_bound = -5, scale = 0;
  std::int64_t capacity = 0;
};

struct DeltaSizes {
  std::int64_t tokens = 0, batch = 0, heads = 0, v_heads = 0, dk = 0, dv = 0, decay_width = 0;

  std::int64_t update_row() const {
    const std::int64_t decays = checked_mul(decay_width, v_heads), keys = checked_mul(heads, dk);
    return checked_add(checked_add(decays, keys), checked_mul(v_heads, dv));
  }
};

struct DeltaInputs {
  Tensor q, k, v, decay, beta, a_log, dt_bias;      // in float; q, k and v of packed inputs are one tensor
  std::int64_t q_step, k_step, v_step, k_at, v_at;  // between tokens, and where k and v begin
  std::span<const std::int32_t> ends;  // where sequences end, and 0 before; empty: all are of `length`
  std::int64_t length = 0;

  std::int64_t begin(std::int64_t b) const {
    return ends.empty() ? b * length : ends[static_cast<std::size_t>(b)];
  }
};

float unit_sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

float softplus(float x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}

// The decay exp(g) of a head, for element i of its key.
float decay_of(const DeltaNet& op, const DeltaSizes& sizes, const DeltaInputs& in, std::int64_t token,
               std::int64_t head, std::int64_t i) {
  if (!op.gated) return 1;
  const std::int64_t own = sizes.decay_width == 1 ? head : head * sizes.dk + i;
  float g = in.decay.data<float>()[token * sizes.v_heads * sizes.decay_width + own];
  if (op.gate == GateActivation::none) return std::exp(g);
  if (in.dt_bias.defined())
    g += in.dt_bias.data<float>()[in.dt_bias.size() == sizes.v_heads ? head : head * sizes.dk + i];
  const float rate = std::exp(in.a_log.data<float>()[head]);
  return std::exp(op.gate == GateActivation::softplus ? -rate * softplus(g)
                                                      : op.lower_bound * unit_sigmoid(rate * g));
}

void take_head(const DeltaNet& op, const float* from, std::int64_t n, float* to) {
  std::copy_n(from, n, to);
  if (!op.normalizes) return;
  float squares = 0;
  for (std::int64_t i = 0; i < n; ++i) squares += to[i] * to[i];
  const float factor = 1 / std::sqrt(squares + 1e-12f);
  for (std::int64_t i = 0; i < n; ++i) to[i] *= factor;
}

struct DeltaOutputs {
  float* output;
  float* state;
  float* update;  // nullptr: not wanted
  std::vector<std::int64_t> captured;
};

// One head of one sequence.
void walk(const DeltaNet& op, const DeltaSizes& sizes, const DeltaInputs& in, std::int64_t b,
          std::int64_t head, const DeltaOutputs& out) {
  const std::int64_t dk = sizes.dk, dv = sizes.dv, group = sizes.v_heads / sizes.heads, k_head = head / group;
  const float scale = op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<float>(dk));
  std::vector<float> q(static_cast<std::size_t>(dk)), k(q), keep(q), delta(static_cast<std::size_t>(dv));
  float* S = out.state + (b * sizes.v_heads + head) * dv * dk;
  const std::int64_t begin = in.begin(b), end = in.begin(b + 1);
  for (std::int64_t t = begin; t < end; ++t) {
    take_head(op, in.q.data<float>() + t * in.q_step + k_head * dk, dk, q.data());
    take_head(op, in.k.data<float>() + t * in.k_step + in.k_at + k_head * dk, dk, k.data());
    for (std::int64_t i = 0; i < dk; ++i)
      keep[static_cast<std::size_t>(i)] = decay_of(op, sizes, in, t, head, i);
    const float* v = in.v.data<float>() + t * in.v_step + in.v_at + head * dv;
    float beta = op.delta ? in.beta.data<float>()[t * sizes.v_heads + head] : 1;
    if (op.delta && op.beta_sigmoid) beta = unit_sigmoid(beta);
    for (std::int64_t j = 0; j < dv; ++j) {
      float* row = S + j * dk;
      float seen = 0, made = 0;
      for (std::int64_t i = 0; i < dk; ++i) {
        const auto at = static_cast<std::size_t>(i);
        row[i] *= keep[at];
        seen += row[i] * k[at];
      }
      const float d = op.delta ? beta * (v[j] - seen) : v[j];
      for (std::int64_t i = 0; i < dk; ++i) {
        const auto at = static_cast<std::size_t>(i);
        row[i] += k[at] * d;
        made += q[at] * row[i];
      }
      delta[static_cast<std::size_t>(j)] = d;
      out.output[(t * sizes.v_heads + head) * dv + j] = scale * made;
    }
    const std::int64_t n = t - begin;
    if (out.update == nullptr || n >= out.captured[static_cast<std::size_t>(b)]) continue;
    float* row = out.update + b * op.capacity * sizes.update_row();
    const std::int64_t widths = sizes.decay_width * sizes.v_heads;
    std::copy_n(keep.data(), sizes.decay_width, row + n * widths + head * sizes.decay_width);
    row += op.capacity * widths;
    if (head % group == 0) std::copy_n(k.data(), dk, row + (n * sizes.heads + k_head) * dk);
    row += op.capacity * sizes.heads * dk;
    std::copy_n(delta.data(), dv, row + (n * sizes.v_heads + head) * dv);
  }
}

Tensor optional_float(RunContext& run, std::size_t input, bool used) {
  if (!run.has_input(input)) return {};
  const Tensor& given = run.tensor(input);
  return used ? widened<float>(given) : Tensor();
}

// Sizes and q, k and v; rank: how many axes tokens have.
void read_heads(RunContext& run, std::size_t rank, DeltaSizes& sizes, DeltaInputs& in) {
  const Tensor& query = run.tensor(0);
  const Tensor* state = run.optional_tensor(6);
  in.q = widened<float>(query);
  if (run.has_input(1) != run.has_input(2)) refuse();
  if (run.has_input(1)) {
    const Tensor &key = run.tensor(1), &value = run.tensor(2);
    if (!(key.shape() == query.shape()) || value.rank() != query.rank()) refuse();
    sizes.heads = query.dim(rank), sizes.dk = query.dim(rank + 1);
    sizes.v_heads = value.dim(rank), sizes.dv = value.dim(rank + 1);
    for (std::size_t i = 0; i < rank; ++i)
      if (value.dim(i) != query.dim(i)) refuse();
    in.k = widened<float>(key), in.v = widened<float>(value);
    in.q_step = in.k_step = checked_mul(sizes.heads, sizes.dk);
    in.v_step = checked_mul(sizes.v_heads, sizes.dv);
    in.k_at = in.v_at = 0;
    return;
  }
  if (state == nullptr || state->rank() != 4) refuse();
  sizes.v_heads = state->dim(1), sizes.dv = state->dim(2), sizes.dk = state->dim(3);
  const std::int64_t width = query.dim(rank), left = width - checked_mul(sizes.v_heads, sizes.dv);
  if (sizes.dk < 1 || left / 2 < sizes.dk || left % 2 != 0 || left / 2 % sizes.dk != 0) refuse();
  sizes.heads = left / 2 / sizes.dk;
  in.k = in.v = in.q;
  in.q_step = in.k_step = in.v_step = width;
  in.k_at = sizes.heads * sizes.dk, in.v_at = 2 * in.k_at;
}

void read_ends(RunContext& run, const Tensor& query, bool parted, DeltaSizes& sizes, DeltaInputs& in) {
  if (const Tensor* ends = run.optional_tensor(3)) {
    if (parted) refuse();
    const auto* at = ends->data<std::int32_t>();
    if (ends->rank() != 1 || ends->size() < 1 || at[0] != 0 || at[ends->size() - 1] != sizes.tokens ||
        !std::is_sorted(at, at + ends->size()))
      refuse();
    in.ends = ends->span<std::int32_t>();
    sizes.batch = ends->size() - 1;
    return;
  }
  const Tensor* state = run.optional_tensor(6);
  if (!parted && (state == nullptr || state->rank() != 4)) refuse();
  sizes.batch = parted ? query.dim(0) : state->dim(0);
  if (sizes.batch < 1 || sizes.tokens % sizes.batch != 0) refuse();
  in.length = sizes.tokens / sizes.batch;
}

void require_count(const Tensor& tensor, std::int64_t one, std::int64_t other) {
  if (tensor.size() != one && tensor.size() != other) refuse();
}

void read_gates(const DeltaNet& op, RunContext& run, DeltaSizes& sizes, DeltaInputs& in) {
  in.decay = optional_float(run, 4, op.gated), in.beta = optional_float(run, 5, op.delta);
  in.a_log = optional_float(run, 7, op.gated), in.dt_bias = optional_float(run, 8, op.gated);
  const std::int64_t each = checked_mul(sizes.tokens, sizes.v_heads);
  sizes.decay_width = 1;
  if (op.gated) {
    if (!in.decay.defined()) refuse();
    require_count(in.decay, each, checked_mul(each, sizes.dk));
    if (in.decay.size() != each) sizes.decay_width = sizes.dk;
    if (op.gate != GateActivation::none && !in.a_log.defined()) refuse();
    if (in.a_log.defined()) require_count(in.a_log, sizes.v_heads, sizes.v_heads);
    if (in.dt_bias.defined()) {
      require_count(in.dt_bias, sizes.v_heads, checked_mul(sizes.v_heads, sizes.dk));
      if (in.dt_bias.size() != sizes.v_heads && sizes.decay_width == 1) refuse();
    }
  }
  if (op.delta && !in.beta.defined()) refuse();
  if (op.delta) require_count(in.beta, each, each);
}

std::vector<std::int64_t> captured_counts(const DeltaNet& op, RunContext& run, const DeltaSizes& sizes) {
  const Tensor *count = run.optional_tensor(9), *active = run.optional_tensor(10);
  if ((count != nullptr) != (op.capacity > 0)) refuse();
  if (count == nullptr) return {};
  if (count->size() != sizes.batch) refuse();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(sizes.batch), 0);
  const bool captures = active == nullptr || active->size() != 1 || *active->data<std::int32_t>() != 0;
  if (!captures) return counts;
  for (std::size_t b = 0; b < counts.size(); ++b)
    counts[b] = std::clamp<std::int64_t>(count->data<std::int32_t>()[b], 0, op.capacity);
  return counts;
}

void run_delta_net(const DeltaNet& op, RunContext& run) {
  const Tensor& query = run.tensor(0);
  const bool packed = !run.has_input(1);
  const bool parted = query.rank() == (packed ? 3 : 4);
  const std::size_t rank = parted ? 2 : 1;
  if (query.rank() != rank + (packed ? 1 : 2)) refuse();
  DeltaSizes sizes;
  DeltaInputs in;
  sizes.tokens = parted ? checked_mul(query.dim(0), query.dim(1)) : query.dim(0);
  read_heads(run, rank, sizes, in);
  if (sizes.heads < 1 || sizes.v_heads < 1 || sizes.v_heads % sizes.heads != 0) refuse();
  read_ends(run, query, parted, sizes, in);
  read_gates(op, run, sizes, in);
  const Shape state_shape{sizes.batch, sizes.v_heads, sizes.dv, sizes.dk};
  Tensor state = Tensor::zeros(DType::float32, state_shape);
  if (run.has_input(6)) {
    if (!(run.tensor(6).shape() == state_shape)) {
      refuse();
    }
    state = run.tensor(6);
  }
  std::vector<std::int64_t> dims(query.shape().dims().begin(),
                                 query.shape().dims().begin() + static_cast<std::ptrdiff_t>(rank));
  dims.push_back(sizes.v_heads), dims.push_back(sizes.dv);
  Tensor output(DType::float32, Shape(dims));
  Tensor update = Tensor::zeros(
      DType::float32, {sizes.batch, op.capacity == 0 ? 0 : checked_mul(op.capacity, sizes.update_row())});
  DeltaOutputs out{output.mutable_data<float>(), state.mutable_data<float>(),
                   op.capacity > 0 ? update.mutable_data<float>() : nullptr, captured_counts(op, run, sizes)};
  // Without tokens states stay, and without elements of v there is nothing but keys and decays to hand on.
  const bool is_idle = sizes.tokens == 0 || (sizes.dv == 0 && op.capacity == 0);
  kernels::parallel_for(is_idle ? 0 : checked_mul(sizes.batch, sizes.v_heads), 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i)
                            walk(op, sizes, in, i / sizes.v_heads, i % sizes.v_heads, out);
                        });
  run.set_output(0, narrowed(output, query.dtype()));
  run.set_output(1, state), run.set_output(2, update);
}

RunFunction prepare_gated_delta_net(PrepareContext& node) {
  DeltaNet op;
  const std::string rule = node.string_attribute("update_rule", "gated_delta");
  op.gated = rule.starts_with("gated"), op.delta = rule.ends_with("delta");
  const std::string gate = node.string_attribute("gate_activation", "none");
  if (gate == "softplus" || gate == "qwen") op.gate = GateActivation::softplus;
  if (gate == "sigmoid" || gate == "kda") op.gate = GateActivation::sigmoid;
  op.beta_sigmoid = node.string_attribute("beta_activation", "none") == "sigmoid";
  op.normalizes = node.int_attribute("qk_l2_norm", 0) == 1;
  op.lower_bound = node.float_attribute("gate_lower_bound", -5), op.scale = node.float_attribute("scale", 0);
  op.capacity = node.int_attribute("state_update_capacity", 0);
  if (op.capacity < 0 || op.capacity > 8) refuse();
  node.accept_attribute("chunk_size");  // a hint about speed, without effect on values
  return [op](RunContext& run) { run_delta_net(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_gated_delta_net() {
  return {{"com.microsoft", "GatedDeltaNet", {1}, prepare_gated_delta_net}};
}

}  // namespace grurun::engine
