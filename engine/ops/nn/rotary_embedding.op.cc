// RotaryEmbedding (ai.onnx 23): turns each pair of a head's elements by the angle of its position.
//
//   y1 = cos * x1 - sin * x2        y2 = sin * x1 + cos * x2
//
// X [batch_size, num_heads, sequence_length, head_size] or [batch_size, sequence_length, num_heads *
// head_size]. The first rotary_embedding_dim elements of a head (0: all) are turned, the others copied. Pairs
// are element i of the first half and of the second, or, interleaved, elements 2i and 2i + 1. cos_cache and
// sin_cache are [max_position, rotary_embedding_dim / 2], looked up at position_ids [batch_size,
// sequence_length], or without those [batch_size, sequence_length, rotary_embedding_dim / 2]; a batch_size or
// sequence_length of 1 there serves all. Caches made for whole heads, head_size / 2 wide, serve too, by their
// first elements, as the function body slices them. Positions may count from the end. 16-bit floats are
// computed in float.
#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_convert.h"
#include "engine/kernels/vec/vec_fused.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct RotaryEmbedding {
  bool interleaved;
  std::int64_t rotary_embedding_dim;
  std::optional<std::int64_t> num_heads;
};

/// Where a head of a token lies, in elements.
struct Layout {
  std::int64_t batch, length, heads, head_size;
  std::int64_t batch_step, token_step, head_step;
};

Layout layout_of(const RotaryEmbedding& op, const Tensor& x) {
  if (x.rank() == 4) {
    const std::int64_t heads = x.dim(1), length = x.dim(2), size = x.dim(3);
    if (x.size() == 0) return {x.dim(0), length, heads, size, 0, 0, 0};
    return {x.dim(0), length, heads, size, heads * length * size, size, length * size};
  }
  const std::int64_t heads = op.num_heads.value_or(0);
  if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0) refuse();
  const std::int64_t size = x.dim(2) / heads;
  if (x.size() == 0) return {x.dim(0), x.dim(1), heads, size, 0, 0, 0};
  return {x.dim(0), x.dim(1), heads, size, x.dim(1) * x.dim(2), x.dim(2), size};
}

std::int64_t rotated_size(const RotaryEmbedding& op, const Layout& layout) {
  const std::int64_t size = op.rotary_embedding_dim == 0 ? layout.head_size : op.rotary_embedding_dim;
  if (size < 0 || size > layout.head_size || size % 2 != 0) refuse();
  return size;
}

/// Which row of the caches a token takes.
class Positions {
 public:
  Positions(const Layout& layout, const Tensor& cos, const Tensor& sin, const Tensor* ids, std::int64_t half)
      : rows_(ids == nullptr ? 0 : cos.dim(0)), ids_(ids == nullptr ? nullptr : ids->data<std::int64_t>()) {
    const std::size_t rank = ids == nullptr ? 3 : 2;
    if (cos.rank() != rank || !(cos.shape() == sin.shape()) ||
        (cos.dim(rank - 1) != half && cos.dim(rank - 1) != layout.head_size / 2))
      refuse();
    const Shape& by_token = ids == nullptr ? cos.shape() : ids->shape();
    if (by_token.rank() < 2 || (ids != nullptr && by_token.rank() != 2) ||
        (by_token[0] != layout.batch && by_token[0] != 1) || by_token[1] != layout.length)
      refuse();
    batch_step_ = by_token[0] == 1 ? 0 : by_token[1];
    token_step_ = by_token[1] == 1 ? 0 : 1;
    width_ = cos.dim(rank - 1);
  }

  /// Elements of the caches before those of this token.
  std::int64_t offset(std::int64_t batch, std::int64_t token) const { return row(batch, token) * width_; }

 private:
  std::int64_t row(std::int64_t batch, std::int64_t token) const {
    const std::int64_t at = batch * batch_step_ + token * token_step_;
    if (ids_ == nullptr) return at;
    const std::int64_t position = ids_[at] < 0 ? ids_[at] + rows_ : ids_[at];
    if (position < 0 || position >= rows_) refuse();
    return position;
  }

  std::int64_t rows_;
  const std::int64_t* ids_;
  std::int64_t batch_step_, token_step_, width_;
};

// One head of `layout.head_size` elements, the first `size` of them turned.
void turn(bool interleaved, std::int64_t size, const float* x, const float* c, const float* s, float* y) {
  const std::int64_t half = size / 2;
  if (interleaved) return kernels::vec_rotate_pairs(x, c, s, y, half);
  kernels::vec_rotate(x, x + half, c, s, y, y + half, half);
}

template <typename T>
void turn_all(const RotaryEmbedding& op, const Layout& layout, std::int64_t size, const Positions& positions,
              const T* x, const T* cos, const T* sin, T* y) {
  const std::int64_t half = size / 2;
  const std::int64_t work = layout.heads * layout.head_size + 1;
  kernels::parallel_for(
      layout.batch * layout.length, 16384 / work + 1, [&](std::int64_t begin, std::int64_t end) {
        Tensor floats(DType::float32, Shape{std::is_same_v<T, float> ? 0 : 2 * half + layout.head_size});
        [[maybe_unused]] float* wide = floats.mutable_data<float>();
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t batch = i / layout.length, token = i % layout.length;
          const std::int64_t row = positions.offset(batch, token);
          const std::int64_t start = batch * layout.batch_step + token * layout.token_step;
          if constexpr (!std::is_same_v<T, float>) {
            kernels::vec_convert(cos + row, wide, half);
            kernels::vec_convert(sin + row, wide + half, half);
          }
          for (std::int64_t head = 0; head < layout.heads; ++head) {
            const T* from = x + start + head * layout.head_step;
            T* to = y + start + head * layout.head_step;
            if constexpr (std::is_same_v<T, float>) {
              turn(op.interleaved, size, from, cos + row, sin + row, to);
            } else if (!op.interleaved) {
              kernels::vec_rotate(from, from + half, wide, wide + half, to, to + half, half);
            } else {
              float* line = wide + 2 * half;
              kernels::vec_convert(from, line, size);
              turn(true, size, line, wide, wide + half, line);
              kernels::vec_convert(line, to, size);
            }
            std::copy(from + size, from + layout.head_size, to + size);
          }
        }
      });
}

RunFunction prepare_rotary_embedding(PrepareContext& node) {
  const RotaryEmbedding op{.interleaved = node.int_attribute("interleaved", 0) != 0,
                           .rotary_embedding_dim = node.int_attribute("rotary_embedding_dim", 0),
                           .num_heads = node.optional_int("num_heads")};
  return [op](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& cos = run.tensor(1);
    const Tensor& sin = run.tensor(2);
    const Layout layout = layout_of(op, x);
    const std::int64_t size = rotated_size(op, layout);
    const Positions positions(layout, cos, sin, run.optional_tensor(3), size / 2);
    Tensor& y = run.output(0, x.dtype(), x.shape());
    if (x.size() == 0) return;
    dispatch(TypeList<float, Float16, BFloat16>{}, x.dtype(), [&]<typename T>() {
      turn_all(op, layout, size, positions, x.data<T>(), cos.data<T>(), sin.data<T>(), y.mutable_data<T>());
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_rotary_embedding() {
  return {{"", "RotaryEmbedding", {23}, prepare_rotary_embedding}};
}

}  // namespace grurun::engine
