#include "engine/ops/nn/attention_mask.h"

#include <algorithm>
#include <limits>

#include "engine/graph/refusal.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/float_rows.h"
#include "engine/ops/shared/strided.h"

namespace grurun::engine {

AttentionMask::AttentionMask(const Tensor& mask, const AttentionSizes& sizes, DType type, bool may_be_short)
    : values_(mask.dtype() == DType::boolean ? mask : cast_tensor(mask, type)), length_(sizes.keys()) {
  const Shape full{sizes.batch, sizes.q_heads, sizes.q_length, sizes.keys()};
  const ScratchVector<std::int64_t> own = row_major_strides(mask.shape());
  bool fits = mask.rank() <= 4;
  for (std::size_t d = 0; fits && d < mask.rank(); ++d) {
    const std::size_t axis = 4 - mask.rank() + d;
    const bool is_short = axis == 3 && may_be_short && mask.dim(d) < full[axis];
    if (is_short) length_ = mask.dim(d);
    fits = is_short || mask.dim(d) == full[axis] || mask.dim(d) == 1;
    steps_[axis] = is_short || mask.dim(d) == full[axis] ? own[d] : 0;
  }
  if (!fits) refuse();
}

template <typename C>
bool AttentionMask::add(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t first,
                        std::int64_t n, C* x, C* scratch) const {
  constexpr C none = -std::numeric_limits<C>::infinity();
  if (n <= 0) return false;
  const std::int64_t at = batch * steps_[0] + head * steps_[1] + query * steps_[2] + first * steps_[3];
  const std::int64_t step = steps_[3];
  if (values_.dtype() == DType::boolean) {
    const bool* chosen = values_.data<bool>() + at;
    bool any = false;
    for (std::int64_t j = 0; j < n; ++j) {
      any |= chosen[j * step];
      x[j] += chosen[j * step] ? C(0) : none;
    }
    return any;
  }
  const auto* values = static_cast<const std::byte*>(values_.raw()) +
                       at * static_cast<std::int64_t>(dtype_size(values_.dtype()));
  const C* bias = scratch;
  if (values_.dtype() == dtype_of<C> && step != 0) {
    bias = reinterpret_cast<const C*>(values);
  } else {
    convert_floats(values_.dtype(), values, dtype_of<C>, scratch, step == 0 ? 1 : n);
    if (step == 0) std::fill_n(scratch + 1, n - 1, scratch[0]);
  }
  kernels::vec_add(x, bias, x, n);
  return bias[0] != none || kernels::reduce_max(bias, n) != none;
}

template bool AttentionMask::add(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*,
                                 float*) const;
template bool AttentionMask::add(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                 double*, double*) const;

}  // namespace grurun::engine
