// Gradients against differences of the function itself, in double.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/ops/cast.h"
#include "tests/engine/graph/model_building.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

constexpr const char* domain = "ai.onnx.preview.training";

using Nodes = std::vector<onnx_io::Node>;
using Ints = std::vector<std::int64_t>;

onnx_io::Node gradient(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                       const std::vector<std::string>& xs, const std::string& y,
                       const std::vector<std::string>& zs = {}) {
  Attributes attributes = {attr("xs", xs), attr("y", y.c_str())};
  if (!zs.empty()) attributes.push_back(attr("zs", zs));
  return node("Gradient", inputs, outputs, attributes, domain);
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

std::string x(std::size_t i) {
  return "x" + std::to_string(i);
}

/// f, y = f^2 + f (so that not all elements weigh the same), the gradients g0, g1, ... of y, z = sum of the
/// squares of g0, and the gradients h0, h1, ... of z.
onnx_io::Model whole_model(const Function& function, bool twice) {
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
  made.opset_imports[domain] = 1;
  made.graph.initializers = function.constants;
  return made;
}

double sum(const Value& value) {
  double total = 0;
  for (const double element : value.tensor().span<double>()) total += element;
  return total;
}

/// Compares outputs first, first + 1, ... with differences of the sum of output `of`.
void compare(const std::string& name, const Plan& plan, const std::vector<Tensor>& inputs, std::size_t of,
             std::size_t first) {
  const auto evaluate = [&](const std::vector<Tensor>& at) {
    return run_plan(plan, std::vector<Value>(at.begin(), at.end()));
  };
  const std::vector<Value> outputs = evaluate(inputs);
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& got = outputs[first + i].tensor();
    ASSERT_EQ(got.shape(), inputs[i].shape()) << name;
    ASSERT_EQ(got.dtype(), inputs[i].dtype()) << name;
    for (std::int64_t e = 0; e < inputs[i].size(); ++e) {
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

void check(const std::vector<Function>& functions) {
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
Tensor mixed(const Shape& shape, double phase = 0) {
  Tensor out(DType::float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const double wave = std::sin(1.7 * static_cast<double>(i) + phase + 0.4);
    out.mutable_data<double>()[i] = wave + (wave < 0 ? -0.3 : 0.3);
  }
  return out;
}

/// Distinct values in (low, high).
Tensor between(double low, double high, const Shape& shape) {
  Tensor out(DType::float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data<double>()[i] =
        low + (high - low) * (0.5 + 0.45 * std::sin(2.3 * static_cast<double>(i) + 1));
  return out;
}

onnx_io::Initializer ints(const std::string& name, const Ints& values) {
  return {name, Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values)};
}

Nodes only(const std::string& op, const std::vector<std::string>& inputs = {"x0"},
           Attributes attributes = {}) {
  return {node(op, inputs, {"f"}, std::move(attributes))};
}

TEST(Gradient, FunctionsOfOneElement) {
  const Shape shape{2, 3};
  std::vector<Function> functions;
  for (const char* op : {"Identity",  "Neg",  "Abs",  "Exp",   "Erf",        "Sin",       "Cos",      "Atan",
                         "Sinh",      "Cosh", "Tanh", "Asinh", "Reciprocal", "Sigmoid",   "Softplus", "Relu",
                         "LeakyRelu", "Elu",  "Selu", "Gelu",  "Mish",       "HardSwish", "Tan"})
    functions.push_back({op, only(op), {mixed(shape)}, {}, 22});
  functions.push_back({"Softsign", only("Softsign"), {mixed(shape)}, {}, 21, false});
  for (const char* op : {"Log", "Sqrt"}) functions.push_back({op, only(op), {between(0.2, 3, shape)}});
  for (const char* op : {"Asin", "Acos", "Atanh"})
    functions.push_back({op, only(op), {between(-0.8, 0.8, shape)}});
  functions.push_back({"Acosh", only("Acosh"), {between(1.2, 3, shape)}});
  functions.push_back({"HardSigmoid", only("HardSigmoid", {"x0"}, {attr("alpha", 0.5f)}), {mixed(shape)}});
  functions.push_back(
      {"ThresholdedRelu", only("ThresholdedRelu", {"x0"}, {attr("alpha", 0.5f)}), {mixed(shape)}});
  functions.push_back({"Gelu tanh", only("Gelu", {"x0"}, {attr("approximate", "tanh")}), {mixed(shape)}});
  functions.push_back({"Dropout", only("Dropout"), {mixed(shape)}});
  functions.push_back({"Clip",
                       only("Clip", {"x0", "low", "high"}),
                       {mixed(shape)},
                       {{"low", Tensor::scalar(-0.8)}, {"high", Tensor::scalar(1.0)}}});
  functions.push_back({"Clip-6", only("Clip", {"x0"}, {attr("max", 0.9f)}), {mixed(shape)}, {}, 10, false});
  functions.push_back({"Clip without bounds", only("Clip"), {mixed(shape)}});
  check(functions);
}

TEST(Gradient, OperandsAreBroadcast) {
  const Tensor a = mixed({2, 3}), row = mixed({3}, 1), column = mixed({2, 1}, 2), one = mixed({}, 3),
               wide = mixed({2, 1, 3}, 4);
  std::vector<Function> functions;
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    functions.push_back({std::string(op) + " row", only(op, {"x0", "x1"}), {a, row}});
    functions.push_back({std::string(op) + " column first", only(op, {"x0", "x1"}), {column, a}});
    functions.push_back({std::string(op) + " scalar", only(op, {"x0", "x1"}), {a, one}});
    functions.push_back({std::string(op) + " with itself", only(op, {"x0", "x0"}), {a}});
  }
  for (const char* op : {"Max", "Min", "Sum", "Mean"})
    functions.push_back({op, only(op, {"x0", "x1", "x2"}), {a, row, wide}});
  functions.push_back({"Pow", only("Pow", {"x0", "x1"}), {between(0.5, 2, {2, 3}), row}});
  functions.push_back(
      {"Pow of negative numbers", only("Pow", {"x0", "e"}), {a}, {{"e", Tensor::scalar<std::int64_t>(3)}}});
  functions.push_back({"Pow 0",
                       only("Pow", {"x0", "e"}),
                       {Tensor::zeros(DType::float64, {2})},
                       {{"e", Tensor::scalar(0.0)}}});
  functions.push_back({"PRelu", only("PRelu", {"x0", "x1"}), {a, row}});
  functions.push_back(
      {"Where", {node("Less", {"x0", "x1"}, {"c"}), node("Where", {"c", "x0", "x1"}, {"f"})}, {a, wide}});
  check(functions);
}

TEST(Gradient, MatrixProducts) {
  std::vector<Function> functions;
  const auto product = [&](const Shape& a, const Shape& b) {
    functions.push_back(
        {"MatMul " + a.to_string() + b.to_string(), only("MatMul", {"x0", "x1"}), {mixed(a), mixed(b, 1)}});
  };
  product({2, 3}, {3, 4});
  product({3}, {3, 2});
  product({2, 3}, {3});
  product({3}, {3});
  product({2, 2, 3}, {3, 2});
  product({2, 3}, {4, 3, 1});
  product({2, 1, 2, 3}, {4, 3, 2});
  product({3}, {2, 3, 2});
  product({2, 1, 3}, {3});
  for (const int a : {0, 1}) {
    for (const int b : {0, 1}) {
      functions.push_back(
          {"Gemm",
           only("Gemm", {"x0", "x1", "x2"},
                {attr("transA", a), attr("transB", b), attr("alpha", 0.5f), attr("beta", 2.0f)}),
           {mixed(a ? Shape{3, 2} : Shape{2, 3}), mixed(b ? Shape{4, 3} : Shape{3, 4}, 1), mixed({4}, 2)}});
    }
  }
  functions.push_back({"Gemm without C", only("Gemm", {"x0", "x1"}), {mixed({2, 3}), mixed({3, 1}, 1)}});
  check(functions);
}

TEST(Gradient, ReductionsAndSoftmax) {
  const Tensor a = mixed({2, 3, 2});
  std::vector<Function> functions;
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL1", "ReduceL2",
                         "ReduceLogSumExp", "ReduceMax", "ReduceMin"}) {
    functions.push_back({std::string(op) + " all", only(op), {a}});
    functions.push_back({std::string(op) + " axes",
                         only(op, {"x0", "axes"}, {attr("keepdims", 0)}),
                         {a},
                         {ints("axes", {-1, 0})}});
    functions.push_back({std::string(op) + " attribute",
                         only(op, {"x0"}, {attr("axes", Ints{1}), attr("keepdims", 0)}),
                         {a},
                         {},
                         12,
                         false});
  }
  functions.push_back(
      {"ReduceLogSum", only("ReduceLogSum", {"x0", "axes"}), {between(0.5, 2, {2, 3})}, {ints("axes", {1})}});
  functions.push_back({"noop", only("ReduceSumSquare", {"x0"}, {attr("noop_with_empty_axes", 1)}), {a}});
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    functions.push_back({op, only(op, {"x0"}, {attr("axis", 1)}), {a}});
    functions.push_back({std::string(op) + "-11", only(op, {"x0"}, {attr("axis", 1)}), {a}, {}, 12, false});
  }
  check(functions);
}

