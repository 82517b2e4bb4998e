// Convolutions of 8-bit integers as products of windows, where they lie in the input, and panels of filters.
#pragma once

#include <cstdint>

#include "engine/kernels/integer/integer_panels.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/nn/convolution.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

/// The filters of each group as columns, numbers by tap and then by channel; none where there are more than
/// two axes, or so few filters in a group that panels would be mostly empty. w: [M, C/group, k1...], int8 or
/// uint8; its zero point nullptr, a scalar or a list [M] of its type.
ScratchVector<kernels::IntegerPanels> filter_panels(const Tensor& w, const Tensor* zero_point,
                                                    std::int64_t group);

/// Whether the padded input is not much larger than what is read and written.
bool suits_windows(const ConvShape& shape);

/// y = conv(x - x_zero_point, w - w_zero_point) + bias in int32 sums that wrap: x [N, C, D1...], int8 or
/// uint8, its zero point nullptr or a scalar of its type; bias [M] may be nullptr; `panels` is not empty.
void convolve_windows(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                      const ScratchVector<kernels::IntegerPanels>& panels, const std::int32_t* bias,
                      std::int32_t* y);

/// The same with its sums requantized: `by` has a factor for each of the M filters, or one for all, and in
/// its addends the bias [M], or nullptr. y: int8 or uint8.
void convolve_windows(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                      const ScratchVector<kernels::IntegerPanels>& panels, const kernels::Requantization& by,
                      std::uint8_t* y);

}  // namespace grurun::engine
