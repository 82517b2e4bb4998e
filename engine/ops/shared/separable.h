// Resampling a tensor along its axes, one after the other.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// Along one axis, element o of the output is the sum over k of weights[start[o] + k] * input[first[o] + k],
/// k from 0 to start[o + 1] - start[o] - 1. Every input element named lies in [0, input).
struct AxisTaps {
  std::int64_t input = 0, output = 0;
  ScratchVector<std::int64_t> first;  // [output]
  ScratchVector<std::int64_t> start;  // [output + 1]
  ScratchVector<double> weights;      // [start[output]]
  ScratchVector<std::int64_t>
      outside;  // outputs that take no element but a fill value; their taps are unused

  /// The output is the input.
  bool is_identity() const;
};

/// An axis that stays as it is.
AxisTaps identity_taps(std::int64_t length);

/// x [taps[0].input, taps[1].input, ...] -> [taps[0].output, ...], weighted sums; integers are rounded half
/// to even and kept within their type. Throws Error(unsupported) for strings.
Tensor weighted_sums(const Tensor& x, std::span<const AxisTaps> taps);

/// The same where every output takes one element: copies of the elements at first[o], of any type.
Tensor taken_elements(const Tensor& x, std::span<const AxisTaps> taps);

/// Overwrites every element that is outside on some axis with value, converted to the tensor's type.
/// Throws Error(unsupported) where that would write into strings.
void fill_outside(Tensor& y, std::span<const AxisTaps> taps, float value);

}  // namespace grurun::engine
