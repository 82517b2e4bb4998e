// Tensors of 8-bit integers with a scale and a zero point of the whole tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

using EightBits = TypeList<std::int8_t, std::uint8_t>;

/// Of the tensor whose scale is this input, and whose zero point, if any, is the next one. Refuses others
/// than one number.
template <typename T>
kernels::Quantization<T> quantization_of(RunContext& run, std::size_t scale_index) {
  const Tensor& scale = run.tensor(scale_index);
  const Tensor* zero_point = run.optional_tensor(scale_index + 1);
  if (scale.size() != 1 || scale.dtype() != DType::float32) refuse();
  if (zero_point != nullptr && (zero_point->size() != 1 || zero_point->dtype() != dtype_of<T>)) refuse();
  return {scale.data<float>(), zero_point != nullptr ? zero_point->data<T>() : nullptr, 0};
}

constexpr std::size_t all_bytes = 256;

/// What becomes of each number, at the place that its bits, as an unsigned number, say.
template <typename T>
using ByteTable = std::array<T, all_bytes>;

/// quantize(function(dequantize(number))) of up to all_bytes numbers; function(values, n) changes n values
/// where they lie.
template <typename X, typename Y, typename Function>
void requantize(const X* numbers, const kernels::Quantization<X>& from, const kernels::Quantization<Y>& to,
                Y* results, std::int64_t n, const Function& function) {
  alignas(64) ByteTable<float> values;
  kernels::vec_dequantize(numbers, from, values.data(), n);
  function(values.data(), n);
  kernels::vec_quantize(values.data(), to, results, n);
}

template <typename T>
ByteTable<T> all_numbers() {
  ByteTable<T> numbers;
  for (std::size_t i = 0; i < all_bytes; ++i) numbers[i] = static_cast<T>(i);
  return numbers;
}

}  // namespace grurun::engine
