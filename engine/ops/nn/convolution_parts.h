// How a convolution by planes is shared out among threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace grurun::engine {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// What there is to share out.
struct PlaneWork {
  std::int64_t planes;  // images times groups
  std::int64_t places;  // of a plane: rows of `width` of them
  std::int64_t width;
  std::int64_t vector;         // places that are computed at once
  std::int64_t filters;        // of a plane
  std::int64_t tile;           // filters that are computed at once,
  std::int64_t tile_cycles;    // for a vector of places and a product of each sum
  std::int64_t depth;          // products of a sum
  std::int64_t copied;         // elements copied for each row, 0 if none
  std::int64_t copied_beside;  // for rows beside those of a part
};

/// Parts of the places, in whole vectors, and of the filters, in whole tiles, of every plane.
struct PlaneParts {
  std::int64_t places = 1, filters = 1;

  struct Range {
    std::int64_t begin, end;
  };
  Range places_of(const PlaneWork& work, std::int64_t part) const {
    return share(work.places, work.vector, part, places);
  }
  Range filters_of(const PlaneWork& work, std::int64_t part) const {
    return share(work.filters, work.tile, part, filters);
  }

  static Range share(std::int64_t all, std::int64_t unit, std::int64_t part, std::int64_t parts) {
    const std::int64_t units = (all + unit - 1) / unit;
    return {part * units / parts * unit, std::min(all, (part + 1) * units / parts * unit)};
  }
};

/// Time that a thread takes for some places of some filters, in cycles, about.
std::int64_t time_of(const PlaneWork& work, std::int64_t places, std::int64_t filters);

/// Parts that end soonest where `threads` take them in their order: part (plane, filters, places), the last
/// fastest.
PlaneParts choose_parts(const PlaneWork& work, std::int64_t threads);

}  // namespace grurun::engine
