#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/graph/model_building.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

std::vector<Value> step(const std::string& op, std::vector<Value> inputs, Attributes attributes,
                        std::size_t outputs) {
  return run_node(op, "ai.onnx.preview.training", 1, std::move(inputs), std::move(attributes), outputs);
}

void expect_outputs(const std::string& what, const std::vector<Value>& got,
                    const std::vector<Tensor>& expected) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(difference(got[i].tensor(), expected[i]), "") << what << ", output " << i;
}

/// R and T.
Value rate(double value) {
  return make<double>({}, {value});
}
Value count(std::int64_t value) {
  return Tensor::scalar(value);
}

TEST(Optimizer, Adagrad) {
  const Attributes attributes = {attr("norm_coefficient", 0.5f), attr("decay_factor", 0.25f),
                                 attr("epsilon", 1.0f)};
  // X 2, G 3, H 9: gradient 4, H' 25, rate 0.6 / (1 + 2 * 0.25) = 0.4, X' 2 - 0.4 * 4 / 6.
  const std::vector<Value> inputs = {rate(0.6), count(2), make<double>({1}, {2}), make<double>({1}, {3}),
                                     make<double>({1}, {9})};
  expect_outputs("values", step("Adagrad", inputs, attributes, 2),
                 {make<double>({1}, {2 - 1.6 / 6}), make<double>({1}, {25})});
  expect_outputs(
      "defaults",
      step("Adagrad", {rate(0.5), count(9), vec<float>({1}), vec<float>({2}), vec<float>({0})}, {}, 2),
      {vec<float>({1 - 0.5 * 2 / (2 + 1e-6)}), vec<float>({4})});
}

TEST(Optimizer, Adam) {
  const Attributes attributes = {attr("norm_coefficient", 0.5f), attr("norm_coefficient_post", 0.25f),
                                 attr("alpha", 0.5f), attr("beta", 0.75f), attr("epsilon", 1.0f)};
  // X 2, G 3: gradient 4. V 2: V' 3. H 16: H' 16. T 2: rate R sqrt(1 - 0.5625) / (1 - 0.25).
  const std::vector<Value> state = {make<double>({1}, {2}), make<double>({1}, {3}), make<double>({1}, {2}),
                                    make<double>({1}, {16})};
  const auto at = [&](std::int64_t T) {
    std::vector<Value> inputs = {rate(0.1), count(T)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    return step("Adam", inputs, attributes, 3);
  };
  const auto expected = [](double r) {
    return std::vector<Tensor>{make<double>({1}, {0.75 * (2 - r * 3 / 5)}), make<double>({1}, {3}),
                               make<double>({1}, {16})};
  };
  expect_outputs("T = 2", at(2), expected(0.1 * std::sqrt(0.4375) / 0.75));
  expect_outputs("T = 0", at(0), expected(0.1));
  const float alpha = 0.9f, beta = 0.999f;
  expect_outputs(
      "defaults",
      step("Adam", {rate(1), count(0), vec<float>({1}), vec<float>({2}), vec<float>({0}), vec<float>({0})},
           {}, 3),
      {vec<float>({1 - 2 * (1 - alpha) / (std::sqrt(4 * (1 - static_cast<double>(beta))) + 1e-6)}),
       vec<float>({2 * (1 - static_cast<double>(alpha))}),
       vec<float>({4 * (1 - static_cast<double>(beta))})});
}

TEST(Optimizer, Momentum) {
  const auto at = [](const char* mode, std::int64_t T) {
    return step(
        "Momentum",
        {rate(0.1), count(T), make<double>({1}, {2}), make<double>({1}, {3}), make<double>({1}, {8})},
        {attr("mode", mode), attr("norm_coefficient", 0.5f), attr("alpha", 0.75f), attr("beta", 0.25f)}, 2);
  };
  // Gradient 4; V' 6 + 0.25 * 4 = 7, at first 6 + 4.
  expect_outputs("standard", at("standard", 1), {make<double>({1}, {2 - 0.7}), make<double>({1}, {7})});
  expect_outputs("first", at("standard", 0), {make<double>({1}, {2 - 1}), make<double>({1}, {10})});
  expect_outputs("nesterov", at("nesterov", 1),
                 {make<double>({1}, {2 - 0.1 * (4 + 5.25)}), make<double>({1}, {7})});
}

TEST(Optimizer, TensorsOfSeveralShapesAndTypes) {
  // Each tensor's step is that of the tensor alone.
  const Attributes attributes = {attr("mode", "nesterov"), attr("norm_coefficient", 0.1f),
                                 attr("alpha", 0.9f), attr("beta", 0.5f)};
  const Value R = Tensor::scalar(0.5f), T = count(3);
  const std::vector<Value> one = {vec<float>({1, 2}), vec<float>({3, 4}), vec<float>({5, 6})};
  const std::vector<Value> two = {make<double>({1, 1}, {7}), make<double>({1, 1}, {8}),
                                  make<double>({1, 1}, {9})};
  const auto both = step("Momentum", {R, T, one[0], two[0], one[1], two[1], one[2], two[2]}, attributes, 4);
  const auto first = step("Momentum", {R, T, one[0], one[1], one[2]}, attributes, 2);
  const auto second = step("Momentum", {R, T, two[0], two[1], two[2]}, attributes, 2);
  expect_outputs("both", both,
                 {first[0].tensor(), second[0].tensor(), first[1].tensor(), second[1].tensor()});
}

TEST(Optimizer, Refused) {
  const auto refused = [](const std::string& op, std::vector<Value> inputs, Attributes attributes,
                          std::size_t outputs, const std::string& text) {
    const auto [kind, message] =
        error_of([&] { step(op, std::move(inputs), std::move(attributes), outputs); });
    EXPECT_EQ(kind, ErrorKind::invalid_model) << message;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  const Value x = vec<float>({1, 2}), R = rate(1), T = count(1);
  refused("Adam", {R, T, x, x, x}, {}, 1, "5 inputs: behind R and T, 4 of them belong to each tensor");
  refused("Adagrad", {R, T, x, x}, {}, 1, "4 inputs: behind R and T, 3 of them belong to each tensor");
  refused("Adagrad", {R, T, x, x, x}, {}, 3, "3 outputs, but each of the 1 tensors that are optimized has 2");
  refused("Adagrad", {R, T, x, vec<float>({1}), x}, {}, 2, "input 3");
  refused("Adagrad", {R, T, x, x, vec<double>({1, 2})}, {}, 2, "input 4");
  refused("Adagrad", {x, T, x, x, x}, {}, 2, "input R is [2]; Adagrad-1 takes a scalar");
  refused("Adagrad", {R, vec<std::int64_t>({1, 2}), x, x, x}, {}, 2,
          "input T is [2]; Adagrad-1 takes a scalar");
  const Attributes needed = {attr("norm_coefficient", 0.0f), attr("alpha", 0.9f), attr("beta", 0.5f)};
  refused("Momentum", {R, T, x, x, x}, needed, 2, "mode");
  Attributes wrong = needed;
  wrong.push_back(attr("mode", "other"));
  refused("Momentum", {R, T, x, x, x}, wrong, 2, "'other'");
}

}  // namespace
}  // namespace grurun::engine::testing
