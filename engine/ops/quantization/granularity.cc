#include "engine/ops/quantization/granularity.h"

#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

Granularity granularity(const Tensor& x, const Tensor& scale, std::optional<std::int64_t> axis,
                        std::int64_t block_size) {
  if (block_size < 0) fail_invalid("block_size is {}, but must not be negative", block_size);
  Granularity grain;
  if (block_size == 0 && scale.size() == 1 && scale.rank() <= 1) {
    grain.after = x.size();
    return grain;
  }
  if (!axis) {
    fail_invalid("the scale must be a scalar, but has shape {}; one for each place of an axis needs opset 13",
                 scale.shape().to_string());
  }
  const auto at = static_cast<std::size_t>(normalized_axis(*axis, static_cast<std::int64_t>(x.rank())));
  grain.before = x.shape().count(0, at);
  grain.length = x.dim(at);
  grain.after = x.shape().count(at + 1, x.rank());
  if (block_size == 0) {
    if (scale.rank() != 1 || scale.dim(0) != grain.length) {
      fail_invalid("the scale must be a scalar or have shape [{}], the length of axis {}, but has {}",
                   grain.length, at, scale.shape().to_string());
    }
    grain.scale_block = 1;
    return grain;
  }
  Shape wanted = x.shape();
  wanted[at] = grain.length / block_size + (grain.length % block_size != 0 ? 1 : 0);
  if (!(scale.shape() == wanted)) {
    fail_invalid("with block_size {} the scale must have shape {}, but has {}", block_size,
                 wanted.to_string(), scale.shape().to_string());
  }
  grain.block = block_size;
  grain.scale_row = wanted[at] * grain.after;
  grain.scale_block = grain.after;
  grain.scale_inner = 1;
  return grain;
}

void require_zero_point(const Tensor& zero_point, const Tensor& scale) {
  if (zero_point.shape() == scale.shape() || (zero_point.size() == 1 && scale.size() == 1)) return;
  fail_invalid("the zero point must have the scale's shape {}, but has {}", scale.shape().to_string(),
               zero_point.shape().to_string());
}

}  // namespace grurun::engine
