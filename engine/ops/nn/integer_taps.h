// Convolutions of 8-bit integers whose groups have one channel each, as sums of the bytes under their taps.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/nn/convolution.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

/// Filters [M, rows, taps] as int8, their rows filled up with zeros to whole groups of taps.
struct TapFilters {
  std::int64_t rows, taps;
  ScratchVector<std::int8_t> w;
  ScratchVector<std::int32_t> sums;  // of each filter
};

/// w: [M, 1, k1...], int8 or uint8; its zero point nullptr, a scalar or a list [M] of its type. Nothing where
/// groups have more channels, or there are more than two axes, or zero points that int8 weights cannot do
/// without.
std::optional<TapFilters> tap_filters(const Tensor& w, const Tensor* zero_point);

/// Whether the instruction set, strides and dilations allow it, and the padding is not most of the input.
bool suits_taps(const ConvShape& shape);

/// y = conv(x - x_zero_point, w) + bias in int32 sums that wrap: x [N, C, D1...], int8 or uint8, its zero
/// point nullptr or a scalar of its type; bias [M] may be nullptr.
void convolve_taps(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                   const TapFilters& filters, const std::int32_t* bias, std::int32_t* y);

/// The same with its sums requantized, as convolve_windows() does it.
void convolve_taps(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                   const TapFilters& filters, const kernels::Requantization& by, std::uint8_t* y);

}  // namespace grurun::engine
