#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tensor/memory/memory.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

Tensor constant_of_shape(const std::vector<std::int64_t>& shape, const Tensor& value) {
  const Tensor dims = Tensor::from({static_cast<std::int64_t>(shape.size())}, shape);
  return testing::run_node("ConstantOfShape", "", 25, {dims}, {testing::attr("value", value)})[0].tensor();
}

TEST(ConstantOfShape, LargeOnesHoldTheValueAndTakeNoMemory) {
  const Tensor filled = constant_of_shape({3, 1000, 1001}, Tensor::from({1}, std::vector<double>{2.5}));
  EXPECT_EQ(filled.shape(), (Shape{3, 1000, 1001}));
  const auto values = filled.span<double>();
  EXPECT_EQ(std::ranges::count(values, 2.5), filled.size());
#ifdef __linux__
  EXPECT_LT(memory::in_use(), filled.byte_size());
#endif
}

TEST(ConstantOfShape, LargeOnesCanBeWrittenTo) {
  const Tensor filled = constant_of_shape({5 << 20}, Tensor::from({1}, std::vector<std::int8_t>{-3}));
  Tensor changed = filled;
  changed.mutable_data<std::int8_t>()[1] = 4;
  EXPECT_EQ(filled.span<std::int8_t>()[1], -3);
  EXPECT_EQ(changed.span<std::int8_t>()[0], -3);
  EXPECT_EQ(changed.span<std::int8_t>()[1], 4);
}

}  // namespace
}  // namespace grurun::engine
