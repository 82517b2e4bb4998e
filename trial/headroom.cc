#include "trial/headroom.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace grurun::trial {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether b lies on or below the line from a to c: then no tolerance is decided by it.
bool is_below(const ElementError& a, const ElementError& b, const ElementError& c) {
  return (b.error - a.error) * (c.size - a.size) <= (c.error - a.error) * (b.size - a.size);
}

}  // namespace

void Headroom::add(double size, double error) {
  if (reduced_ > 0) {
    // Most elements are no worse than the one of least size, or than all.
    if (size >= points_[0].size && error <= points_[0].error) return;
    if (size >= points_[reduced_ - 1].size && error <= points_[reduced_ - 1].error) return;
  }
  constexpr std::size_t waiting = 4096;
  points_.push_back({size, error});
  if (points_.size() - reduced_ >= waiting) reduce();
}

void Headroom::reduce() const {
  if (reduced_ == points_.size()) return;
  std::ranges::sort(points_, [](const ElementError& a, const ElementError& b) {
    return a.size != b.size ? a.size < b.size : a.error > b.error;
  });
  std::vector<ElementError> hull;
  for (const ElementError& point : points_) {
    if (!hull.empty() && point.error <= hull.back().error) continue;
    while (hull.size() > 1 && is_below(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  points_ = std::move(hull);
  reduced_ = points_.size();
}

const std::vector<ElementError>& Headroom::points() const {
  reduce();
  return points_;
}

Headroom Headroom::of(std::vector<ElementError> points, bool is_hopeless) {
  Headroom out;
  out.points_ = std::move(points);
  out.hopeless_ = is_hopeless;
  out.reduce();
  return out;
}

double Headroom::least_atol(double rtol) const {
  if (hopeless_) return infinity;
  double least = 0;
  for (const ElementError& point : points()) {
    double atol = std::max(point.error - rtol * point.size, 0.0);
    // What is told must pass as the comparison computes it.
    while (!(point.error <= atol + rtol * point.size)) atol = std::nextafter(atol, infinity);
    least = std::max(least, atol);
  }
  return least;
}

double Headroom::least_rtol(double atol) const {
  if (hopeless_) return infinity;
  double least = 0;
  for (const ElementError& point : points()) {
    if (point.error <= atol) continue;
    if (point.size == 0) return infinity;
    double rtol = (point.error - atol) / point.size;
    while (std::isfinite(rtol) && !(point.error <= atol + rtol * point.size))
      rtol = std::nextafter(rtol, infinity);
    least = std::max(least, rtol);
  }
  return least;
}

void count_ulp(UlpCounts& counts, std::uint64_t distance) {
  const auto bucket = static_cast<std::size_t>(std::bit_width(distance));
  if (counts.size() <= bucket) counts.resize(bucket + 1);
  ++counts[bucket];
}

}  // namespace grurun::trial