TEST(Gradient, Movements) {
  const Tensor a = mixed({2, 3, 4});
  const onnx_io::Initializer picked{"i", Tensor::from<std::int64_t>(Shape{2, 2}, Ints{2, 0, -1, 2})};
  check({
      {"Reshape", only("Reshape", {"x0", "s"}), {a}, {ints("s", {4, -1})}},
      {"Flatten", only("Flatten"), {a}},
      {"Squeeze", only("Squeeze", {"x0", "s"}), {mixed({2, 1})}, {ints("s", {1})}},
      {"Unsqueeze", only("Unsqueeze", {"x0", "s"}), {a}, {ints("s", {0, -1})}},
      {"Transpose", only("Transpose", {"x0"}, {attr("perm", Ints{1, 2, 0})}), {a}},
      {"Transpose, all", only("Transpose"), {a}},
      {"Concat", only("Concat", {"x0", "x1", "x0"}, {attr("axis", -2)}), {a, mixed({2, 1, 4}, 1)}},
      {"Split",
       {node("Split", {"x0"}, {"p", "", "r"}, {attr("axis", 2), attr("num_outputs", 3)}),
        node("Mul", {"p", "p"}, {"q"}), node("Concat", {"q", "r"}, {"f"}, {attr("axis", 2)})},
       {a}},
      {"Slice",
       only("Slice", {"x0", "b", "e", "ax", "st"}),
       {a},
       {ints("b", {-1, 1}), ints("e", {-9, 3}), ints("ax", {2, 1}), ints("st", {-2, 1})}},
      {"Slice-1",
       only("Slice", {"x0"}, {attr("starts", Ints{1}), attr("ends", Ints{3}), attr("axes", Ints{2})}),
       {a},
       {},
       9,
       false},
      {"Gather", only("Gather", {"x0", "i"}, {attr("axis", 1)}), {a}, {picked}},
      {"GatherElements", only("GatherElements", {"x0", "i"}, {attr("axis", 1)}), {mixed({2, 3})}, {picked}},
      {"GatherND",
       only("GatherND", {"x0", "j"}),
       {a},
       {{"j", Tensor::from<std::int64_t>(Shape{2, 2}, Ints{1, 2, 1, 2})}}},
      {"Tile", only("Tile", {"x0", "r"}), {a}, {ints("r", {1, 2, 2})}},
      {"Expand", only("Expand", {"x0", "s"}), {mixed({3, 1})}, {ints("s", {2, 1, 2})}},
      {"DepthToSpace", only("DepthToSpace", {"x0"}, {attr("blocksize", 2)}), {mixed({1, 4, 1, 2})}},
      {"SpaceToDepth", only("SpaceToDepth", {"x0"}, {attr("blocksize", 2)}), {mixed({1, 1, 2, 4})}},
      {"Pad",
       only("Pad", {"x0", "p", "v"}),
       {mixed({2, 3})},
       {ints("p", {1, 0, 0, 2}), {"v", Tensor::scalar(5.0)}}},
      {"Pad, cropping and reflecting",
       only("Pad", {"x0", "p"}, {attr("mode", "reflect")}),
       {mixed({2, 4})},
       {ints("p", {0, 2, 0, -1})}},
      {"Pad-2", only("Pad", {"x0"}, {attr("pads", Ints{1, 0, 0, 1})}), {mixed({2, 2})}, {}, 10, false},
      {"Trilu", only("Trilu", {"x0"}, {attr("upper", 0)}), {mixed({3, 3})}},
      {"CumSum",
       only("CumSum", {"x0", "ax"}, {attr("exclusive", 1)}),
       {a},
       {{"ax", Tensor::scalar<std::int64_t>(1)}}},
      {"ScatterElements",
       only("ScatterElements", {"x0", "k", "x1"}, {attr("axis", 1)}),
       {mixed({2, 3}), mixed({2, 1}, 1)},
       {{"k", Tensor::from<std::int64_t>(Shape{2, 1}, Ints{2, 0})}}},
      {"ScatterElements, added",
       only("ScatterElements", {"x0", "i", "x1"}, {attr("axis", 1), attr("reduction", "add")}),
       {mixed({2, 3}), mixed({2, 2}, 1)},
       {picked}},
      {"ScatterND",
       only("ScatterND", {"x0", "j", "x1"}),
       {mixed({3, 2}), mixed({1, 2}, 1)},
       {{"j", Tensor::from<std::int64_t>(Shape{1, 1}, Ints{1})}}},
      {"TopK", {node("TopK", {"x0", "k"}, {"f", "i"}, {attr("axis", 1)})}, {mixed({2, 4})}, {ints("k", {2})}},
      {"MaxPool",
       only("MaxPool", {"x0"}, {attr("kernel_shape", Ints{2}), attr("pads", Ints{1, 0})}),
       {mixed({1, 2, 5})}},
  });
}

