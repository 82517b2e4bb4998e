// What a Gradient node may stand for in a graph: functions, bodies, gradients of gradients, other values.
#include "engine/ops/shared/cast.h"
#include "tests/engine/ops/training/gradient_case.h"

namespace grurun::engine::testing {
namespace {

onnx_io::Model with_gradient(onnx_io::Graph main, std::int64_t opset = 21) {
  onnx_io::Model made = model(std::move(main), opset);
  made.opset_imports[training_domain] = 1;
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
