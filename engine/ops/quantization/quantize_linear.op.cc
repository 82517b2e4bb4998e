// QuantizeLinear (ai.onnx 10, 13, 19, 21, 23, 24, 25, 28).
//
//   y = saturate(round_half_to_even(x / y_scale) + y_zero_point)      integers
//   y = cast(x / y_scale + y_zero_point)                              float8, float6, float4 (saturate says
//   how float8 overflows)
//
// The scale is a scalar, one per place on axis (since 13, default 1), or one per block of block_size (since
// 21). The type of y is that of the zero point, else output_dtype (since 21), else uint8. The division is
// done in the type of y_scale, or of precision (since 23) where stated.
#include <algorithm>

#include "engine/graph/op_context.h"
#include "engine/ops/quantization/granularity.h"
#include "engine/ops/quantization/saturate.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

namespace {

using Sources = TypeList<float, Float16, BFloat16, std::int32_t>;
using Scales = TypeList<float, Float16, BFloat16, std::int32_t, Float8E8M0>;
using IntegerTargets = Join<TypeList<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>, SmallInts>;
using SmallFloatTargets = Join<Float8s, TypeList<Float4E2M1, Float6E2M3, Float6E3M2>>;
using Targets = Join<IntegerTargets, SmallFloatTargets>;

struct Quantize {
  std::int64_t axis = 1;
  std::int64_t block_size = 0;
  bool saturate = true;
  DType output = DType::undefined;
  DType precision = DType::undefined;
};

// Rounds a quotient to the precision that the division is done in.
double to_precision(double value, DType precision) {
  if (precision == DType::float16) return static_cast<float>(Float16(value));
  if (precision == DType::bfloat16) return static_cast<float>(BFloat16(value));
  return static_cast<float>(value);
}

template <typename T>
T quantized(double quotient, const T& zero_point, [[maybe_unused]] bool saturate) {
  if constexpr (IntegerTargets::set.contains(dtype_of<T>)) {
    return quantized_integer<T>(quotient, zero_point);
  } else {
    return T(static_cast<float>(quotient + static_cast<float>(zero_point)), saturate);
  }
}

Tensor as_doubles(const Tensor& tensor) {
  Tensor out(DType::float64, tensor.shape());
  dispatch(Scales{}, tensor.dtype(), [&]<typename T>() {
    std::ranges::transform(tensor.span<T>(), out.mutable_data<double>(), [](const T& value) {
      return static_cast<double>(static_cast<ComputeType<T>>(value));
    });
  });
  return out;
}

template <typename T>
void quantize(const Tensor& x, const Tensor& scale, const Tensor* zero_point, const Granularity& grain,
              DType precision, bool saturate, Tensor& y) {
  const Tensor scales = as_doubles(scale);
  const double* s = scales.data<double>();
  const T none{};
  const T* z = zero_point ? zero_point->data<T>() : &none;
  T* to = y.mutable_data<T>();
  dispatch(Sources{}, x.dtype(), [&]<typename S>() {
    const S* from = x.data<S>();
    grain.for_each_run([&](std::int64_t at, std::int64_t scale_at, std::int64_t count, std::int64_t step) {
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t n = scale_at + k * step;
        const double value = static_cast<double>(static_cast<ComputeType<S>>(from[at + k]));
        const double quotient = to_precision(to_precision(value, precision) / s[n], precision);
        to[at + k] = quantized<T>(quotient, z[zero_point ? n : 0], saturate);
      }
    });
  });
}

DType dtype_attribute(PrepareContext& node, const char* name) {
  const std::int64_t number = node.int_attribute(name, 0);
  if (number != 0 && !is_valid_dtype(number))
    fail_invalid("{} is {}, which is no element type", name, number);
  return static_cast<DType>(number);
}

RunFunction prepare_quantize_linear(PrepareContext& node) {
  Quantize attributes;
  const int version = node.since_version();
  if (version >= 13) attributes.axis = node.int_attribute("axis", 1);
  if (version >= 19) attributes.saturate = node.int_attribute("saturate", 1) != 0;
  if (version >= 21) attributes.block_size = node.int_attribute("block_size", 0);
  if (version >= 21) attributes.output = dtype_attribute(node, "output_dtype");
  if (version >= 23) attributes.precision = dtype_attribute(node, "precision");
  return [attributes](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& scale = run.tensor(1);
    const Tensor* zero_point = run.optional_tensor(2);
    if (zero_point) require_zero_point(*zero_point, scale);
    DType target = attributes.output == DType::undefined ? DType::uint8 : attributes.output;
    if (zero_point) {
      if (attributes.output != DType::undefined && attributes.output != zero_point->dtype()) {
        fail_invalid("output_dtype is {}, but the zero point is {}", dtype_name(attributes.output),
                     dtype_name(zero_point->dtype()));
      }
      target = zero_point->dtype();
    }
    const Granularity grain = granularity(x, scale, attributes.axis, attributes.block_size);
    const DType precision = attributes.precision == DType::undefined ? scale.dtype() : attributes.precision;
    Tensor& y = run.output(0, target, x.shape());
    dispatch(Targets{}, target, [&]<typename T>() {
      quantize<T>(x, scale, zero_point, grain, precision, attributes.saturate, y);
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_quantize_linear() {
  return {{"", "QuantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, prepare_quantize_linear}};
}

}  // namespace grurun::engine
