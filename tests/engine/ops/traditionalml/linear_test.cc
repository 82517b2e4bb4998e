// LinearClassifier, LinearRegressor, SVMClassifier, SVMRegressor.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/ops/traditionalml/pairwise_coupling.h"
#include "engine/ops/traditionalml/svm_kernel.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

double logistic(double s) {
  return 1 / (1 + std::exp(-s));
}

TEST(LinearRegressor, Targets) {
  const auto row = [](const char* name, Tensor x, Attributes attributes, Tensor y) {
    return OpRowCase{name,           "ai.onnx.ml:LinearRegressor", 1,
                     {std::move(x)}, std::move(attributes),        {std::move(y)}};
  };
  const Attributes one{attr("coefficients", Floats{1, -2})};
  const Attributes two{attr("coefficients", Floats{1, -2, 0.5F, 3}), attr("intercepts", Floats{10, 20}),
                       attr("targets", 2)};
  Attributes softmax = two;
  softmax.push_back(attr("post_transform", "SOFTMAX"));
  Attributes transformed = one;
  transformed.push_back(attr("post_transform", "LOGISTIC"));
  const std::vector<double> x{1, 2, 4, 0};
  check_rows({
      row("one target", make<float>({2, 2}, x), one, make<float>({2, 1}, {-3, 4})),
      row("two with intercepts", make<float>({2, 2}, x), two, make<float>({2, 2}, {7, 26.5, 14, 22})),
      row("double", make<double>({2, 2}, x), two, make<float>({2, 2}, {7, 26.5, 14, 22})),
      row("int64", make<std::int64_t>({2, 2}, x), two, make<float>({2, 2}, {7, 26.5, 14, 22})),
      row("int32", make<std::int32_t>({2, 2}, x), two, make<float>({2, 2}, {7, 26.5, 14, 22})),
      row("a row alone", vec<float>({1, 2}), one, make<float>({1, 1}, {-3})),
      row("no row", make<float>({0, 2}, {}), two, make<float>({0, 2}, {})),
      row("SOFTMAX of the row", vec<float>({1, 2}), softmax,
          make<float>({1, 2}, {logistic(-19.5), logistic(19.5)})),
      row("LOGISTIC of one target", vec<float>({1, 2}), transformed, make<float>({1, 1}, {logistic(-3)})),
  });
  const auto refused = [&](const char* name, Attributes attributes, const char* text) {
    return OpErrorCase{name,
                       "ai.onnx.ml:LinearRegressor",
                       1,
                       {make<float>({2, 2}, x)},
                       std::move(attributes),
                       ErrorKind::invalid_model,
                       text};
  };
  check_errors({
      refused("targets", {attr("coefficients", Floats{1, 2, 3, 4})},
              "coefficients has 4 values, but 1 targets of 2 features need 2"),
      refused("coefficients", {attr("coefficients", Floats{1, 2, 3})}, "coefficients has 3 values"),
      refused("none", {}, "coefficients has 0 values"),
      refused("intercepts", {attr("coefficients", Floats{1, 2}), attr("intercepts", Floats{1, 2})},
              "intercepts has 2 values"),
  });
}

OpRowCase linear_class(const char* name, const char* transform, Tensor x, const Floats& coefficients,
                       const Floats& intercepts, onnx_io::Attribute labels, Tensor y, Tensor z) {
  Attributes attributes{attr("coefficients", coefficients), attr("post_transform", transform),
                        std::move(labels)};
  if (!intercepts.empty()) attributes.push_back(attr("intercepts", intercepts));
  return {name,           "ai.onnx.ml:LinearClassifier", 1,
          {std::move(x)}, std::move(attributes),         {std::move(y), std::move(z)}};
}

