#include "engine/ops/nn/convolution_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace grurun::engine {
namespace {

PlaneWork work_of(std::int64_t planes, std::int64_t rows, std::int64_t width, std::int64_t filters,
                  std::int64_t depth) {
  const std::int64_t copied = depth / 9 * (width + 1);
  return {planes, rows * width, width, 16, filters, 8, 4, depth, copied, 3 * copied};
}

// With the tiles of AVX-512 and of AVX2.
std::vector<PlaneWork> works() {
  std::vector<PlaneWork> all = {
      work_of(1, 208, 208, 24, 108), work_of(1, 52, 52, 96, 864),  work_of(1, 26, 26, 96, 864),
      work_of(1, 13, 13, 192, 1728), work_of(1, 13, 13, 96, 864),  work_of(1, 8, 20, 256, 576),
      work_of(3, 14, 14, 64, 576),   work_of(1, 1, 2000, 64, 320), work_of(2, 7, 7, 512, 4608),
  };
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    all.push_back(all[i]);
    all.back().tile = 6, all.back().tile_cycles = 6;
  }
  return all;
}

TEST(ConvolutionParts, CoverEverything) {
  for (const PlaneWork& work : works()) {
    for (const std::int64_t threads : {1, 2, 3, 8, 64}) {
      const PlaneParts parts = choose_parts(work, threads);
      std::int64_t places = 0, filters = 0;
      for (std::int64_t i = 0; i < parts.places; ++i) {
        EXPECT_EQ(parts.places_of(work, i).begin, places);
        places = parts.places_of(work, i).end;
      }
      for (std::int64_t i = 0; i < parts.filters; ++i) {
        EXPECT_EQ(parts.filters_of(work, i).begin, filters);
        filters = parts.filters_of(work, i).end;
      }
      EXPECT_EQ(places, work.places);
      EXPECT_EQ(filters, work.filters);
    }
  }
}

TEST(ConvolutionParts, KeepTwoThreadsBusy) {
  for (const PlaneWork& work : works()) {
    const PlaneParts parts = choose_parts(work, 2);
    const std::int64_t all = work.planes * parts.places * parts.filters;
    std::int64_t time[2] = {};
    for (std::int64_t i = 0; i < all; ++i) {
      const auto places = parts.places_of(work, i % parts.places);
      const auto filters = parts.filters_of(work, i / parts.places % parts.filters);
      time[2 * i / all] += time_of(work, places.end - places.begin, filters.end - filters.begin);
    }
    const std::int64_t alone = work.planes * time_of(work, work.places, work.filters);
    EXPECT_LT(std::max(time[0], time[1]) * 100, alone * 60)
        << work.places << " places, " << work.filters << " filters, tiles of " << work.tile;
  }
}

TEST(ConvolutionParts, AreNotMadeOfLittle) {
  const PlaneParts parts = choose_parts(work_of(1, 4, 4, 8, 9), 8);
  EXPECT_EQ(parts.places * parts.filters, 1);
}

}  // namespace
}  // namespace grurun::engine
