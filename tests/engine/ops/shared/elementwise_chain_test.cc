#include "engine/ops/shared/elementwise_chain.h"

#include <gtest/gtest.h>

#include <vector>

namespace grurun::engine {
namespace {

using Kind = ChainOperand::Kind;

template <float (*f)(float)>
void each(const void*, const void* x, void* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) static_cast<float*>(y)[i] = f(static_cast<const float*>(x)[i]);
}
float increment(float x) {
  return x + 1;
}
float gated_increment(float x) {
  return x * (x + 1);
}
template <bool product>
void combine(const void*, const void* a, bool a_steps, const void* b, bool b_steps, void* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float left = static_cast<const float*>(a)[a_steps ? i : 0];
    const float right = static_cast<const float*>(b)[b_steps ? i : 0];
    static_cast<float*>(y)[i] = product ? left * right : left + right;
  }
}

struct None {};

ChainOperation gate(ChainOperand a) {
  return {each<increment>, nullptr, OperationState(None()), a, {}, each<gated_increment>, false};
}
ChainOperation product(ChainOperand a, ChainOperand b) {
  return {nullptr, combine<true>, OperationState(None()), a, b, nullptr, true};
}
ChainOperation sum(ChainOperand a, ChainOperand b) {
  return {nullptr, combine<false>, OperationState(None()), a, b, nullptr, false};
}
ChainOperand made(std::size_t i) {
  return {Kind::made, i, 0};
}

constexpr ChainOperand x{Kind::outside, 0, 0}, two{Kind::constant, 0, 2};

float result(const ElementwiseChain& chain, float value) {
  float y = 0;
  const ChainSource source{&value, 1, 1};
  chain.run({&source, 1}, &y, 0, 1);
  return y;
}

TEST(ElementwiseChain, JoinsWhatIsMultipliedByItsArgument) {
  struct Case {
    std::vector<ChainOperation> operations;
    std::size_t left;
    float of_three;
  };
  const std::vector<Case> cases{
      {{gate(x), product(x, made(0))}, 1, 12},
      {{gate(x), product(made(0), x)}, 1, 12},
      {{sum(x, two), gate(made(0)), product(made(1), made(0)), sum(made(2), made(0)), sum(made(3), made(2))},
       4,
       65},
      {{gate(x), product(x, made(0)), gate(made(1)), product(made(2), made(1))}, 2, 156},
      {{gate(x), product(x, made(0)), sum(made(1), made(0))}, 3, 16},  // read once more
      {{gate(x), product(two, made(0))}, 2, 8},                        // by something else
      {{gate(x), sum(x, made(0))}, 2, 7},
      {{sum(x, two), gate(x), product(made(0), made(1))}, 3, 20},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ElementwiseChain chain(cases[i].operations);
    EXPECT_EQ(chain.operations().size(), cases[i].left) << i;
    EXPECT_EQ(result(chain, 3), cases[i].of_three) << i;
  }
}

}  // namespace
}  // namespace grurun::engine
