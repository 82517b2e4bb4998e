// SparseAttention (com.microsoft 1): causal attention to some blocks of keys.
//
// query [batch_size, length, num_heads * size], key and value [batch_size, length, kv_num_heads * size], or
// all in query. They are put into the caches past_key and past_value [batch_size, kv_num_heads, most, size]
// behind the past of each entry: none where total_sequence_length is length, else what
// key_total_sequence_lengths [batch_size] leaves. The query at place p of head h sees the keys up to p in the
// blocks of sparse_block_size keys that block_col_indices lists between block_row_indices of p's block, in
// the layout h modulo their number. With do_rotary, query and key are turned by the rows of cos_cache and
// sin_cache [places, size / 2] at their places. All is computed in float.
#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/microsoft/cached_attention.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

struct SparseAttention {
  std::int64_t heads = 1, kv_heads = 1, block = 1;
  float scale = 0;
  bool rotates = false, interleaved = false;
};

// Which blocks of keys a block of queries sees.
struct BlockMask {
  const std::int32_t* rows;
  const std::int32_t* columns;
  std::int64_t layouts, row_count, column_count;

  /// Refuses row indices that are no places of columns.
  void require_places() const {
    for (std::int64_t i = 0; i + 1 < layouts * row_count; ++i) {
      const bool is_last = (i + 1) % row_count == 0;
      if (!is_last && (rows[i] < 0 || rows[i + 1] < rows[i] || rows[i + 1] > column_count)) refuse();
    }
  }

  std::vector<bool> visible(std::int64_t layout, std::int64_t query_block, std::int64_t blocks) const {
    if (query_block + 1 >= row_count) refuse();
    std::vector<bool> seen(static_cast<std::size_t>(blocks), false);
    const std::int32_t* row = rows + layout * row_count + query_block;
    for (std::int32_t i = row[0]; i < row[1]; ++i) {
      const std::int32_t column = columns[layout * column_count + i];
      if (column >= 0 && column < blocks) seen[static_cast<std::size_t>(column)] = true;
    }
    return seen;
  }
};

void rotate(const SparseAttention& op, const Tensor& cos, const Tensor& sin, std::int64_t place,
            std::int64_t size, float* x) {
  const std::int64_t half = cos.dim(1);
  if (place >= cos.dim(0)) refuse();
  const float *c = cos.data<float>() + place * half, *s = sin.data<float>() + place * half;
  for (std::int64_t i = 0; i < half && 2 * half <= size; ++i) {
    float &a = x[op.interleaved ? 2 * i : i], &b = x[op.interleaved ? 2 * i + 1 : half + i];
    const float turned = a * c[i] - b * s[i];
    b = b * c[i] + a * s[i], a = turned;
  }
}

struct SparseInputs {
  Tensor query, key, value, cos, sin;  // in float
  std::int64_t batch, length, size, most, width, key_at, value_at, key_width;
  std::vector<std::int64_t> past;
};

SparseInputs read_sparse_inputs(const SparseAttention& op, RunContext& run) {
  const Tensor &query = run.tensor(0), &cache = run.tensor(3);
  if (query.rank() != 3 || cache.rank() != 4 || !(cache.shape() == run.tensor(4).shape())) refuse();
  SparseInputs in{};
  in.batch = query.dim(0), in.length = query.dim(1), in.most = cache.dim(2), in.size = cache.dim(3);
  if (cache.dim(0) != in.batch || cache.dim(1) != op.kv_heads) refuse();
  const bool packed = !run.has_input(1);
  in.query = widened<float>(query);
  in.key = packed ? in.query : widened<float>(run.tensor(1));
  in.value = packed ? in.query : widened<float>(run.tensor(2));
  in.width = (op.heads + (packed ? 2 * op.kv_heads : 0)) * in.size;
  in.key_width = packed ? in.width : op.kv_heads * in.size;
  in.key_at = packed ? op.heads * in.size : 0;
  in.value_at = packed ? in.key_at + op.kv_heads * in.size : 0;
  const Shape keys{in.batch, in.length, in.key_width};
  if (query.dim(2) != in.width || !(in.key.shape() == keys) || !(in.value.shape() == keys)) refuse();
  const Tensor &total = run.tensor(7), &lengths = run.tensor(8);
  if (total.size() != 1 || lengths.size() != in.batch) refuse();
  const std::int64_t all = *total.data<std::int32_t>();
  for (std::int64_t b = 0; b < in.batch; ++b) {
    in.past.push_back(all == in.length ? 0 : lengths.data<std::int32_t>()[b] - in.length);
    if (in.past.back() < 0 || in.past.back() + in.length > in.most) {
      refuse();
    }
  }
  if (!op.rotates) return in;
  in.cos = widened<float>(run.tensor(9)), in.sin = widened<float>(run.tensor(10));
  if (in.cos.rank() != 2 || !(in.cos.shape() == in.sin.shape()) || 2 * in.cos.dim(1) != in.size) refuse();
  return in;
}

