// Values of a plane [D1, ..., Dr] at points between its elements, as weighted sums of elements around them.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace grurun::engine {

enum class SampleMode { nearest, linear, cubic };

/// What lies outside the plane: zeros; what the edge holds; the plane, mirrored.
enum class Padding { zeros, border, reflection };

/// One element that a point takes, by its row-major offset in the plane.
template <typename C>
struct Tap {
  std::int64_t offset;
  C weight;
};

/// Works out what points are made of, in float or double. One thread uses it at a time.
///
/// nearest rounds half to even; cubic is cubic convolution with coefficient -0.75, four elements an axis.
/// Coordinates beyond the border are first brought to the nearest element (border) or mirrored (reflection);
/// elements around them that are outside count as padding says. The border runs through the outermost
/// elements (align_corners) or half an element farther out. A coordinate that is NaN lies outside; border and
/// reflection take the first element for it.
template <typename C>
class PointSampler {
 public:
  /// With border or reflection no dimension may be 0. Throws Error(unsupported) for so many dimensions that a
  /// point has more than 2^20 elements around it.
  PointSampler(std::span<const std::int64_t> dims, SampleMode mode, Padding padding, bool align_corners);

  /// The elements that the point at these coordinates, one an axis, takes; those of weight 0 are left out.
  /// Valid until the next call.
  std::span<const Tap<C>> taps(const C* at);

 private:
  bool lies_among_four(const C* at);
  bool expand(std::int64_t dim, C at);
  C bring_inside(std::int64_t dim, C at) const;
  std::int64_t element(std::int64_t dim, std::int64_t index) const;

  std::vector<std::int64_t> dims_;
  SampleMode mode_;
  Padding padding_;
  bool align_corners_;
  std::vector<Tap<C>> taps_, wider_;
};

extern template class PointSampler<float>;
extern template class PointSampler<double>;

}  // namespace grurun::engine
