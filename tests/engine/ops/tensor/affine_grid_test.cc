#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Tensor sizes(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

TEST(AffineGrid, Positions) {
  const Tensor same = make<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  check_rows({
      {"centres of equal parts",
       "AffineGrid",
       20,
       {same, sizes({1, 7, 1, 2})},
       {},
       {make<float>({1, 1, 2, 2}, {-.5, 0, .5, 0})}},
      {"corners",
       "AffineGrid",
       20,
       {same, sizes({1, 7, 2, 3})},
       {attr("align_corners", 1)},
       {make<float>({1, 2, 3, 2}, {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1})}},
      {"a single place with corners",
       "AffineGrid",
       20,
       {same, sizes({1, 7, 1, 1})},
       {attr("align_corners", 1)},
       {make<float>({1, 1, 1, 2}, {-1, -1})}},
      {"3D in double",
       "AffineGrid",
       20,
       {make<double>({1, 3, 4}, {0, 0, 1, .125, 1, 0, 0, 0, 0, 2, 0, 0}), sizes({1, 1, 2, 1, 1})},
       {},
       {make<double>({1, 2, 1, 1, 3}, {-.375, 0, 0, .625, 0, 0})}},
      {"no places", "AffineGrid", 20, {same, sizes({1, 7, 0, 2})}, {}, {make<float>({1, 0, 2, 2}, {})}},
  });
  check_errors({
      {"theta of another batch",
       "AffineGrid",
       20,
       {same, sizes({2, 1, 2, 2})},
       {},
       ErrorKind::invalid_model,
       "size asks for a batch of 2"},
      {"size of rank 3",
       "AffineGrid",
       20,
       {same, sizes({1, 2, 2})},
       {},
       ErrorKind::invalid_model,
       "input size is [3]; AffineGrid-20 takes [4] [SHAPE001]"},
      {"a negative size", "AffineGrid", 20, {same, sizes({1, 1, -2, 2})}, {}, ErrorKind::invalid_model, "-2"},
  });
}

TEST(CenterCropPad, MovesWholeElements) {
  const Tensor x = make<std::int32_t>({5}, {1, 2, 3, 4, 5});
  const Tensor text = Tensor::from<std::string>({1, 2}, {"a", "b"});
  check_rows({
      {"an odd rest is cropped at the end",
       "CenterCropPad",
       18,
       {x, sizes({2})},
       {},
       {vec<std::int32_t>({2, 3})}},
      {"an odd rest is padded at the end",
       "CenterCropPad",
       18,
       {x, sizes({8})},
       {},
       {vec<std::int32_t>({0, 1, 2, 3, 4, 5, 0, 0})}},
      {"strings, one axis",
       "CenterCropPad",
       18,
       {text, Tensor::from<std::int32_t>({1}, {4})},
       {attr("axes", std::vector<std::int64_t>{-1})},
       {Tensor::from<std::string>({1, 4}, {"", "a", "b", ""})}},
      {"a scalar", "CenterCropPad", 18, {make<float>({}, {3}), sizes({})}, {}, {make<float>({}, {3})}},
  });
  check_errors({
      {"sizes for other axes",
       "CenterCropPad",
       18,
       {x, sizes({2, 2})},
       {},
       ErrorKind::invalid_model,
       "input shape has 2 sizes for 1 axes [SHAPE001]"},
      {"a negative size",
       "CenterCropPad",
       18,
       {x, sizes({-1})},
       {},
       ErrorKind::invalid_model,
       "shape holds -1"},
      {"an axis named twice",
       "CenterCropPad",
       18,
       {text, sizes({1, 1})},
       {attr("axes", std::vector<std::int64_t>{0, -2})},
       ErrorKind::invalid_model,
       "axis 0 twice"},
      {"an axis out of range",
       "CenterCropPad",
       18,
       {x, sizes({1})},
       {attr("axes", std::vector<std::int64_t>{1})},
       ErrorKind::invalid_model,
       "axis"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