TEST(Gradient, Convolutions) {
  std::vector<Function> functions;
  const auto conv = [&](const Shape& X, const Shape& W, Attributes attributes) {
    functions.push_back({"Conv " + X.to_string() + W.to_string(),
                         only("Conv", {"x0", "x1", "x2"}, std::move(attributes)),
                         {mixed(X), mixed(W, 1), mixed({W[0]}, 2)},
                         {},
                         21,
                         false});
  };
  conv({2, 2, 5}, {3, 2, 2}, {});
  conv({1, 1, 7}, {1, 1, 3}, {attr("strides", Ints{3}), attr("pads", Ints{1, 2})});
  conv({1, 2, 6, 5}, {2, 2, 2, 3},
       {attr("strides", Ints{2, 1}), attr("dilations", Ints{1, 2}), attr("pads", Ints{1, 0, 0, 1})});
  conv({2, 4, 4}, {6, 2, 2}, {attr("group", 2)});
  conv({1, 2, 5}, {2, 1, 3}, {attr("group", 2), attr("strides", Ints{2}), attr("auto_pad", "SAME_UPPER")});
  conv({1, 1, 6}, {1, 1, 4}, {attr("strides", Ints{2}), attr("auto_pad", "SAME_LOWER")});
  functions.push_back({"GlobalAveragePool", only("GlobalAveragePool"), {mixed({1, 2, 3, 2})}});
  check(functions);
}