void attend_sparse(const SparseAttention& op, RunContext& run) {
  SparseInputs in = read_sparse_inputs(op, run);
  const Tensor &rows = run.tensor(5), &columns = run.tensor(6);
  if (rows.rank() != 2 || columns.rank() != 2 || rows.dim(0) != columns.dim(0) || rows.dim(0) < 1) refuse();
  const BlockMask mask{rows.data<std::int32_t>(), columns.data<std::int32_t>(), rows.dim(0), rows.dim(1),
                       columns.dim(1)};
  mask.require_places();
  for (const std::size_t input : {9, 10})
    if (!op.rotates && run.has_input(input)) run.accept_input(input);
  const DType type = run.tensor(0).dtype();
  Tensor cache_k = widened<float>(run.tensor(3)), cache_v = widened<float>(run.tensor(4));
  float *keys = cache_k.mutable_data<float>(), *values = cache_v.mutable_data<float>();
  const std::int64_t size = in.size, most = in.most;
  for (std::int64_t b = 0; b < in.batch; ++b) {
    for (std::int64_t t = 0; t < in.length; ++t) {
      const std::int64_t place = in.past[static_cast<std::size_t>(b)] + t, token = b * in.length + t;
      for (std::int64_t h = 0; h < op.kv_heads; ++h) {
        const std::int64_t at = ((b * op.kv_heads + h) * most + place) * size;
        std::copy_n(in.key.data<float>() + token * in.key_width + in.key_at + h * size, size, keys + at);
        std::copy_n(in.value.data<float>() + token * in.key_width + in.value_at + h * size, size,
                    values + at);
        if (op.rotates) rotate(op, in.cos, in.sin, place, size, keys + at);
      }
    }
  }
  Tensor output(DType::float32, {in.batch, in.length, op.heads * size});
  float* out = output.mutable_data<float>();
  const float scale = op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<float>(size));
  kernels::parallel_for(in.batch * op.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> q(static_cast<std::size_t>(size)), scores;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t b = i / op.heads, h = i % op.heads;
      const std::int64_t cache = (b * op.kv_heads + h / (op.heads / op.kv_heads)) * most * size;
      for (std::int64_t t = 0; t < in.length; ++t) {
        const std::int64_t place = in.past[static_cast<std::size_t>(b)] + t, token = b * in.length + t;
        std::copy_n(in.query.data<float>() + token * in.width + h * size, size, q.begin());
        if (op.rotates) rotate(op, in.cos, in.sin, place, size, q.data());
        const auto seen = mask.visible(h % mask.layouts, place / op.block, place / op.block + 1);
        scores.clear();
        for (std::int64_t k = 0; k <= place; ++k) {
          scores.push_back(seen[static_cast<std::size_t>(k / op.block)]
                               ? scale * dot(q.data(), keys + cache + k * size, size)
                               : -std::numeric_limits<float>::infinity());
        }
        softmax(scores);
        weighted_sum(scores, size, out + token * op.heads * size + h * size,
                     [&](std::int64_t k) { return values + cache + k * size; });
      }
    }
  });
  run.set_output(0, narrowed(output, type));
  run.set_output(1, narrowed(cache_k, type)), run.set_output(2, narrowed(cache_v, type));
}

RunFunction prepare_sparse_attention(PrepareContext& node) {
  SparseAttention op;
  op.heads = node.int_attribute("num_heads"), op.kv_heads = node.int_attribute("kv_num_heads");
  op.block = node.int_attribute("sparse_block_size");
  if (op.heads < 1 || op.kv_heads < 1 || op.block < 1) refuse();
  if (op.heads > (1 << 20)) fail_unsupported("SparseAttention with {} heads", op.heads);
  if (op.heads % op.kv_heads != 0)
    fail_invalid("num_heads is {}, which is no multiple of kv_num_heads, {}", op.heads, op.kv_heads);
  op.scale = node.float_attribute("scale", 0);
  op.rotates = node.int_attribute("do_rotary", 0) != 0;
  op.interleaved = node.int_attribute("rotary_interleaved", 0) != 0;
  return [op](RunContext& run) { attend_sparse(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_sparse_attention() {
  return {{"com.microsoft", "SparseAttention", {1}, prepare_sparse_attention}};
}

}  // namespace grurun::engine
