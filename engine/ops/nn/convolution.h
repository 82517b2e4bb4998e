// Convolution as matrix products over the rows of the input, for float and double.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/ops/shared/channel_places.h"
#include "engine/ops/shared/window.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// X [N, C, D1...Dn], W [M, C/group, k1...kn] -> Y [N, M, O1...On]; all of one type T (float or double).
struct ConvShape {
  std::int64_t batch, channels, filters, group;
  WindowAxes axes;

  std::int64_t input_size() const;  // product of the spatial dimensions
  std::int64_t output_size() const;
  std::int64_t kernel_size() const;
  Shape output_shape() const;

  /// The first of two axes; of one axis, another with a single place.
  WindowAxis down() const { return axes.size() > 1 ? axes.front() : WindowAxis{.input = 1, .output = 1}; }
};

/// Checks X against W, group and the attributes and works out the axes. Refuses what does not fit.
ConvShape conv_shape(const Shape& x, const Shape& w, std::int64_t group, const WindowAttributes& attributes);

/// What becomes of elements of Y once their sums are complete: called with runs of them that cover Y, in any
/// order, on any thread. A run is of one image. Where it is of several filters, it begins with the first
/// element of one.
template <typename T>
using RowTail = std::function<void(T* values, std::int64_t n, ChannelPlaces at)>;

/// Y = conv(X, W), plus bias[m] where bias is not null. Each sum is one of T.
template <typename T>
void convolve(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y,
              const RowTail<T>& tail = {});

extern template void convolve(const ConvShape&, const float*, const float*, const float*, float*,
                              const RowTail<float>&);
extern template void convolve(const ConvShape&, const double*, const double*, const double*, double*,
                              const RowTail<double>&);

}  // namespace grurun::engine
