#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Tensor classes(Shape shape, const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>(std::move(shape), values);
}

TEST(Loss, NegativeLogLikelihood) {
  const Tensor x = make<float>({2, 3, 2}, {1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2});
  const Tensor target = classes({2, 2}, {2, 1, 0, 2});
  const Tensor weight = vec<float>({0.25, 0.5, 0.125});
  check_rows({
      {"none",
       "NegativeLogLikelihoodLoss",
       13,
       {x, target},
       {attr("reduction", "none")},
       {make<float>({2, 2}, {-3, -2, -0.0, -2})}},
      {"mean is the default", "NegativeLogLikelihoodLoss", 22, {x, target}, {}, {make<float>({}, {-1.75})}},
      {"mean of weights",
       "NegativeLogLikelihoodLoss",
       22,
       {x, target, weight},
       {},
       {make<float>({}, {-(3 * .125 + 2 * .5 + 2 * .125)})}},
      {"sum of halves",
       "NegativeLogLikelihoodLoss",
       22,
       {make<Float16>({1, 2}, {-2048, 1}), classes({1}, {0})},
       {attr("reduction", "sum")},
       {make<Float16>({}, {2048})}},
      {"ignored samples have no weight in the mean",
       "NegativeLogLikelihoodLoss",
       12,
       {x, target},
       {attr("ignore_index", 2)},
       {make<float>({}, {-1})}},
      {"ignore_index may be no class",
       "NegativeLogLikelihoodLoss",
       12,
       {x, Tensor::from<std::int32_t>({2, 2}, {-100, 1, -100, -100})},
       {attr("ignore_index", -100)},
       {make<float>({}, {-2})}},
      {"the mean of nothing",
       "NegativeLogLikelihoodLoss",
       13,
       {x, classes({2, 2}, {1, 1, 1, 1})},
       {attr("ignore_index", 1)},
       {make<float>({}, {nan})}},
      {"no samples",
       "NegativeLogLikelihoodLoss",
       13,
       {make<double>({0, 3}, {}), classes({0}, {})},
       {attr("reduction", "sum")},
       {make<double>({}, {0})}},
  });
  check_errors({
      {"a target beyond the classes",
       "NegativeLogLikelihoodLoss",
       13,
       {x, classes({2, 2}, {0, 3, 0, 0})},
       {},
       ErrorKind::invalid_model,
       "target 1 is 3"},
      {"a negative target",
       "NegativeLogLikelihoodLoss",
       13,
       {x, classes({2, 2}, {-1, 0, 0, 0})},
       {attr("ignore_index", 7)},
       ErrorKind::invalid_model,
       "or ignore_index 7"},
      {"a target of another shape",
       "NegativeLogLikelihoodLoss",
       13,
       {x, classes({2}, {0, 0})},
       {},
       ErrorKind::invalid_model,
       "[2,2]"},
      {"weights of another length",
       "NegativeLogLikelihoodLoss",
       13,
       {x, target, vec<float>({1, 1})},
       {},
       ErrorKind::invalid_model,
       "input weight is [2]; NegativeLogLikelihoodLoss-13 takes [C], here [3]"},
      {"another reduction",
       "NegativeLogLikelihoodLoss",
       13,
       {x, target},
       {attr("reduction", "max")},
       ErrorKind::invalid_model,
       "reduction is 'max'"},
      {"a vector",
       "NegativeLogLikelihoodLoss",
       13,
       {vec<float>({1}), classes({}, {0})},
       {},
       ErrorKind::invalid_model,
       "input is [1]; NegativeLogLikelihoodLoss-13 takes [N,C,...]"},
  });
}

TEST(Loss, SoftmaxCrossEntropy) {
  const double sum = std::log(1 + std::exp(1) + std::exp(2));
  check_rows({
      {"log_prob and its losses",
       "SoftmaxCrossEntropyLoss",
       13,
       {make<double>({1, 3, 1}, {0, 1, 2}), classes({1, 1}, {1})},
       {attr("reduction", "none")},
       {make<double>({1, 1}, {sum - 1}), make<double>({1, 3, 1}, {-sum, 1 - sum, 2 - sum})}},
      {"large scores do not overflow",
       "SoftmaxCrossEntropyLoss",
       12,
       {make<float>({1, 2}, {1000, 0}), classes({1}, {1})},
       {},
       {make<float>({}, {1000})}},
  });
  check_errors({
      {"a label beyond the classes",
       "SoftmaxCrossEntropyLoss",
       13,
       {make<float>({1, 2}, {0, 0}), classes({1}, {2})},
       {},
       ErrorKind::invalid_model,
       "target 0 is 2"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
