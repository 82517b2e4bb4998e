// Gradients of functions, and differences of the functions themselves, in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/engine/graph/model_building.h"
#include "tests/engine/ops/math/op_table.h"
#include "tests/sample.h"

namespace grurun::engine::testing {

inline constexpr const char* training_domain = "ai.onnx.preview.training";

using Nodes = std::vector<onnx_io::Node>;
using Ints = std::vector<std::int64_t>;

inline onnx_io::Node gradient(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                              const std::vector<std::string>& xs, const std::string& y,
                              const std::vector<std::string>& zs = {}) {
  Attributes attributes = {attr("xs", xs), attr("y", y.c_str())};
  if (!zs.empty()) attributes.push_back(attr("zs", zs));
  return node("Gradient", inputs, outputs, attributes, training_domain);
}

/// y computed from the inputs x0, x1, ... (double) and constants.
struct Function {
  std::string name;
  Nodes nodes;  // the last makes "f"
  std::vector<Tensor> inputs;
  std::vector<onnx_io::Initializer> constants = {};
  std::int64_t opset = 21;
  bool twice = true;  // has second derivatives that are to be checked
};

inline std::string x(std::size_t i) {
  return "x" + std::to_string(i);
}

/// f, y = f^2 + f (so that not all elements weigh the same), the gradients g0, g1, ... of y, z = sum of the
/// squares of g0, and the gradients h0, h1, ... of z.
inline onnx_io::Model whole_model(const Function& function, bool twice) {
  std::vector<std::string> xs, gs, hs;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    xs.push_back(x(i));
    gs.push_back("g" + std::to_string(i));
    hs.push_back("h" + std::to_string(i));
  }
  Nodes nodes = function.nodes;
  nodes.push_back(node("Mul", {"f", "f"}, {"f2"}));
  nodes.push_back(node("Add", {"f2", "f"}, {"y"}));
  nodes.push_back(gradient(xs, gs, xs, "y"));
  nodes.push_back(node("Mul", {"g0", "g0"}, {"z"}));
  std::vector<std::string> outputs = {"y", "z"};
  outputs.insert(outputs.end(), gs.begin(), gs.end());
  if (twice) {
    nodes.push_back(gradient(xs, hs, xs, "z"));
    outputs.insert(outputs.end(), hs.begin(), hs.end());
  }
  onnx_io::Model made = model(graph(xs, nodes, outputs), function.opset);
  made.opset_imports[training_domain] = 1;
  made.graph.initializers = function.constants;
  return made;
}

inline double sum(const Value& value) {
  double total = 0;
  for (const double element : value.tensor().span<double>()) total += element;
  return total;
}

/// Compares outputs first, first + 1, ... with differences of the sum of output `of`.
inline void compare(const std::string& name, const Plan& plan, const std::vector<Tensor>& inputs,
                    std::size_t of, std::size_t first) {
  const auto evaluate = [&](const std::vector<Tensor>& at) {
    return run_plan(plan, std::vector<Value>(at.begin(), at.end()));
  };
  const std::vector<Value> outputs = evaluate(inputs);
  constexpr double step = 1e-5;
  Sample sample(5);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& got = outputs[first + i].tensor();
    ASSERT_EQ(got.shape(), inputs[i].shape()) << name;
    ASSERT_EQ(got.dtype(), inputs[i].dtype()) << name;
    for (std::int64_t e = 0; e < inputs[i].size(); ++e) {
      if (!sample.takes_next()) continue;
      std::vector<Tensor> moved = inputs;
      double& element = moved[i].mutable_data<double>()[e];
      const double centre = element;
      element = centre + step;
      const double above = sum(evaluate(moved)[of]);
      moved[i].mutable_data<double>()[e] = centre - step;
      const double below = sum(evaluate(moved)[of]);
      const double expected = (above - below) / (2 * step);
      EXPECT_NEAR(got.data<double>()[e], expected, 2e-6 * (1 + std::abs(expected)))
          << name << ": input " << i << ", element " << e;
    }
  }
}

inline void check(const std::vector<Function>& functions) {
  for (const Function& function : functions) {
    SCOPED_TRACE(function.name);
    try {
      compare(function.name, *make_plan(whole_model(function, false)), function.inputs, 0, 2);
      if (function.twice) {
        compare(function.name + ", twice", *make_plan(whole_model(function, true)), function.inputs, 1,
                2 + function.inputs.size());
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

/// Distinct values of both signs, none near 0.
inline Tensor mixed(const Shape& shape, double phase = 0) {
  Tensor out(DType::float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const double wave = std::sin(1.7 * static_cast<double>(i) + phase + 0.4);
    out.mutable_data<double>()[i] = wave + (wave < 0 ? -0.3 : 0.3);
  }
  return out;
}

/// Distinct values in (low, high).
inline Tensor between(double low, double high, const Shape& shape) {
  Tensor out(DType::float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data<double>()[i] =
        low + (high - low) * (0.5 + 0.45 * std::sin(2.3 * static_cast<double>(i) + 1));
  return out;
}

inline onnx_io::Initializer ints(const std::string& name, const Ints& values) {
  return {name, Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values)};
}

inline Nodes only(const std::string& op, const std::vector<std::string>& inputs = {"x0"},
                  Attributes attributes = {}) {
  return {node(op, inputs, {"f"}, std::move(attributes))};
}

}  // namespace grurun::engine::testing
