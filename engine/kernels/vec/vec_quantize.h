// Whole arrays to and from integers of 8 and 16 bits, n elements. All run on the calling thread; x and y must
// not overlap.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/element_types.h"
#include "tensor/memory/scratch.h"

namespace grurun::kernels {

/// What element i is quantized with: scales[i * step] and zero_points[i * step].
template <class T, class Scale = float>
struct Quantization {
  const Scale* scales;
  const T* zero_points;  // nullptr: all are 0
  int64_t step;          // 0 or 1
};

#define GRURUN_DECLARE_QUANTIZE(X, SCALE)                                                       \
  void vec_quantize(const X* x, const Quantization<int8_t, SCALE>& by, int8_t* y, int64_t n);   \
  void vec_quantize(const X* x, const Quantization<uint8_t, SCALE>& by, uint8_t* y, int64_t n); \
  void vec_quantize(const X* x, const Quantization<int16_t, SCALE>& by, int16_t* y, int64_t n); \
  void vec_quantize(const X* x, const Quantization<uint16_t, SCALE>& by, uint16_t* y, int64_t n);

/// y[i] = saturate(round(x[i] / scale) + zero_point), the quotient rounded to float first, or to the 16-bit
/// float that x is, then to the nearest integer, ties to even; NaN gives the zero point. Integers are rounded
/// to the type of the scale before.
GRURUN_DECLARE_QUANTIZE(float, float)
GRURUN_DECLARE_QUANTIZE(Float16, float)
GRURUN_DECLARE_QUANTIZE(BFloat16, float)
GRURUN_DECLARE_QUANTIZE(int32_t, float)
GRURUN_DECLARE_QUANTIZE(int32_t, double)
#undef GRURUN_DECLARE_QUANTIZE

/// y[i] = (x[i] - zero_point) * scale, rounded once.
void vec_dequantize(const int8_t* x, const Quantization<int8_t>& by, float* y, int64_t n);
void vec_dequantize(const uint8_t* x, const Quantization<uint8_t>& by, float* y, int64_t n);
void vec_dequantize(const int16_t* x, const Quantization<int16_t>& by, float* y, int64_t n);
void vec_dequantize(const uint16_t* x, const Quantization<uint16_t>& by, float* y, int64_t n);

/// What integers are quantized with again.
struct Requantization {
  const double* factors;  // of element i: factors[i * step]
  int64_t step;           // 0 or 1
  double scale;
  int zero_point;                    // in [least, least + 255]
  int least;                         // of the type that it ends in: 0 for uint8, -128 for int8
  const int32_t* addends = nullptr;  // of each element; nullptr: all are 0
  const float* nearest = nullptr;    // nearest_factors() by element, with step 1; nullptr: it takes longer
};

/// factors[i] / scale as float; nothing where one of them is not finite.
ScratchVector<float> nearest_factors(std::span<const double> factors, double scale);

/// y[i] = saturate(round((x[i] + addend) * factor / scale) + zero_point) likewise, in double precision, the
/// sum modulo 2^32; the bytes of int8 for those, too.
void vec_requantize(const int32_t* x, const Requantization& by, uint8_t* y, int64_t n);

}  // namespace grurun::kernels
