// Bernoulli (ai.onnx 15, 22).
//
//   output = 1 with probability input, else 0; in the type that dtype states, else in the input's
//
// Every input lies in [0, 1]. The function body of the schema compares the other way round and gives 1 with
// probability 1 - input; the text is followed here.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "engine/ops/shared/random.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using BernoulliOutputs = Join<Numbers, TypeList<bool>>;

std::vector<bool> draw(const Tensor& probabilities, Random random) {
  std::vector<bool> ones(static_cast<std::size_t>(probabilities.size()));
  dispatch(Floats{}, probabilities.dtype(), [&]<typename T>() {
    const T* p = probabilities.data<T>();
    for (std::size_t i = 0; i < ones.size(); ++i) {
      const auto chance = static_cast<double>(p[i]);
      if (!(chance >= 0 && chance <= 1)) refuse();
      ones[i] = random.uniform() < chance;
    }
  });
  return ones;
}

RunFunction prepare_bernoulli(PrepareContext& node) {
  const auto seed = node.optional_float("seed");
  const auto stated = dtype_attribute(node, "dtype", BernoulliOutputs::set);
  return [=](RunContext& run) {
    const Tensor& input = run.tensor(0);
    const std::vector<bool> ones = draw(input, node_random(seed, run));
    Tensor& out = run.output(0, stated.value_or(input.dtype()), input.shape());
    dispatch(BernoulliOutputs{}, out.dtype(), [&]<typename T>() {
      T* to = out.mutable_data<T>();
      for (const bool one : ones) *to++ = static_cast<T>(one ? 1 : 0);
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_bernoulli() {
  return {{"", "Bernoulli", {15, 22}, prepare_bernoulli}};
}

}  // namespace grurun::engine
