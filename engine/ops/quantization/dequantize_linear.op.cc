// DequantizeLinear (ai.onnx 10, 13, 19, 21, 23, 24, 25, 28).
//
//   y = (x - x_zero_point) * x_scale
//
// The scale is a scalar, one per place on axis (since 13, default 1), or one per block of block_size (since
// 21). y has the type of the scale, or output_dtype (since 23); the product is computed in float and rounded
// to it once.
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/quantization/granularity.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Sources = Join<TypeList<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>,
                     SmallInts, Float8s, TypeList<Float4E2M1, Float6E2M3, Float6E3M2>>;
using Scales = TypeList<float, Float16, BFloat16, Float8E8M0>;
using Targets = TypeList<float, Float16, BFloat16>;

// Differences of two int32 need more than 32 bits.
template <typename T>
using Difference = std::conditional_t<std::is_convertible_v<T, int> && !std::is_same_v<ComputeType<T>, float>,
                                      std::int64_t, float>;

Tensor as_floats(const Tensor& scale) {
  Tensor out(DType::float32, scale.shape());
  dispatch(Scales{}, scale.dtype(), [&]<typename T>() {
    float* to = out.mutable_data<float>();
    for (const T& value : scale.span<T>()) *to++ = static_cast<float>(value);
  });
  return out;
}

template <typename T>
Tensor dequantize(const Tensor& x, const Tensor& scale, const Tensor* zero_point, const Granularity& grain) {
  const Tensor scales = as_floats(scale);
  const float* s = scales.data<float>();
  const T* from = x.data<T>();
  const T* z = zero_point ? zero_point->data<T>() : nullptr;
  Tensor y(DType::float32, x.shape());
  float* to = y.mutable_data<float>();
  grain.for_each_run([&](std::int64_t at, std::int64_t scale_at, std::int64_t count, std::int64_t step) {
    if constexpr (requires(kernels::Quantization<T> by) { kernels::vec_dequantize(from, by, to, count); }) {
      const kernels::Quantization<T> by{s + scale_at, z != nullptr ? z + scale_at : nullptr, step};
      return kernels::vec_dequantize(from + at, by, to + at, count);
    }
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t n = scale_at + k * step;
      const auto zero = z ? static_cast<Difference<T>>(z[n]) : Difference<T>(0);
      to[at + k] = static_cast<float>(static_cast<Difference<T>>(from[at + k]) - zero) * s[n];
    }
  });
  return y;
}

RunFunction prepare_dequantize_linear(PrepareContext& node) {
  const int version = node.since_version();
  const auto axis = version >= 13 ? std::optional(node.int_attribute("axis", 1)) : std::nullopt;
  const std::int64_t block_size = version >= 21 ? node.int_attribute("block_size", 0) : 0;
  const std::int64_t stated = version >= 23 ? node.int_attribute("output_dtype", 0) : 0;
  if (stated != 0 && (!is_valid_dtype(stated) || !Targets::set.contains(static_cast<DType>(stated))))
    refuse();
  return [=](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& scale = run.tensor(1);
    const Tensor* zero_point = run.optional_tensor(2);
    if (zero_point) require_zero_point(*zero_point, scale);
    const Granularity grain = granularity(x, scale, axis, block_size);
    const DType target = stated != 0 ? static_cast<DType>(stated) : scale.dtype();
    const Tensor y = dispatch(Sources{}, x.dtype(),
                              [&]<typename T>() { return dequantize<T>(x, scale, zero_point, grain); });
    if (target == DType::float32) return run.set_output(0, y);
    Tensor& out = run.output(0, target, x.shape());
    dispatch(Targets{}, target, [&]<typename T>() {
      T* to = out.mutable_data<T>();
      for (const float value : y.span<float>()) *to++ = static_cast<T>(value);
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_dequantize_linear() {
  return {{"", "DequantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, prepare_dequantize_linear}};
}

}  // namespace grurun::engine
