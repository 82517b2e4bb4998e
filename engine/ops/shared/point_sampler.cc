#include "engine/ops/shared/point_sampler.h"

#include <algorithm>

#include "engine/ops/shared/interpolation.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

constexpr std::size_t most_taps = std::size_t{1} << 20;

// Mirrors at until it lies in [low, high].
template <typename C>
C mirrored(C at, C low, C high) {
  const C range = high - low;
  const C beyond = at < low ? low - at : at - high;
  if (range <= 0 || !std::isfinite(beyond)) return low;
  const C left = std::fmod(beyond, 2 * range);
  const C into = left <= range ? left : 2 * range - left;
  return std::clamp(at < low ? low + into : high - into, low, high);
}

}  // namespace

template <typename C>
PointSampler<C>::PointSampler(std::span<const std::int64_t> dims, SampleMode mode, Padding padding,
                              bool align_corners)
    : dims_(dims.begin(), dims.end()), mode_(mode), padding_(padding), align_corners_(align_corners) {
  const std::size_t an_axis = mode == SampleMode::nearest ? 1 : mode == SampleMode::linear ? 2 : 4;
  std::size_t most = 1;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    most *= an_axis;
    if (most > most_taps) fail_unsupported("{} spatial dimensions are too many for this mode", dims_.size());
  }
  taps_.reserve(most);
  wider_.reserve(most);
}

template <typename C>
std::span<const Tap<C>> PointSampler<C>::taps(const C* at) {
  if (mode_ == SampleMode::linear && dims_.size() == 2 && lies_among_four(at)) return taps_;
  taps_.assign(1, {0, C(1)});
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (!expand(dims_[d], at[d])) return {};
  }
  return taps_;
}

// Most points of linear in two dimensions: all four elements around are there, and none has weight 0. The
// taps are those that expand() makes.
template <typename C>
bool PointSampler<C>::lies_among_four(const C* at) {
  std::int64_t low[2];
  C part[2];
  for (std::size_t d = 0; d < 2; ++d) {
    if (!(at[d] > C(0) && at[d] < static_cast<C>(dims_[d] - 1))) return false;
    low[d] = static_cast<std::int64_t>(at[d]);
    part[d] = at[d] - static_cast<C>(low[d]);
    if (part[d] == C(0) || low[d] + 1 >= dims_[d]) return false;
  }
  const std::int64_t first = low[0] * dims_[1] + low[1], below = first + dims_[1];
  const C up = C(1) - part[0], left = C(1) - part[1];
  taps_.resize(4);
  taps_[0] = {first, up * left};
  taps_[1] = {first + 1, up * part[1]};
  taps_[2] = {below, part[0] * left};
  taps_[3] = {below + 1, part[0] * part[1]};
  return true;
}

// Replaces every tap by those along one more axis; false when there is none left.
template <typename C>
bool PointSampler<C>::expand(std::int64_t dim, C at) {
  if (mode_ == SampleMode::nearest) at = std::nearbyint(at);
  at = bring_inside(dim, at);
  // Far away all elements around are outside, and the coordinate may be too large for an integer.
  if (!(at > C(-3) && at < static_cast<C>(dim) + C(2))) return false;
  const C below = std::floor(at);
  const C part = at - below;
  std::int64_t first = static_cast<std::int64_t>(below);
  C weights[4] = {C(1)};
  int count = 1;
  if (mode_ == SampleMode::linear) {
    count = 2;
    weights[0] = C(1) - part;
    weights[1] = part;
  } else if (mode_ == SampleMode::cubic) {
    count = 4;
    --first;
    for (int k = 0; k < 4; ++k) weights[k] = cubic_weight(part + C(1) - static_cast<C>(k), C(-0.75));
  }
  wider_.clear();
  for (const Tap<C>& tap : taps_) {
    for (int k = 0; k < count; ++k) {
      const std::int64_t index = element(dim, first + k);
      if (index >= 0 && weights[k] != C(0))
        wider_.push_back({tap.offset * dim + index, tap.weight * weights[k]});
    }
  }
  taps_.swap(wider_);
  return !taps_.empty();
}

template <typename C>
C PointSampler<C>::bring_inside(std::int64_t dim, C at) const {
  const C low = align_corners_ ? C(0) : C(-0.5);
  const C high = static_cast<C>(dim) - (align_corners_ ? C(1) : C(0.5));
  if (padding_ == Padding::zeros || (at >= low && at <= high)) return at;
  if (std::isnan(at)) return C(0);
  if (padding_ == Padding::border) return at < low ? C(0) : static_cast<C>(dim - 1);
  return mirrored(at, low, high);
}

// The element that stands at this index, or -1 where that is a zero.
template <typename C>
std::int64_t PointSampler<C>::element(std::int64_t dim, std::int64_t index) const {
  if (index >= 0 && index < dim) return index;
  if (padding_ == Padding::zeros) return -1;
  if (padding_ == Padding::border) return index < 0 ? 0 : dim - 1;
  // Mirrored at the outermost elements, or half an element farther out, where the edge stands twice.
  const std::int64_t period = align_corners_ ? 2 * (dim - 1) : 2 * dim;
  if (period == 0) return 0;
  const std::int64_t place = (index % period + period) % period;
  return place < dim ? place : align_corners_ ? period - place : period - 1 - place;
}

template class PointSampler<float>;
template class PointSampler<double>;

}  // namespace grurun::engine