TEST(LinearClassifier, Classes) {
  const onnx_io::Attribute three = attr("classlabels_strings", Words{"a", "b", "c"});
  const onnx_io::Attribute two = attr("classlabels_ints", Ints{5, 6});
  const Floats identity{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const Tensor x = make<float>({2, 3}, {-1, 0, 2, 3, 3, 1});
  const Tensor scalar = make<double>({3, 1}, {-0.25, 0, 2});
  const auto zero_softmax = logistic(3);
  check_rows({
      linear_class("scores", "NONE", x, identity, {}, three, words({"c", "a"}),
                   make<float>({2, 3}, {-1, 0, 2, 3, 3, 1})),
      linear_class("intercepts", "NONE", x, identity, {4, 0, 0}, three, words({"a", "a"}),
                   make<float>({2, 3}, {3, 0, 2, 7, 3, 1})),
      linear_class("LOGISTIC", "LOGISTIC", vec<std::int64_t>({-1, 0, 2}), identity, {}, three, words({"c"}),
                   make<float>({1, 3}, {logistic(-1), 0.5, logistic(2)})),
      linear_class("SOFTMAX_ZERO", "SOFTMAX_ZERO", vec<std::int32_t>({-1, 0, 2}), identity, {}, three,
                   words({"c"}), make<float>({1, 3}, {1 - zero_softmax, 0, zero_softmax})),
      linear_class("one score for two classes", "NONE", scalar, {1}, {}, two, vec<std::int64_t>({5, 5, 6}),
                   make<float>({3, 2}, {0.25, -0.25, -0.0, 0, -2, 2})),
      linear_class(
          "its LOGISTIC", "LOGISTIC", scalar, {1}, {0.25}, two, vec<std::int64_t>({5, 6, 6}),
          make<float>({3, 2}, {0.5, 0.5, logistic(-0.25), logistic(0.25), logistic(-2.25), logistic(2.25)})),
      linear_class("its SOFTMAX", "SOFTMAX", make<float>({1, 1}, {2}), {1}, {}, two, vec<std::int64_t>({6}),
                   make<float>({1, 2}, {logistic(-4), logistic(4)})),
      linear_class("its PROBIT", "PROBIT", make<float>({1, 1}, {0.25}), {1}, {}, two, vec<std::int64_t>({5}),
                   make<float>({1, 2}, {0.6744897501960817, -0.6744897501960817})),
  });
  Attributes multinomial{attr("coefficients", identity), three, attr("multi_class", 1)};
  check_rows({{"multi_class changes nothing",
               "ai.onnx.ml:LinearClassifier",
               1,
               {x},
               multinomial,
               {words({"c", "a"}), make<float>({2, 3}, {-1, 0, 2, 3, 3, 1})}}});
  const auto refused = [&](const char* name, Attributes attributes, const char* text, ErrorKind kind) {
    return OpErrorCase{name, "ai.onnx.ml:LinearClassifier", 1, {x}, std::move(attributes), kind, text, 2};
  };
  const auto invalid = ErrorKind::invalid_model;
  const auto one_row = attr("coefficients", Floats{1, 2, 3});
  check_errors({
      refused("two scores for three classes", {attr("coefficients", Floats{1, 2, 3, 4, 5, 6}), three},
              "3 classes of 3 features need 9", invalid),
      refused("one score for three", {one_row, three}, "3 classes of 3 features need 9", invalid),
      refused("one label", {one_row, attr("classlabels_ints", Ints{1})}, "single class label",
              ErrorKind::unsupported),
      refused("no label", {one_row}, "classlabels_ints", invalid),
      refused("multi_class", {one_row, two, attr("multi_class", 2)}, "multi_class is 2", invalid),
  });
}

// The vectors (1, 0), (0, 2), (1, 1) with x = (2, 1) have the products 2, 2, 3 and the squared distances 2,
// 5, 1.
const Floats vectors{1, 0, 0, 2, 1, 1};
const Tensor point = make<float>({1, 2}, {2, 1});

Attributes with_kernel(const char* kernel, Attributes attributes) {
  attributes.push_back(attr("kernel_type", kernel));
  attributes.push_back(attr("kernel_params", Floats{0.5F, 1, 3}));
  attributes.push_back(attr("support_vectors", vectors));
  return attributes;
}

TEST(SVMRegressor, Kernels) {
  const Attributes model{attr("coefficients", Floats{1, -2, 0.5F}), attr("rho", Floats{0.25F}),
                         attr("n_supports", 3)};
  const auto row = [&](const char* kernel, double y) {
    return OpRowCase{kernel,  "ai.onnx.ml:SVMRegressor",  1,
                     {point}, with_kernel(kernel, model), {make<float>({1, 1}, {y})}};
  };
  Attributes one_class = with_kernel("LINEAR", model);
  one_class.push_back(attr("one_class", 1));
  Attributes transformed = with_kernel("LINEAR", model);
  transformed.push_back(attr("post_transform", "LOGISTIC"));
  const Attributes linear{attr("coefficients", Floats{3, -1}), attr("rho", Floats{0.25F}),
                          attr("kernel_type", "RBF"), attr("kernel_params", Floats{1, 1, 1})};
  const Tensor two_rows = make<std::int64_t>({2, 2}, {2, 1, -1, 1});
  check_rows({
      row("LINEAR", 0.25 + 2 - 4 + 1.5),
      row("POLY", 0.25 + 8 - 2 * 8 + 0.5 * 15.625),
      row("RBF", 0.25 + std::exp(-1.0) - 2 * std::exp(-2.5) + 0.5 * std::exp(-0.5)),
      row("SIGMOID", 0.25 + std::tanh(2.0) - 2 * std::tanh(2.0) + 0.5 * std::tanh(2.5)),
      {"the sign",
       "ai.onnx.ml:SVMRegressor",
       1,
       {make<double>({2, 2}, {2, 1, 1, -5})},
       one_class,
       {make<float>({2, 1}, {-1, 1})}},
      {"LOGISTIC",
       "ai.onnx.ml:SVMRegressor",
       1,
       {point},
       transformed,
       {make<float>({1, 1}, {logistic(-0.25)})}},
      {"linear without vectors",
       "ai.onnx.ml:SVMRegressor",
       1,
       {two_rows},
       linear,
       {make<float>({2, 1}, {5.25, -3.75})}},
  });
}

TEST(SVMRegressor, Refusals) {
  const auto refused = [](const char* name, Attributes attributes, const char* text,
                          ErrorKind kind = ErrorKind::invalid_model) {
    return OpErrorCase{name, "ai.onnx.ml:SVMRegressor", 1, {point}, std::move(attributes), kind, text};
  };
  const auto rho = attr("rho", Floats{0});
  const auto one = attr("coefficients", Floats{1, 2});
  check_errors({
      refused("no rho", {one}, "rho has 0"),
      refused("coefficients", with_kernel("LINEAR", {one, rho, attr("n_supports", 3)}),
              "coefficients has 2 values, but must have 3"),
      refused("vectors",
              {attr("coefficients", Floats{1, 2}), rho, attr("n_supports", 2),
               attr("support_vectors", Floats{1, 2, 3})},
              "3 values"),
      refused("vectors not counted", with_kernel("LINEAR", {one, rho}), "n_supports is 0"),
      refused("a negative count", with_kernel("LINEAR", {one, rho, attr("n_supports", -1)}), "n_supports"),
      refused("width", {attr("coefficients", Floats{1, 2, 3}), rho}, "2 features"),
      refused("kernel", {one, rho, attr("kernel_type", "COSINE")}, "COSINE"),
      refused("parameters", {one, rho, attr("kernel_params", Floats{1})}, "kernel_params has 1"),
      refused("no coefficients", {rho}, "coefficients has 0"),
      refused("a transformed sign", {one, rho, attr("one_class", 1), attr("post_transform", "LOGISTIC")},
              "one_class", ErrorKind::unsupported),
  });
}

OpRowCase svm_class(const char* name, Attributes attributes, Tensor y, Tensor z) {
  return {name, "ai.onnx.ml:SVMClassifier", 1, {point}, std::move(attributes), {std::move(y), std::move(z)}};
}

TEST(SVMClassifier, TwoClasses) {
  // The decision is 1 * 2 - 2 * 2 + 0.5 * 3 + rho = rho - 0.5.
  const auto model = [](float rho, Attributes more) {
    more.push_back(attr("coefficients", Floats{1, -2, 0.5F}));
    more.push_back(attr("vectors_per_class", Ints{1, 2}));
    more.push_back(attr("rho", Floats{rho}));
    more.push_back(attr("classlabels_ints", Ints{7, 8}));
    return with_kernel("LINEAR", std::move(more));
  };
  const auto transform = [](const char* name) { return attr("post_transform", name); };
  check_rows({
      svm_class("above 0 is the first", model(0.75F, {}), vec<std::int64_t>({7}),
                make<float>({1, 2}, {-0.25, 0.25})),
      svm_class("0 is the second", model(0.5F, {}), vec<std::int64_t>({8}), make<float>({1, 2}, {-0.0, 0})),
      svm_class("LOGISTIC", model(0.75F, {transform("LOGISTIC")}), vec<std::int64_t>({7}),
                make<float>({1, 2}, {logistic(-0.25), logistic(0.25)})),
      svm_class("SOFTMAX", model(0.75F, {transform("SOFTMAX")}), vec<std::int64_t>({7}),
                make<float>({1, 2}, {logistic(-0.5), logistic(0.5)})),
      // r = 1 / (1 + exp(A s + B)) = 0.5, which is where the coupling starts from.
      svm_class("probabilities", model(0.75F, {attr("prob_a", Floats{-2}), attr("prob_b", Floats{0.5F})}),
                vec<std::int64_t>({7}), make<float>({1, 2}, {0.5, 0.5})),
  });
}

TEST(SVMClassifier, ManyClasses) {
  // One vector a class, the products 2, 2, 3, the rows of coefficients [1 2 3] and [4 5 6]: row j - 1 for the
  // vector of class i and row i for that of class j.
  //   (0,1)  1*2 + 2*2 = 6
  //   (0,2)  4*2 + 3*3 = 17
  //   (1,2)  5*2 + 6*3 = 28
  const auto model = [](const Floats& rho, Attributes more) {
    more.push_back(attr("coefficients", Floats{1, 2, 3, 4, 5, 6}));
    more.push_back(attr("vectors_per_class", Ints{1, 1, 1}));
    more.push_back(attr("rho", rho));
    more.push_back(attr("classlabels_strings", Words{"a", "b", "c"}));
    return with_kernel("LINEAR", std::move(more));
  };
  check_rows({
      svm_class("decisions", model({0, 0, 0}, {}), words({"a"}), make<float>({1, 3}, {6, 17, 28})),
      svm_class("votes for each: the first", model({0, -18, 0}, {}), words({"a"}),
                make<float>({1, 3}, {6, -1, 28})),
      svm_class("votes", model({-7, -18, -30}, {}), words({"c"}), make<float>({1, 3}, {-1, -1, -2})),
      svm_class("SOFTMAX of the decisions", model({-6, -17, -28}, {attr("post_transform", "SOFTMAX")}),
                words({"c"}), make<float>({1, 3}, {1.0 / 3, 1.0 / 3, 1.0 / 3})),
      svm_class("even pairs, even classes",
                model({0, 0, 0}, {attr("prob_a", Floats{0, 0, 0}), attr("prob_b", Floats{0, 0, 0})}),
                words({"a"}), make<float>({1, 3}, {1.0 / 3, 1.0 / 3, 1.0 / 3})),
  });
  const Attributes linear{attr("coefficients", Floats{1, 0, 0, 1, 1, 1}), attr("rho", Floats{0.5F}),
                          attr("classlabels_ints", Ints{4, 5, 6}), attr("kernel_type", "RBF")};
  check_rows({svm_class("linear without vectors", linear, vec<std::int64_t>({6}),
                        make<float>({1, 3}, {2.5, 1.5, 3.5}))});
}

TEST(SVMClassifier, Refusals) {
  const auto refused = [](const char* name, Attributes attributes, const char* text,
                          ErrorKind kind = ErrorKind::invalid_model) {
    attributes.push_back(attr("classlabels_ints", Ints{7, 8}));
    return OpErrorCase{name, "ai.onnx.ml:SVMClassifier", 1, {point}, std::move(attributes), kind, text, 2};
  };
  const auto per_class = attr("vectors_per_class", Ints{1, 2});
  const auto three = attr("coefficients", Floats{1, 2, 3});
  const auto rho = attr("rho", Floats{0});
  const auto a = attr("prob_a", Floats{1});
  const auto b = attr("prob_b", Floats{1});
  check_errors({
      refused("classes", with_kernel("LINEAR", {three, rho, attr("vectors_per_class", Ints{3})}),
              "vectors_per_class has 1"),
      refused("a negative count", with_kernel("LINEAR", {three, rho, attr("vectors_per_class", Ints{4, -1})}),
              "-1"),
      refused("counts", with_kernel("LINEAR", {three, rho, attr("vectors_per_class", Ints{2, 2})}),
              "4 vectors"),
      refused("coefficients", with_kernel("LINEAR", {attr("coefficients", Floats{1}), rho, per_class}),
              "coefficients has 1"),
      refused("rho", with_kernel("LINEAR", {three, attr("rho", Floats{1, 2}), per_class}), "rho has 2"),
      refused("prob_b alone", with_kernel("LINEAR", {three, rho, per_class, b}), "prob_a has 0"),
      refused("prob_a",
              with_kernel("LINEAR", {three, rho, per_class, attr("prob_a", Floats{1, 2}),
                                     attr("prob_b", Floats{1, 2})}),
              "prob_a has 2"),
      refused("vectors without counts", with_kernel("LINEAR", {three, rho}), "vectors_per_class has 0"),
      refused("linear probabilities", {attr("coefficients", Floats{1, 2, 3, 4}), rho, a, b},
              "pairs of classes", ErrorKind::unsupported),
      refused("linear rho", {attr("coefficients", Floats{1, 2, 3, 4}), attr("rho", Floats{1, 2})}, "rho of 2",
              ErrorKind::unsupported),
      refused("linear coefficients", {three, rho}, "3 values"),
      refused("linear width", {attr("coefficients", Floats{1, 2}), rho}, "2 features"),
  });
}

/// Of r [k, k] beside rows that take another number of rounds.
std::vector<double> coupled_beside_others(const std::vector<double>& r, std::size_t k) {
  ScratchVector<double> rows(k * k * coupled_rows, 0.5), p;
  const std::size_t at = k % coupled_rows;
  for (std::size_t i = 0; i < k * k; ++i) rows[i * coupled_rows + at] = r[i];
  couple_pairwise(rows, k, p);
  std::vector<double> out(k);
  for (std::size_t t = 0; t < k; ++t) {
    out[t] = p[t * coupled_rows + at];
    EXPECT_NEAR(p[t * coupled_rows + (at + 1) % coupled_rows], 1.0 / static_cast<double>(k), 1e-12) << t;
  }
  return out;
}

TEST(PairwiseCoupling, RecoversWhatThePairsAgreeOn) {
  for (const std::vector<double>& p :
       {std::vector<double>{0.9, 0.1}, {0.5, 0.3, 0.2}, {0.97, 0.01, 0.01, 0.01}}) {
    const std::size_t k = p.size();
    std::vector<double> r(k * k, 0);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) r[i * k + j] = i == j ? 0 : p[i] / (p[i] + p[j]);
    }
    const std::vector<double> got = coupled_beside_others(r, k);
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      sum += got[i];
      EXPECT_NEAR(got[i], p[i], 0.01) << "class " << i << " of " << k;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(PairwiseCoupling, MeetsItsOwnStoppingRule) {
  // Pairs that no probabilities agree with: the sum to minimise is flat to within 0.005 / k at the result.
  const std::size_t k = 3;
  const std::vector<double> r{0, 0.9, 0.2, 0.1, 0, 0.8, 0.8, 0.2, 0};
  const std::vector<double> p = coupled_beside_others(r, k);
  std::vector<double> gradient(k, 0);
  double mean = 0;
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j != t) gradient[t] += r[j * k + t] * (r[j * k + t] * p[t] - r[t * k + j] * p[j]);
    }
    mean += p[t] * gradient[t];
  }
  for (std::size_t t = 0; t < k; ++t) EXPECT_NEAR(gradient[t], mean, 0.005 / 3) << t;
}

}  // namespace
}  // namespace grurun::engine::testing
