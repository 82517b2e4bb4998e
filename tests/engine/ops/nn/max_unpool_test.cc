#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using List = std::vector<std::int64_t>;

Attributes window(List kernel, List strides = {}, List pads = {}) {
  Attributes attributes{attr("kernel_shape", std::move(kernel))};
  if (!strides.empty()) attributes.push_back(attr("strides", std::move(strides)));
  if (!pads.empty()) attributes.push_back(attr("pads", std::move(pads)));
  return attributes;
}

TEST(MaxUnpool, PlacesAndShapes) {
  const Tensor x = make<float>({1, 1, 2}, {5, 6});
  check_rows({
      {"stride 1 by default: (2 - 1) + 2",
       "MaxUnpool",
       9,
       {x, make<std::int64_t>({1, 1, 2}, {0, 2})},
       window({2}),
       {make<float>({1, 1, 3}, {5, 0, 6})}},
      {"strides and pads: (2 - 1) * 2 - 1 + 3",
       "MaxUnpool",
       11,
       {x, make<std::int64_t>({1, 1, 2}, {3, 1})},
       window({3}, {2}, {1, 0}),
       {make<float>({1, 1, 4}, {0, 6, 0, 5})}},
      {"indices count through batches and channels",
       "MaxUnpool",
       22,
       {make<BFloat16>({2, 1, 1}, {1, 2}), make<std::int64_t>({2, 1, 1}, {3, 0})},
       window({2}),
       {make<BFloat16>({2, 1, 2}, {2, 0, 0, 1})}},
      {"the last of equal indices",
       "MaxUnpool",
       11,
       {make<double>({1, 1, 2}, {5, 6}), make<std::int64_t>({1, 1, 2}, {1, 1})},
       window({2}),
       {make<double>({1, 1, 3}, {0, 6, 0})}},
      {"output_shape: zeros behind",
       "MaxUnpool",
       11,
       {make<float>({1, 1, 1, 2}, {5, 6}), make<std::int64_t>({1, 1, 1, 2}, {1, 4}),
        vec<std::int64_t>({1, 1, 3, 4})},
       window({2, 2}),
       {make<float>({1, 1, 3, 4}, {0, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0})}},
      {"nothing",
       "MaxUnpool",
       11,
       {make<Float16>({0, 1, 1}, {}), make<std::int64_t>({0, 1, 1}, {})},
       window({2}),
       {make<Float16>({0, 1, 2}, {})}},
  });
}

TEST(MaxUnpool, UndoesMaxPool) {
  const Tensor x = make<float>({1, 2, 2, 4}, {1, 7, 3, 2, 4, 6, 5, 8, 9, 1, 2, 3, 4, 5, 6, 7});
  const auto pooled = run_node("MaxPool", "", 12, {x}, window({2, 2}, {2, 2}), 2);
  const auto back = run_node("MaxUnpool", "", 11, {pooled[0], pooled[1]}, window({2, 2}, {2, 2}));
  const Tensor expected = make<float>({1, 2, 2, 4}, {0, 7, 0, 0, 0, 0, 0, 8, 9, 0, 0, 0, 0, 0, 0, 7});
  EXPECT_EQ(difference(back[0].tensor(), expected), "");
  const auto again = run_node("MaxPool", "", 12, {back[0]}, window({2, 2}, {2, 2}));
  EXPECT_EQ(difference(again[0].tensor(), pooled[0].tensor()), "");
}

TEST(MaxUnpool, Errors) {
  const ErrorKind invalid = ErrorKind::invalid_model;
  const Tensor x = make<float>({1, 1, 2}, {5, 6});
  const Tensor fine = make<std::int64_t>({1, 1, 2}, {0, 1});
  check_errors({
      {"index too large",
       "MaxUnpool",
       11,
       {x, make<std::int64_t>({1, 1, 2}, {0, 3})},
       window({2}),
       invalid,
       "I holds 3"},
      {"negative index",
       "MaxUnpool",
       11,
       {x, make<std::int64_t>({1, 1, 2}, {-1, 0})},
       window({2}),
       invalid,
       "I holds -1"},
      {"shape of I",
       "MaxUnpool",
       11,
       {x, make<std::int64_t>({1, 2, 1}, {0, 1})},
       window({2}),
       invalid,
       "takes [...], here [1,1,2]"},
      {"no kernel_shape", "MaxUnpool", 11, {x, fine}, {}, invalid, "kernel_shape"},
      {"kernel_shape of an image", "MaxUnpool", 11, {x, fine}, window({2, 2}), invalid, "spatial axes"},
      {"strides", "MaxUnpool", 11, {x, fine}, window({2}, {1, 1}), invalid, "strides"},
      {"pads", "MaxUnpool", 11, {x, fine}, window({2}, {1}, {1}), invalid, "pads"},
      {"pads that leave nothing",
       "MaxUnpool",
       11,
       {x, fine},
       window({2}, {1}, {4, 4}),
       invalid,
       "leave nothing"},
      {"output_shape too small",
       "MaxUnpool",
       11,
       {x, fine, vec<std::int64_t>({1, 1, 2})},
       window({2}),
       invalid,
       "output_shape"},
      {"output_shape of other rank",
       "MaxUnpool",
       11,
       {x, fine, vec<std::int64_t>({1, 3})},
       window({2}),
       invalid,
       "output_shape"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
