// Sums and products of whole arrays of 8-bit integers that stand for real numbers, n elements. All run on the
// calling thread; y must not overlap a or b.
#pragma once

#include <cstdint>

#include "engine/kernels/vec/vec_quantize.h"

namespace grurun::kernels {

/// What operands a and b and their result are quantized with, whose steps are 0, and what follows from it for
/// every call.
template <class T>
struct QuantizedPair {
  struct Numbers {
    float scale, zero_point;
  };

  QuantizedPair(const Quantization<T>& a, const Quantization<T>& b, const Quantization<T>& result);

  Numbers a, b, result;
  float reciprocal, rest;  // 1 / result.scale in two parts
  /// No number on the way to a sum or a product is too large or too small for the fast way.
  bool sums_are_usual, products_are_usual;
  /// x * rest + x * reciprocal, fused, ends in the integer next to x / result.scale.
  bool divides_by_multiplying;
};

/// y[i] = quantize(dequantize(a[i]) + dequantize(b[i])), bit by bit what vec_dequantize, vec_add and
/// vec_quantize give one after the other; or with their product. An operand that does not step is one number
/// for all i.
void vec_add_quantized(const QuantizedPair<int8_t>& by, const int8_t* a, bool a_steps, const int8_t* b,
                       bool b_steps, int8_t* y, int64_t n);
void vec_add_quantized(const QuantizedPair<uint8_t>& by, const uint8_t* a, bool a_steps, const uint8_t* b,
                       bool b_steps, uint8_t* y, int64_t n);
void vec_mul_quantized(const QuantizedPair<int8_t>& by, const int8_t* a, bool a_steps, const int8_t* b,
                       bool b_steps, int8_t* y, int64_t n);
void vec_mul_quantized(const QuantizedPair<uint8_t>& by, const uint8_t* a, bool a_steps, const uint8_t* b,
                       bool b_steps, uint8_t* y, int64_t n);

}  // namespace grurun::kernels
