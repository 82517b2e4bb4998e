// Convolutions of 8-bit integers as products of filters and planes, where the processor multiplies and adds
// up four bytes at once.
#pragma once

#include <cstdint>

#include "engine/kernels/integer/byte_planes.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/nn/convolution.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

/// The filters of each group, their numbers four channels at a time and then by tap. w: [M, C/group, k1...],
/// int8 or uint8; its zero point nullptr, a scalar or a list [M] of its type. None on other processors, where
/// there are more than two axes or few filters, or where zero points are not those that int8 does without.
ScratchVector<kernels::PlaneFilters> plane_filters(const Tensor& w, const Tensor* zero_point,
                                                   std::int64_t group);

/// y = conv(x - x_zero_point, w) + bias in int32 sums that wrap: x [N, C, D1...], int8 or uint8, its zero
/// point nullptr or a scalar of its type; bias [M] may be nullptr. `filters` is not empty, and the shape is
/// one that suits_windows().
void convolve_planes(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                     const ScratchVector<kernels::PlaneFilters>& filters, const std::int32_t* bias,
                     std::int32_t* y);

/// The same with its sums requantized, as convolve_windows() does it.
void convolve_planes(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                     const ScratchVector<kernels::PlaneFilters>& filters, const kernels::Requantization& by,
                     std::uint8_t* y);

}  // namespace grurun::engine
