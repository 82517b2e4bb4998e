// Gradients of operators against differences of the function itself, in double.
#include "tests/engine/ops/training/gradient_case.h"

namespace grurun::engine::testing {
namespace {

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

TEST(Gradient, AQueryWithoutKeysHasNoPart) {
  using Bools = std::vector<bool>;
  const onnx_io::Initializer mask{"m",
                                  Tensor::from(Shape{2, 3}, Bools{true, true, false, false, false, false})};
  std::vector<Function> functions;
  for (const std::int64_t opset : {23, 24}) {
    functions.push_back({"Attention-" + std::to_string(opset),
                         only("Attention", {"x0", "x1", "x2", "m"}),
                         {mixed({1, 1, 2, 2}), mixed({1, 1, 3, 2}, 1), mixed({1, 1, 3, 2}, 2)},
                         {mask},
                         opset});
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

}  // namespace
}  // namespace grurun::engine::testing
