#include "engine/ops/nn/convolution_parts.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t worth_a_thread = 20000;  // cycles
constexpr std::int64_t each_part = 2000;

// What the busiest thread does, where each takes its share of all parts.
std::int64_t longest(const PlaneWork& work, const PlaneParts& parts, std::int64_t threads) {
  const std::int64_t all = work.planes * parts.places * parts.filters;
  std::int64_t most = 0;
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    std::int64_t sum = 0;
    for (std::int64_t i = all * thread / threads; i < all * (thread + 1) / threads; ++i) {
      const auto places = parts.places_of(work, i % parts.places);
      const auto filters = parts.filters_of(work, i / parts.places % parts.filters);
      sum += time_of(work, places.end - places.begin, filters.end - filters.begin);
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

// Each panel, of three vectors, begins to read its filters anew, and copying a vector for it takes about
// three cycles. What is read for the first time, or another thread has written, comes from far away: two
// cycles an element.
std::int64_t time_of(const PlaneWork& work, std::int64_t places, std::int64_t filters) {
  const std::int64_t vectors = ceil_div(places, work.vector), panels = ceil_div(vectors, 3);
  const std::int64_t tiles = ceil_div(filters, work.tile);
  return work.depth * (tiles * (work.tile_cycles * vectors + 2 * panels) + 3 * vectors + 2 * filters) +
         2 * (work.copied_beside + places / work.width * work.copied) + each_part;
}

PlaneParts choose_parts(const PlaneWork& work, std::int64_t threads) {
  threads = std::min(threads, work.planes * time_of(work, work.places, work.filters) / worth_a_thread);
  PlaneParts best;
  if (threads <= 1 || work.planes >= 4 * threads) return best;
  std::int64_t least = 0;
  for (const std::int64_t several : {4, 2, 1}) {
    const std::int64_t all = ceil_div(several * threads, work.planes);
    for (std::int64_t filters = 1; filters <= all; ++filters) {
      const PlaneParts parts{all / filters, filters};
      if (all % filters != 0 || filters > ceil_div(work.filters, work.tile) ||
          parts.places > ceil_div(work.places, work.vector)) {
        continue;
      }
      const std::int64_t time = longest(work, parts, threads);
      // More of them even out what keeps a thread from its work.
      if (least == 0 || time < least - least / 64) best = parts, least = time;
    }
  }
  return best;
}

}  // namespace grurun::engine
