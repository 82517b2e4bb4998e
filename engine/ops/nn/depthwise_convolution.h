// Convolutions whose groups have one channel each.
#pragma once

#include "engine/ops/nn/convolution.h"
#include "engine/ops/nn/convolution_planes.h"

namespace grurun::engine {

/// Whether groups have a single channel and so few filters that sums for each of them on its own take least
/// time.
bool is_depthwise(const ConvShape& shape, const PlaneLayout& layout);

/// convolve() for such a shape.
template <typename T>
void convolve_depthwise(const ConvShape& shape, const PlaneLayout& layout, const T* x, const T* w,
                        const T* bias, T* y, const RowTail<T>& tail);

}  // namespace grurun::engine
