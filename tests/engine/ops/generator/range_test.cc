#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tensor/error.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

using testing::attr;
using testing::run_node;

// 33 tenths are another number in each type.
TEST(Range, OfFloat16IsComputedInTheStashType) {
  const auto made = [](int stash) {
    const auto f16 = [](float v) { return Tensor::scalar(static_cast<Float16>(v)); };
    const auto out = run_node("Range", "", 27, {f16(0), f16(4), f16(0.1F)}, {attr("stash_type", stash)});
    std::vector<float> values;
    for (const Float16 value : out[0].tensor().span<Float16>()) values.push_back(static_cast<float>(value));
    return values;
  };
  const float tenth = static_cast<float>(static_cast<Float16>(0.1F));
  const auto in_float = made(1), in_double = made(11), in_half = made(10), in_bfloat = made(16);
  EXPECT_EQ(in_float, in_double);
  EXPECT_EQ(in_float[33], static_cast<float>(static_cast<Float16>(33 * tenth)));
  const float bfloat_tenth = static_cast<float>(static_cast<BFloat16>(tenth));
  EXPECT_EQ(in_bfloat[33], static_cast<float>(static_cast<BFloat16>(33 * bfloat_tenth)));
  EXPECT_NE(in_bfloat[33], in_float[33]);
  EXPECT_EQ(in_half[33], in_float[33]);  // one product and a start of 0: rounded once either way
}

TEST(Range, StashTypeHasNoEffectOnOtherTypesAndMustBeAFloat) {
  const auto out = run_node("Range", "", 27, {Tensor::scalar(0.0), Tensor::scalar(0.3), Tensor::scalar(0.1)},
                            {attr("stash_type", 10)});
  EXPECT_EQ(out[0].tensor().span<double>()[2], 0.2);
  EXPECT_THROW(run_node("Range", "", 27, {Tensor::scalar(0.0F), Tensor::scalar(1.0F), Tensor::scalar(1.0F)},
                        {attr("stash_type", 7)}),
               Error);
}

template <typename T>
std::vector<T> integers(T start, T limit, T delta) {
  const auto made =
      run_node("Range", "", 11, {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)});
  const auto span = made[0].tensor().template span<T>();
  return {span.begin(), span.end()};
}

// Two steps are more than the type holds, although each element lies within it.
TEST(Range, OfIntegersSpansTheWholeType) {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(integers(low, high, high), (std::vector<std::int64_t>{low, -1, high - 1}));
  EXPECT_EQ(integers(high, low, low), (std::vector<std::int64_t>{high, -1}));
  EXPECT_EQ(integers<std::int32_t>(-2147483647, 2147483647, 2147483640),
            (std::vector<std::int32_t>{-2147483647, -7, 2147483633}));
  EXPECT_EQ(integers<std::int16_t>(-32768, 32767, 32767), (std::vector<std::int16_t>{-32768, -1, 32766}));
}

}  // namespace
}  // namespace grurun::engine
