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
#include <optional>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/quantization/granularity.h"
#include "engine/ops/quantization/saturate.h"
#include "engine/ops/shared/cast.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using QuantizeSources = TypeList<float, Float16, BFloat16, std::int32_t>;
using QuantizeScales = TypeList<float, Float16, BFloat16, std::int32_t, Float8E8M0>;
using IntegerTargets = Join<TypeList<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>, SmallInts>;
using SmallFloatTargets = Join<Float8s, TypeList<Float4E2M1, Float6E2M3, Float6E3M2>>;
using QuantizeTargets = Join<IntegerTargets, SmallFloatTargets>;

struct Quantize {
  std::optional<std::int64_t> axis;
  std::int64_t block_size = 0;
  bool saturate = true;
  DType output = DType::undefined;
  DType precision = DType::undefined;
};

// The precision that x / y_scale is done in.
enum class Division { in_float, in_float16, in_bfloat16, in_double };

// Of attribute `precision`, or of y_scale. Integers, which float may not hold, are divided as real numbers.
Division division_in(DType precision) {
  switch (precision) {
    case DType::float16:
      return Division::in_float16;
    case DType::bfloat16:
      return Division::in_bfloat16;
    case DType::float64:
    case DType::int32:
      return Division::in_double;
    default:
      return Division::in_float;
  }
}

double to_precision(double value, Division division) {
  switch (division) {
    case Division::in_float16:
      return static_cast<float>(Float16(value));
    case Division::in_bfloat16:
      return static_cast<float>(BFloat16(value));
    case Division::in_float:
      return static_cast<float>(value);
    case Division::in_double:
      break;
  }
  return value;
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
  dispatch(QuantizeScales{}, tensor.dtype(), [&]<typename T>() {
    std::ranges::transform(tensor.span<T>(), out.mutable_data<double>(), [](const T& value) {
      return static_cast<double>(static_cast<ComputeType<T>>(value));
    });
  });
  return out;
}

/// Of elements of X, the quotient rounded to it; of integers to Scale, to which they are rounded before.
/// False for types that there is no vector code for.
template <typename X, typename Scale, typename T>
bool quantize_vectors(const Tensor& x, const Tensor& scales, const T* zero_points, const Granularity& grain,
                      T* to) {
  const X* from = x.data<X>();
  const Scale* s = scales.data<Scale>();
  if constexpr (requires(kernels::Quantization<T, Scale> by) { kernels::vec_quantize(from, by, to, 1); }) {
    grain.for_each_run([&](std::int64_t at, std::int64_t scale_at, std::int64_t count, std::int64_t step) {
      const kernels::Quantization<T, Scale> by{
          s + scale_at, zero_points != nullptr ? zero_points + scale_at : nullptr, step};
      kernels::vec_quantize(from + at, by, to + at, count);
    });
    return true;
  }
  return false;
}

/// A quotient of 16-bit floats in float, rounded to their type, is the one that a division in it gives, as
/// float has more than twice its digits.
template <typename T>
bool quantize_in_vectors(const Tensor& x, const Tensor& scale, const T* zero_points, const Granularity& grain,
                         Division division, T* to) {
  const bool of_integers = x.dtype() == DType::int32;
  if (of_integers && division == Division::in_double)
    return quantize_vectors<std::int32_t, double>(x, as_doubles(scale), zero_points, grain, to);
  if (of_integers && division == Division::in_float && scale.dtype() == DType::float32)
    return quantize_vectors<std::int32_t, float>(x, scale, zero_points, grain, to);
  if (x.dtype() != scale.dtype()) return false;
  if (x.dtype() == DType::float32 && division == Division::in_float)
    return quantize_vectors<float, float>(x, scale, zero_points, grain, to);
  const Tensor wide = cast_tensor(scale, DType::float32);
  if (x.dtype() == DType::float16 && division == Division::in_float16)
    return quantize_vectors<Float16, float>(x, wide, zero_points, grain, to);
  if (x.dtype() == DType::bfloat16 && division == Division::in_bfloat16)
    return quantize_vectors<BFloat16, float>(x, wide, zero_points, grain, to);
  return false;
}

template <typename T>
void quantize(const Tensor& x, const Tensor& scale, const Tensor* zero_point, const Granularity& grain,
              Division division, bool saturate, Tensor& y) {
  T* to = y.mutable_data<T>();
  const T* zero_points = zero_point != nullptr ? zero_point->data<T>() : nullptr;
  if (quantize_in_vectors(x, scale, zero_points, grain, division, to)) return;
  Tensor scales = as_doubles(scale);
  double* s = scales.mutable_data<double>();
  std::transform(s, s + scales.size(), s, [&](double each) { return to_precision(each, division); });
  const T none{};
  dispatch(QuantizeSources{}, x.dtype(), [&]<typename S>() {
    const S* from = x.data<S>();
    grain.for_each_run([&](std::int64_t at, std::int64_t scale_at, std::int64_t count, std::int64_t step) {
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t n = scale_at + k * step;
        const double value = static_cast<double>(static_cast<ComputeType<S>>(from[at + k]));
        const double quotient = to_precision(to_precision(value, division) / s[n], division);
        to[at + k] = quantized<T>(quotient, zero_points != nullptr ? zero_points[n] : none, saturate);
      }
    });
  });
}

DType dtype_attribute(PrepareContext& node, const char* name) {
  const std::int64_t number = node.int_attribute(name, 0);
  if (number != 0 && !is_valid_dtype(number)) refuse();
  return static_cast<DType>(number);
}

DType precision_attribute(PrepareContext& node) {
  constexpr DTypeSet known{DType::undefined, DType::float32, DType::float16, DType::bfloat16, DType::float64};
  const DType precision = dtype_attribute(node, "precision");
  if (!known.contains(precision)) {
    fail_unsupported("precision is {}; x / y_scale can be computed in float, float16, bfloat16 and double",
                     dtype_name(precision));
  }
  return precision;
}

RunFunction prepare_quantize_linear(PrepareContext& node) {
  Quantize attributes;
  const int version = node.since_version();
  if (version >= 13) attributes.axis = node.int_attribute("axis", 1);
  if (version >= 19) attributes.saturate = node.int_attribute("saturate", 1) != 0;
  if (version >= 21) attributes.block_size = node.int_attribute("block_size", 0);
  if (version >= 21) attributes.output = dtype_attribute(node, "output_dtype");
  if (version >= 23) attributes.precision = precision_attribute(node);
  return [attributes](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& scale = run.tensor(1);
    const Tensor* zero_point = run.optional_tensor(2);
    if (zero_point) require_zero_point(*zero_point, scale);
    DType target = attributes.output == DType::undefined ? DType::uint8 : attributes.output;
    if (zero_point) {
      if (attributes.output != DType::undefined && attributes.output != zero_point->dtype()) refuse();
      target = zero_point->dtype();
    }
    const Granularity grain = granularity(x, scale, attributes.axis, attributes.block_size);
    const Division division =
        division_in(attributes.precision == DType::undefined ? scale.dtype() : attributes.precision);
    Tensor& y = run.output(0, target, x.shape());
    dispatch(QuantizeTargets{}, target, [&]<typename T>() {
      quantize<T>(x, scale, zero_point, grain, division, attributes.saturate, y);
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_quantize_linear() {
  return {{"", "QuantizeLinear", {10, 13, 19, 21, 23, 24, 25, 28}, prepare_quantize_linear}};
}

}  // namespace grurun::engine
