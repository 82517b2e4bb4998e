#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(OneHot, PlacesOnTheNewAxis) {
  const Tensor depth = vec<std::int64_t>({3}), values = vec<float>({5, 1});
  check_rows({
      {"from the end since version 11",
       "OneHot",
       11,
       {vec<std::int64_t>({-1, 0, -4, 3}), depth, values},
       {},
       {make<float>({4, 3}, {5, 5, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5})}},
      {"axis 0",
       "OneHot",
       11,
       {vec<float>({2.9, 0}), depth, values},
       {attr("axis", 0)},
       {make<float>({3, 2}, {5, 1, 5, 5, 1, 5})}},
  });
}

TEST(OneHot, NumbersThatInt64CannotHoldAreNoPlaces) {
  const Tensor depth = vec<std::int64_t>({3}), values = vec<float>({5, 1});
  Tensor large(DType::uint64, Shape{2});
  large.mutable_data<std::uint64_t>()[0] = std::numeric_limits<std::uint64_t>::max();
  large.mutable_data<std::uint64_t>()[1] = 2;
  check_rows({{"uint64", "OneHot", 11, {large, depth, values}, {}, {make<float>({2, 3}, {5, 5, 5, 5, 5, 1})}},
              {"float",
               "OneHot",
               11,
               {vec<float>({1e30, 2}), depth, values},
               {},
               {make<float>({2, 3}, {5, 5, 5, 5, 5, 1})}}});
  check_errors({{"depth",
                 "OneHot",
                 11,
                 {vec<std::int64_t>({0}), vec<std::int64_t>({-1}), values},
                 {},
                 ErrorKind::invalid_model,
                 "depth is -1, but must be a number of elements, from 0 on [SHAPE001]"},
                {"from the end before version 11",
                 "OneHot",
                 9,
                 {vec<std::int64_t>({-1, 1}), vec<std::int64_t>({3}), values},
                 {},
                 ErrorKind::invalid_model,
                 "indices holds -1, but must hold numbers from 0 on before opset 11 [SHAPE001]"}});
}

}  // namespace
}  // namespace grurun::engine::testing