TEST(Gradient, ThroughFunctionBodiesOfTheStandard) {
  check({
      {"SoftmaxCrossEntropyLoss",
       only("SoftmaxCrossEntropyLoss", {"x0", "labels"}),
       {mixed({3, 4})},
       {ints("labels", {2, 0, 3})},
       21,
       false},
  });
}

onnx_io::Model with_gradient(onnx_io::Graph main, std::int64_t opset = 21) {
  onnx_io::Model made = model(std::move(main), opset);
  made.opset_imports[domain] = 1;
  return made;
}

TEST(Gradient, ThroughModelLocalFunctions) {
  onnx_io::Model made =
      with_gradient(graph({"x", "w"},
                          {node("Twice", {"x", "w"}, {"", "y"}, {attr("power", 3.0f)}, "local"),
                           gradient({"x", "w"}, {"gx", "gw"}, {"x", "w"}, "y")},
                          {"gx", "gw"}));
  made.opset_imports["local"] = 1;
  onnx_io::Attribute reference = attribute("value_float", onnx_io::AttributeType::float_);
  reference.ref_attr_name = "power";
  onnx_io::Function inner;
  inner.domain = "local";
  inner.name = "Power";
  inner.inputs = {"a"};
  inner.outputs = {"b", "a"};  // an input handed on
  inner.attributes = {"power"};
  inner.opset_imports[""] = 13;
  inner.nodes = {node("Constant", {}, {"y"}, {reference}), node("Pow", {"a", "y"}, {"b"})};
  onnx_io::Attribute passed = attribute("power", onnx_io::AttributeType::float_);
  passed.ref_attr_name = "power";
  onnx_io::Function outer = inner;
  outer.name = "Twice";
  outer.inputs = {"x", "w"};
  outer.outputs = {"unused", "y"};
  outer.opset_imports["local"] = 1;
  outer.nodes = {node("Power", {"x"}, {"p", "same"}, {passed}, "local"), node("Mul", {"p", "w"}, {"q"}),
                 node("Add", {"q", "same"}, {"y"}), node("Neg", {"x"}, {"unused"})};
  made.functions = {inner, outer};
  // y = x^3 w + x
  const auto outputs = run(made, {floats({2, 3}), floats({5, 7})});
  EXPECT_EQ(as_floats(outputs[0]), (std::vector<float>{3 * 4 * 5 + 1, 3 * 9 * 7 + 1}));
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{8, 27}));
}

