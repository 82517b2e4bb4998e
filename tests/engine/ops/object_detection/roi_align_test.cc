#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

const Tensor image = make<float>({1, 1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
const Tensor first = vec<std::int64_t>({0});

Attributes form(int height, int width, int ratio, const char* mode = "avg") {
  return {attr("output_height", height), attr("output_width", width), attr("sampling_ratio", ratio),
          attr("mode", mode)};
}

Attributes shifted(Attributes attributes, const char* coordinates) {
  attributes.push_back(attr("coordinate_transformation_mode", coordinates));
  return attributes;
}

TEST(RoiAlign, CoordinatesByVersion) {
  // The value at (y, x) is 4y + x wherever the point lies between elements.
  const Tensor rois = make<float>({1, 4}, {1, 1, 3, 3});
  check_rows({
      {"10 does not shift: points 1.5 and 2.5",
       "RoiAlign",
       10,
       {image, rois, first},
       form(2, 2, 1),
       {make<float>({1, 1, 2, 2}, {7.5, 8.5, 11.5, 12.5})}},
      {"16 shifts by half: points 1 and 2",
       "RoiAlign",
       16,
       {image, rois, first},
       form(2, 2, 1),
       {make<float>({1, 1, 2, 2}, {5, 6, 9, 10})}},
      {"22 with output_half_pixel",
       "RoiAlign",
       22,
       {image, rois, first},
       shifted(form(2, 2, 1), "output_half_pixel"),
       {make<float>({1, 1, 2, 2}, {7.5, 8.5, 11.5, 12.5})}},
      {"a RoI is at least 1 by 1 without the shift: its center is (2.5, 2.5)",
       "RoiAlign",
       10,
       {image, make<float>({1, 4}, {2, 2, 2, 1}), first},
       form(1, 1, 1),
       {make<float>({1, 1, 1, 1}, {12.5})}},
      {"with it a RoI may have no extent: (1.5, 1.5)",
       "RoiAlign",
       16,
       {image, make<float>({1, 4}, {2, 2, 2, 2}), first},
       form(1, 1, 1),
       {make<float>({1, 1, 1, 1}, {7.5})}},
      {"and then takes no adaptive point",
       "RoiAlign",
       16,
       {image, make<float>({1, 4}, {2, 2, 2, 2}), first},
       form(1, 1, 0),
       {make<float>({1, 1, 1, 1}, {0})}},
      {"spatial_scale",
       "RoiAlign",
       10,
       {image, make<float>({1, 4}, {2, 2, 6, 6}), first},
       {attr("spatial_scale", 0.5f), attr("sampling_ratio", 1)},
       {make<float>({1, 1, 1, 1}, {10})}},
  });
}

TEST(RoiAlign, PointsAndModes) {
  check_rows({
      {"adaptive: 2 by 3 points of a bin 2 high and 3 wide, in the mean its center",
       "RoiAlign",
       10,
       {image, make<float>({1, 4}, {0, 0, 3, 2}), first},
       form(1, 1, 0),
       {make<float>({1, 1, 1, 1}, {5.5})}},
      {"a point between -1 and 0 is one at 0; beyond, it is 0",
       "RoiAlign",
       10,
       {image, make<float>({2, 4}, {-1, -1, 0, 0, -4, 1, -2, 3}), vec<std::int64_t>({0, 0})},
       form(1, 1, 1),
       {make<float>({2, 1, 1, 1}, {0, 0})}},
      {"at the far end the last element",
       "RoiAlign",
       10,
       {image, make<float>({1, 4}, {3, 3, 5, 5}), first},
       form(1, 1, 1),
       {make<float>({1, 1, 1, 1}, {15})}},
      // The point (1.75, 1.25) weighs 5, 6, 9, 10 by 1/4*3/4, 1/4*1/4, 3/4*3/4, 3/4*1/4.
      {"max of weighted elements",
       "RoiAlign",
       10,
       {image, make<float>({1, 4}, {0.75, 1.25, 1.75, 2.25}), first},
       form(1, 1, 1, "max"),
       {make<float>({1, 1, 1, 1}, {81.0 / 16})}},
      {"max takes NaN",
       "RoiAlign",
       10,
       {make<float>({1, 1, 1, 2}, {std::nan(""), 1}), make<float>({1, 4}, {0, 0, 1, 1}), first},
       form(1, 1, 1, "max"),
       {make<float>({1, 1, 1, 1}, {std::nan("")})}},
      {"a RoI that ends before it begins, by more than a float holds, takes no adaptive point",
       "RoiAlign",
       16,
       {image, make<float>({1, 4}, {3e38, 3e38, -3e38, -3e38}), first},
       form(1, 1, 0),
       {make<float>({1, 1, 1, 1}, {0})}},
      {"batches and channels",
       "RoiAlign",
       16,
       {make<float>({2, 2, 1, 1}, {1, 2, 3, 4}), make<float>({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}),
        vec<std::int64_t>({1, 0})},
       form(1, 1, 1),
       {make<float>({2, 2, 1, 1}, {3, 4, 1, 2})}},
      {"no RoI",
       "RoiAlign",
       16,
       {image, make<float>({0, 4}, {}), vec<std::int64_t>({})},
       {},
       {make<float>({0, 1, 1, 1}, {})}},
  });
}

TEST(RoiAlign, Types) {
  const auto row = [](auto zero, std::int64_t opset, Attributes attributes) {
    using T = decltype(zero);
    return OpRowCase{dtype_name(dtype_of<T>),
                     "RoiAlign",
                     opset,
                     {make<T>({1, 1, 1, 2}, {1, 2}), make<T>({1, 4}, {0, 0, 1, 1}), first},
                     std::move(attributes),
                     {make<T>({1, 1, 1, 1}, {1.5})}};
  };
  check_rows(
      {row(Float16(), 10, {}), row(double(), 10, {}), row(BFloat16(), 22, shifted({}, "output_half_pixel"))});
}

TEST(RoiAlign, Errors) {
  const ErrorKind invalid = ErrorKind::invalid_model;
  const Tensor rois = make<float>({1, 4}, {0, 0, 1, 1});
  const double inf = std::numeric_limits<double>::infinity();
  check_errors({
      {"batch index",
       "RoiAlign",
       16,
       {image, rois, vec<std::int64_t>({1})},
       {},
       invalid,
       "batch_indices holds 1"},
      {"negative",
       "RoiAlign",
       16,
       {image, rois, vec<std::int64_t>({-1})},
       {},
       invalid,
       "batch_indices holds -1"},
      {"number of indices",
       "RoiAlign",
       16,
       {image, rois, vec<std::int64_t>({0, 0})},
       {},
       invalid,
       "batch_indices"},
      {"rois", "RoiAlign", 16, {image, make<float>({1, 3}, {0, 0, 1}), first}, {}, invalid, "[num_rois,4]"},
      {"X", "RoiAlign", 16, {make<float>({1, 1, 1}, {1}), rois, first}, {}, invalid, "[N,C,H,W]"},
      {"no element", "RoiAlign", 16, {make<float>({1, 1, 0, 1}, {}), rois, first}, {}, invalid, "no element"},
      {"infinite",
       "RoiAlign",
       16,
       {image, make<float>({1, 4}, {0, 0, inf, 1}), first},
       {},
       invalid,
       "no coordinate"},
      {"mode",
       "RoiAlign",
       16,
       {image, rois, first},
       {attr("mode", "sum")},
       invalid,
       "knows avg, max [SCHEMA013]"},
      {"coordinates", "RoiAlign", 16, {image, rois, first}, shifted({}, "asymmetric"), invalid, "half_pixel"},
      {"output_height",
       "RoiAlign",
       16,
       {image, rois, first},
       {attr("output_height", 0)},
       invalid,
       "output_height"},
      {"sampling_ratio",
       "RoiAlign",
       16,
       {image, rois, first},
       {attr("sampling_ratio", -1)},
       invalid,
       "sampling_ratio"},
      {"too many points",
       "RoiAlign",
       16,
       {image, make<float>({1, 4}, {0, 0, 1e7, 1}), first},
       {},
       ErrorKind::unsupported,
       "sampling points"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
