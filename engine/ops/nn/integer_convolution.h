// Convolution of 8-bit integers with zero points: what ConvInteger and QLinearConv share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/kernels/integer/byte_planes.h"
#include "engine/kernels/integer/integer_panels.h"
#include "engine/kernels/vec/vec_quantize.h"
#include "engine/ops/nn/convolution.h"
#include "engine/ops/nn/integer_planes.h"
#include "engine/ops/nn/integer_taps.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

/// w - w_zero_point in parts of so many channels that every sum of a part's products is an integer that its
/// floating-point type holds, whatever the order: the float kernels then compute it exactly.
struct IntegerParts {
  std::int64_t channels;       // of each part but the last, which may have fewer
  std::vector<Tensor> values;  // float32, or float64 where one channel alone has too many taps for it
};

/// w and its zero point, arranged for convolutions.
struct IntegerFilters {
  Tensor w;
  std::optional<Tensor> zero_point;
  // Of each group: one of these or none of both.
  ScratchVector<kernels::PlaneFilters> planes;
  ScratchVector<kernels::IntegerPanels> panels;
  // Where there are none: those of groups of one channel, and of any.
  std::optional<TapFilters> taps;
  std::optional<IntegerParts> parts;
};

/// w is int8 or uint8; its zero point may be nullptr, a scalar or a list [M] of its type. Throws
/// Error(invalid_model) for another shape.
IntegerFilters integer_filters(const Tensor& w, const Tensor* zero_point, std::int64_t group);

/// conv(x - x_zero_point, w - w_zero_point) + bias in int32 sums that wrap: x [N, C, D1...Dn], int8 or uint8,
/// its zero point nullptr or a scalar of its type; bias [M] may be nullptr. `shape` is that of x and w.
Tensor integer_convolution(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                           const IntegerFilters& w, const std::int32_t* bias);

/// The same with its sums requantized to `dtype`, int8 or uint8: `by` has a factor for each of the M filters,
/// or one for all, and in its addends the bias [M], or nullptr.
Tensor quantized_convolution(const ConvShape& shape, const Tensor& x, const Tensor* zero_point,
                             const IntegerFilters& w, const kernels::Requantization& by, DType dtype);

}  // namespace grurun::engine
