#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

onnx_io::Attribute pooled(std::int64_t height, std::int64_t width) {
  return attr("pooled_shape", std::vector<std::int64_t>{height, width});
}

const Tensor ramp = make<float>({1, 1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

TEST(MaxRoiPool, Bins) {
  const auto row = [](std::string name, std::vector<double> roi, Attributes attributes, Tensor y) {
    return OpRowCase{std::move(name),       "MaxRoiPool",  1, {ramp, make<float>({1, 5}, roi)},
                     std::move(attributes), {std::move(y)}};
  };
  check_rows({
      row("both corners belong to the RoI", {0, 1, 0, 2, 1}, {pooled(1, 1)}, make<float>({1, 1, 1, 1}, {7})),
      row("bins overlap where the extent does not divide: rows 0-1 and 1-2, columns 0-1 and 2-3",
          {0, 0, 0, 3, 2}, {pooled(2, 2)}, make<float>({1, 1, 2, 2}, {6, 8, 10, 12})),
      row("halves round away from 0", {0, 0.5, 0.5, 1.4, 1.4}, {pooled(1, 1)},
          make<float>({1, 1, 1, 1}, {6})),
      row("spatial_scale", {0, 2, 2, 4, 2}, {pooled(1, 1), attr("spatial_scale", 0.5f)},
          make<float>({1, 1, 1, 1}, {7})),
      row("a RoI is at least one element", {0, 2, 1, 0, 0}, {pooled(1, 1)}, make<float>({1, 1, 1, 1}, {7})),
      row("a bin outside is 0", {0, 2, 0, 5, 0}, {pooled(1, 2)}, make<float>({1, 1, 1, 2}, {4, 0})),
      row("more bins than elements", {0, 0, 0, 1, 0}, {pooled(1, 3)}, make<float>({1, 1, 1, 3}, {1, 2, 2})),
  });
}

TEST(MaxRoiPool, BatchesAndTypes) {
  check_rows({
      {"batches and channels",
       "MaxRoiPool",
       1,
       {make<double>({2, 2, 1, 1}, {1, 2, 3, -4}), make<double>({2, 5}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
       {pooled(1, 1)},
       {make<double>({2, 2, 1, 1}, {3, -4, 1, 2})}},
      {"NaN is a maximum",
       "MaxRoiPool",
       1,
       {make<Float16>({1, 1, 1, 2}, {1, std::nan("")}), make<Float16>({1, 5}, {0, 0, 0, 1, 0})},
       {pooled(1, 1)},
       {make<Float16>({1, 1, 1, 1}, {std::nan("")})}},
      {"bfloat16",
       "MaxRoiPool",
       22,
       {make<BFloat16>({1, 1, 1, 2}, {1, 2}), make<BFloat16>({1, 5}, {0, 0, 0, 1, 0})},
       {pooled(1, 1)},
       {make<BFloat16>({1, 1, 1, 1}, {2})}},
      {"no RoI",
       "MaxRoiPool",
       1,
       {ramp, make<float>({0, 5}, {})},
       {pooled(1, 1)},
       {make<float>({0, 1, 1, 1}, {})}},
  });
}

TEST(MaxRoiPool, Errors) {
  const ErrorKind invalid = ErrorKind::invalid_model;
  const Tensor roi = make<float>({1, 5}, {0, 0, 0, 1, 1});
  check_errors({
      {"batch",
       "MaxRoiPool",
       1,
       {ramp, make<float>({1, 5}, {1, 0, 0, 1, 1})},
       {pooled(1, 1)},
       invalid,
       "names batch 1"},
      {"no integer",
       "MaxRoiPool",
       1,
       {ramp, make<float>({1, 5}, {0.5, 0, 0, 1, 1})},
       {pooled(1, 1)},
       invalid,
       "names batch 0.5"},
      {"NaN",
       "MaxRoiPool",
       1,
       {ramp, make<float>({1, 5}, {0, std::nan(""), 0, 1, 1})},
       {pooled(1, 1)},
       invalid,
       "no coordinate"},
      {"pooled_shape", "MaxRoiPool", 1, {ramp, roi}, {pooled(1, 0)}, invalid, "pooled_shape"},
      {"pooled_shape is needed", "MaxRoiPool", 1, {ramp, roi}, {}, invalid, "pooled_shape"},
      {"rois",
       "MaxRoiPool",
       1,
       {ramp, make<float>({1, 4}, {0, 0, 1, 1})},
       {pooled(1, 1)},
       invalid,
       "[num_rois,5]"},
      {"X", "MaxRoiPool", 1, {make<float>({1, 1, 1}, {1}), roi}, {pooled(1, 1)}, invalid, "[N,C,H,W]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