TEST(Gradient, AtOtherValuesThanThoseOfTheGraph) {
  // y = h^2 z, h = x + 1; at h = 5, z = 3 whatever x is. The graph's w is a constant.
  const auto made = with_gradient(
      graph({"x", "z", "w", "h1", "z1"},
            {node("Add", {"x", "w"}, {"h"}), node("Mul", {"h", "h"}, {"h2"}), node("Mul", {"h2", "z"}, {"s"}),
             node("Mul", {"s", "w"}, {"y"}), gradient({"h1", "z1"}, {"gh"}, {"h"}, "y", {"z"})},
            {"gh"}));
  EXPECT_EQ(as_floats(run(made, {floats({100}), floats({100}), floats({2}), floats({5}), floats({3})})[0]),
            (std::vector<float>{2 * 5 * 3 * 2}));
}

TEST(Gradient, OptionalOutputsAndNoInfluence) {
  const auto made = with_gradient(graph(
      {"a", "b", "c"},
      {node("Mul", {"a", "b"}, {"y"}), gradient({"a", "b", "c"}, {"", "gb", "gc"}, {"a", "b", "c"}, "y"),
       gradient({"a"}, {"ga"}, {"a"}, "a")},
      {"gb", "gc", "ga"}));
  const auto outputs = run(made, {floats({2, 3}), floats({5, 7}), floats({1})});
  EXPECT_EQ(as_floats(outputs[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{0}));
  EXPECT_EQ(as_floats(outputs[2]), (std::vector<float>{1, 1}));
}

TEST(Gradient, WhatHasNoDerivativeCountsAsConstant) {
  // y = x * (size of x) + floor(x) + (x as integer)
  const auto made = with_gradient(
      graph({"x"},
            {node("Size", {"x"}, {"n"}), node("CastLike", {"n", "x"}, {"m"}), node("Mul", {"x", "m"}, {"p"}),
             node("Floor", {"x"}, {"l"}), node("Cast", {"x"}, {"i"}, {attr("to", 7)}),
             node("Cast", {"i"}, {"j"}, {attr("to", 1)}), node("Sum", {"p", "l", "j"}, {"y"}),
             gradient({"x"}, {"g"}, {"x"}, "y")},
            {"g"}));
  EXPECT_EQ(as_floats(run(made, {floats({0.5f, 1.5f, 2.5f})})[0]), (std::vector<float>{3, 3, 3}));
}

TEST(Gradient, TypesFollowXs) {
  // y is double, x what it is.
  const auto made = with_gradient(graph({"x"},
                                        {node("Cast", {"x"}, {"d"}, {attr("to", 11)}),
                                         node("Mul", {"d", "d"}, {"y"}), gradient({"x"}, {"g"}, {"x"}, "y")},
                                        {"g"}));
  for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
    const Tensor g = run(made, {cast_tensor(vec<double>({1.5, -2}), dtype)})[0].tensor();
    EXPECT_EQ(difference(g, cast_tensor(vec<double>({3, -4}), dtype)), "") << dtype_name(dtype);
  }
}

