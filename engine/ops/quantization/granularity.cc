#include "engine/ops/quantization/granularity.h"

#include "engine/graph/refusal.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

Granularity granularity(const Tensor& x, const Tensor& scale, std::optional<std::int64_t> axis,
                        std::int64_t block_size) {
  Granularity grain;
  if (block_size == 0 && scale.size() == 1 && scale.rank() <= 1) {
    grain.after = x.size();
    return grain;
  }
  if (!axis) refuse();
  const auto at = static_cast<std::size_t>(normalized_axis(*axis, static_cast<std::int64_t>(x.rank())));
  grain.before = x.shape().count(0, at);
  grain.length = x.dim(at);
  grain.after = x.shape().count(at + 1, x.rank());
  if (block_size == 0) {
    if (scale.rank() != 1 || scale.dim(0) != grain.length) refuse();
    grain.scale_block = 1;
    return grain;
  }
  Shape wanted = x.shape();
  wanted[at] = grain.length / block_size + (grain.length % block_size != 0 ? 1 : 0);
  if (!(scale.shape() == wanted)) refuse();
  grain.block = block_size;
  grain.scale_row = wanted[at] * grain.after;
  grain.scale_block = grain.after;
  grain.scale_inner = 1;
  return grain;
}

void require_zero_point(const Tensor& zero_point, const Tensor& scale) {
  if (!(zero_point.shape() == scale.shape() ||
        (zero_point.size() == 1 && zero_point.rank() <= 1 && scale.size() == 1)))
    refuse();
}

}  // namespace grurun::engine
