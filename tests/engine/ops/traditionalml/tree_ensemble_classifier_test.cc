// TreeEnsembleClassifier.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/traditionalml/classic_trees.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

OpRowCase classification(const char* name, Tensor x, const std::vector<VoteRow>& votes, Attributes more,
                         Tensor y, const std::vector<double>& z, std::int64_t opset = 3) {
  const std::int64_t rows = y.size();
  const Shape shape{rows, static_cast<std::int64_t>(z.size()) / rows};
  return {name,
          "ai.onnx.ml:TreeEnsembleClassifier",
          opset,
          {std::move(x)},
          trees(stump(0), votes, "class", std::move(more)),
          {std::move(y), make<float>(shape, z)}};
}

TEST(TreeEnsembleClassifier, ManyClasses) {
  const onnx_io::Attribute labels = attr("classlabels_int64s", Ints{10, 20, 30});
  const onnx_io::Attribute names = attr("classlabels_strings", Words{"a", "b", "c"});
  const std::vector<VoteRow> votes{{0, 1, 0, -1}, {0, 1, 1, -2}, {0, 2, 1, 2}, {0, 2, 2, 2}};
  const Tensor x = make<float>({2, 1}, {-1, 1});
  const Tensor low = make<float>({1, 1}, {-1});
  const Tensor high = make<double>({1, 1}, {1});
  const onnx_io::Attribute base = attr("base_values", Floats{3, 0, 0.5F});
  const onnx_io::Attribute base_in_double = attr("base_values_as_tensor", vec<double>({3, 0, 0.5}));
  const double e = std::exp(2.0);
  check_rows({
      // A class without a vote has the score 0.
      classification("the highest score, the first of several", x, votes, {labels},
                     vec<std::int64_t>({30, 20}), {-1, -2, 0, 0, 2, 2}),
      classification("labels that are strings", x, votes, {names},
                     Tensor::from<std::string>({2}, Words{"c", "b"}), {-1, -2, 0, 0, 2, 2}, 1),
      classification("base_values", x, votes, {labels, base}, vec<std::int64_t>({10, 10}),
                     {2, -2, 0.5, 3, 2, 2.5}),
      classification("base_values in double", x, votes, {labels, base_in_double}, vec<std::int64_t>({10, 10}),
                     {2, -2, 0.5, 3, 2, 2.5}, 5),
      classification("the class is that of the scores before the transform", low, votes,
                     {labels, attr("post_transform", "SOFTMAX_ZERO")}, vec<std::int64_t>({30}),
                     {1 / (1 + std::exp(-1.0)), 1 / (1 + std::exp(1.0)), 0}),
      classification("SOFTMAX", high, votes, {labels, attr("post_transform", "SOFTMAX")},
                     vec<std::int64_t>({20}), {1 / (1 + 2 * e), e / (1 + 2 * e), e / (1 + 2 * e)}),
  });
}

TEST(TreeEnsembleClassifier, TwoClasses) {
  const std::vector<VoteRow> probability{{0, 1, 0, 0.25F}, {0, 2, 0, 0.75F}};
  const std::vector<VoteRow> margin{{0, 1, 0, -0.25F}, {0, 2, 0, 0.25F}};
  const std::vector<VoteRow> second{{0, 1, 1, -0.25F}, {0, 2, 1, 0.75F}};
  const std::vector<VoteRow> both{{0, 1, 0, 0.75F}, {0, 1, 1, 0.25F}, {0, 2, 1, 1}};
  const auto row = [&](const char* name, const std::vector<VoteRow>& votes, Attributes more,
                       const std::vector<double>& y, const std::vector<double>& z) {
    more.push_back(attr("classlabels_int64s", Ints{10, 20}));
    return classification(name, make<float>({2, 1}, {-1, 1}), votes, std::move(more), vec<std::int64_t>(y),
                          z);
  };
  const auto transformed = [](const char* name) { return attr("post_transform", name); };
  const auto base = [](Floats values) { return attr("base_values", std::move(values)); };
  const auto logistic = [](double s) { return 1 / (1 + std::exp(-s)); };
  const double quartile = 0.6744897501960817;  // where the normal distribution reaches 0.75
  check_rows({
      row("one score, a probability", probability, {}, {10, 20}, {0.75, 0.25, 0.25, 0.75}),
      row("with a base value", probability, {base({0.5F})}, {20, 20}, {0.25, 0.75, -0.25, 1.25}),
      row("its PROBIT", probability, {transformed("PROBIT")}, {10, 20},
          {quartile, -quartile, -quartile, quartile}),
      row("one score, a margin", margin, {}, {10, 20}, {0.25, -0.25, -0.25, 0.25}),
      row("its LOGISTIC", margin, {transformed("LOGISTIC")}, {10, 20},
          {logistic(0.25), logistic(-0.25), logistic(-0.25), logistic(0.25)}),
      row("its SOFTMAX", margin, {transformed("SOFTMAX")}, {10, 20},
          {logistic(0.5), logistic(-0.5), logistic(-0.5), logistic(0.5)}),
      row("LOGISTIC takes a margin, whatever its sign", probability, {transformed("LOGISTIC")}, {20, 20},
          {logistic(-0.25), logistic(0.25), logistic(-0.75), logistic(0.75)}),
      row("votes for the second class alone", second, {}, {10, 20}, {0, -0.25, 0, 0.75}),
      row("votes for both", both, {}, {10, 20}, {0.75, 0.25, 0, 1}),
      row("two base values are one for each", probability, {base({0, 0.5F})}, {20, 10},
          {0.25, 0.5, 0.75, 0.5}),
  });
  const auto refuse = [&](const char* name, Attributes more, const char* text, ErrorKind kind) {
    return OpErrorCase{name,
                       "ai.onnx.ml:TreeEnsembleClassifier",
                       3,
                       {vec<float>({0})},
                       trees(stump(0), both, "class", std::move(more)),
                       kind,
                       text,
                       2};
  };
  const onnx_io::Attribute labels = attr("classlabels_int64s", Ints{10, 20});
  const onnx_io::Attribute names = attr("classlabels_strings", Words{"a", "b"});
  check_errors({
      refuse("one base value for votes of both", {labels, base({1})}, "base_values has 1",
             ErrorKind::invalid_model),
      refuse("one label", {attr("classlabels_int64s", Ints{1}), attr("post_transform", "LOGISTIC")},
             "single class label", ErrorKind::unsupported),
      refuse("no label", {}, "classlabels", ErrorKind::invalid_model),
      refuse("labels of both kinds", {labels, names}, "not both", ErrorKind::invalid_model),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