TEST(Gradient, TiesShareTheGradient) {
  const auto made = with_gradient(
      graph({"a", "b"}, {node("Max", {"a", "b"}, {"y"}), gradient({"a", "b"}, {"ga", "gb"}, {"a", "b"}, "y")},
            {"ga", "gb"}));
  const auto outputs = run(made, {floats({1, 2}), floats({1, 3})});
  EXPECT_EQ(as_floats(outputs[0]), (std::vector<float>{0.5, 0}));
  EXPECT_EQ(as_floats(outputs[1]), (std::vector<float>{0.5, 1}));
}

TEST(Gradient, InABodyGraph) {
  const auto branch = graph({}, {node("Mul", {"x", "w"}, {"y"}), gradient({"x"}, {"g"}, {"x"}, "y")}, {"g"});
  const auto made = with_gradient(graph(
      {"c", "x", "w"},
      {node("If", {"c"}, {"out"}, {attr("then_branch", branch), attr("else_branch", branch)})}, {"out"}));
  EXPECT_EQ(as_floats(run(made, {Tensor::scalar(true), floats({2}), floats({5})})[0]),
            (std::vector<float>{5}));
}

TEST(Gradient, HighOrders) {
  // x^4: 4 x^3, 12 x^2, 24 x, 24, 0.
  Nodes nodes = {node("Mul", {"x", "x"}, {"x2"}), node("Mul", {"x2", "x2"}, {"d0"})};
  for (int order = 1; order <= 5; ++order) {
    nodes.push_back(gradient({"x"}, {"d" + std::to_string(order)}, {"x"}, "d" + std::to_string(order - 1)));
  }
  const auto outputs =
      run(with_gradient(graph({"x"}, nodes, {"d1", "d2", "d3", "d4", "d5"})), {floats({2, -1})});
  const std::vector<std::vector<float>> expected = {{32, -4}, {48, 12}, {48, -24}, {24, 24}, {0, 0}};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(as_floats(outputs[i]), expected[i]) << i;

  for (int order = 6; order <= 20; ++order) {
    nodes.push_back(gradient({"x"}, {"d" + std::to_string(order)}, {"x"}, "d" + std::to_string(order - 1)));
  }
  const auto [kind, message] = error_of([&] { make_plan(with_gradient(graph({"x"}, nodes, {"d20"}))); });
  EXPECT_EQ(kind, ErrorKind::limit) << message;
}

TEST(Gradient, Refused) {
  const auto refused = [](const Nodes& nodes, ErrorKind kind, const std::string& text,
                          std::int64_t opset = 21) {
    const auto made = with_gradient(graph({"x", "w"}, nodes, {nodes.back().outputs.back()}), opset);
    SCOPED_TRACE(text);
    const auto [got, message] = error_of([&] { run(made, {floats({1, 2}), floats({3, 4})}); });
    EXPECT_EQ(got, kind) << message;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  const auto invalid = ErrorKind::invalid_model, unsupported = ErrorKind::unsupported;
  const auto square = node("Mul", {"x", "x"}, {"y"});
  refused({square, gradient({"x"}, {"g"}, {"q"}, "y")}, invalid, "xs names 'q'");
  refused({square, gradient({"x", "w"}, {"g"}, {"x"}, "y", {"q"})}, invalid, "zs names 'q'");
  refused({square, gradient({"x"}, {"g"}, {"x"}, "q")}, invalid, "y names 'q'");
  refused({square, gradient({"x"}, {"g"}, {"x"}, "y", {"w"})}, invalid, "2 tensors, but the node has 1");
  refused({square, gradient({"x"}, {"g", "h"}, {"x"}, "y")}, invalid, "2 outputs");
  refused({square, gradient({"x", "x"}, {"g"}, {"x", "x"}, "y")}, invalid, "once");
  refused({square, node("Neg", {"y"}, {"z"}), gradient({"x", "y"}, {"g"}, {"x", "y"}, "z")}, invalid,
          "independent");
  refused({node("Cast", {"x"}, {"i"}, {attr("to", 7)}), gradient({"i"}, {"g"}, {"i"}, "i")}, invalid,
          "'i' of xs is int64");
  refused(
      {node("Unsqueeze", {"x", "ax"}, {"u"}), node("Det", {"u"}, {"y"}), gradient({"x"}, {"g"}, {"x"}, "y")},
      invalid, "'ax'");
  refused({node("MatMul", {"x", "w"}, {"s"}), node("ReduceProd", {"x"}, {"y"}),
           gradient({"x"}, {"g"}, {"x"}, "y")},
          unsupported, "Gradient through ReduceProd-18");
  refused({node("RandomNormalLike", {"x"}, {"r"}), node("Mul", {"r", "x"}, {"y"}),
           gradient({"x"}, {"g"}, {"x"}, "y")},
          unsupported, "drawn again");
  refused({node("Add", {"x", "w"}, {"y"}, {attr("broadcast", 1)}), gradient({"x"}, {"g"}, {"x"}, "y")},
          unsupported, "Gradient through Add-6", 6);
  const auto body = graph({}, {node("Neg", {"x"}, {"n"})}, {"n"});
  refused({node("Less", {"x", "w"}, {"l"}), node("ReduceMax", {"l"}, {"c"}, {attr("keepdims", 0)}),
           node("If", {"c"}, {"y"}, {attr("then_branch", body), attr("else_branch", body)}),
           gradient({"x"}, {"g"}, {"x"}, "y")},
          unsupported, "If, which has body graphs");
  // The body of the schema adds a float to a double.
  refused({node("Cast", {"x"}, {"d"}, {attr("to", 11)}),
           node("MeanVarianceNormalization", {"d"}, {"y"}, {attr("axes", Ints{0})}),
           gradient({"d"}, {"g"}, {"d"}, "y")},
          unsupported, "Gradient through MeanVarianceNormalization");
  // The path begins outside the branch that the Gradient stands in.
  const auto branch = graph({}, {node("Mul", {"h", "h"}, {"y"}), gradient({"x"}, {"g"}, {"x"}, "y")}, {"g"});
  refused({node("Neg", {"x"}, {"h"}), node("Less", {"w", "w"}, {"l"}),
           node("ReduceMax", {"l"}, {"c"}, {attr("keepdims", 0)}),
           node("If", {"c"}, {"out"}, {attr("then_branch", branch), attr("else_branch", branch)})},
          unsupported, "'h', which is computed in an enclosing graph");
}

}  // namespace
}  // namespace grurun::engine::testing
