#include "trial/precise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "opset/schema/registry.h"
#include "tensor/error.h"

namespace grurun::trial {
namespace {

Value floats(const std::vector<float>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

onnx_io::Model model_of(onnx_io::Node node, std::vector<onnx_io::Initializer> initializers = {}) {
  onnx_io::Model model;
  model.ir_version = 8;
  model.opset_imports[""] = 18;
  model.graph.inputs.push_back({"x", ValueType::tensor(DType::float32)});
  model.graph.outputs.push_back({"y", ValueType::tensor(DType::float32)});
  model.graph.initializers = std::move(initializers);
  node.outputs = {"y"};
  model.graph.nodes.push_back(std::move(node));
  return model;
}

TEST(Precise, InputsAndInitializersBecomeDouble) {
  onnx_io::Node node;
  node.op_type = "Add";
  node.inputs = {"x", "c"};
  const auto model = model_of(node, {{"c", Tensor::from(Shape{1}, std::vector<float>{1e-9f})}});
  const std::vector<Value> out = run_in_double(model, {floats({1})}, {});
  ASSERT_EQ(out[0].tensor().dtype(), DType::float64);
  EXPECT_EQ(out[0].tensor().data<double>()[0], 1 + static_cast<double>(1e-9f));
}

TEST(Precise, AttributesThatNameATypeFollow) {
  onnx_io::Node node;
  node.op_type = "Cast";
  node.inputs = {"x"};
  onnx_io::Attribute to;
  to.name = "to";
  to.type = onnx_io::AttributeType::int_;
  for (const DType narrow : {DType::float32, DType::float16, DType::bfloat16}) {
    to.i = static_cast<std::int64_t>(narrow);
    node.attributes = {to};
    EXPECT_EQ(run_in_double(model_of(node), {floats({1})}, {})[0].tensor().dtype(), DType::float64);
  }
  to.i = static_cast<std::int64_t>(DType::int32);
  node.attributes = {to};
  EXPECT_EQ(run_in_double(model_of(node), {floats({1})}, {})[0].tensor().dtype(), DType::int32);
}

TEST(Precise, AConstantOfAFloatBecomesOneOfDouble) {
  onnx_io::Node node;
  node.op_type = "Constant";
  onnx_io::Attribute value;
  value.name = "value_floats";
  value.type = onnx_io::AttributeType::floats;
  value.floats = {0.1f, 2};
  node.attributes = {value};
  const std::vector<Value> out = run_in_double(model_of(node), {floats({1})}, {});
  EXPECT_EQ(out[0].tensor().span<double>()[0], static_cast<double>(0.1f));
}

TEST(Precise, WhatMakesAFloatWithoutSayingSoMakesADouble) {
  onnx_io::Node like;
  like.inputs = {"n"};
  const std::vector<onnx_io::Initializer> initializers = {
      {"n", Tensor::from(Shape{1}, std::vector<std::int64_t>{3})}};
  like.op_type = "ConstantOfShape";
  EXPECT_EQ(run_in_double(model_of(like, initializers), {floats({1})}, {})[0].tensor().dtype(),
            DType::float64);
  onnx_io::Attribute shape;
  shape.name = "shape";
  shape.type = onnx_io::AttributeType::ints;
  shape.ints = {3};
  for (const char* random : {"RandomNormal", "RandomUniform"}) {
    onnx_io::Node node;
    node.op_type = random;
    node.attributes = {shape};
    EXPECT_EQ(run_in_double(model_of(node), {floats({1})}, {})[0].tensor().dtype(), DType::float64) << random;
  }
}

TEST(Precise, WhatComputesInAFloatUnlessToldComputesInDouble) {
  onnx_io::Node node;
  node.op_type = "LayerNormalization";
  node.inputs = {"x", "s"};
  const auto model = model_of(node, {{"s", Tensor::from(Shape{2}, std::vector<float>{1, 1})}});
  const std::vector<Value> out = run_in_double(model, {floats({1000, 1000.0625f})}, {});
  // Half of the difference, over its root mean square with epsilon, which float has not enough digits for.
  const double half = 0.03125, want = half / std::sqrt(half * half + static_cast<double>(1e-5f));
  EXPECT_NEAR(out[0].tensor().data<double>()[1], want, 1e-12);
}

// Whatever the standard adds: no float operator may go on in float where a default says so.
TEST(Precise, NoDefaultOfAnOperatorNamesANarrowType) {
  for (const opset::SchemaInfo* schema : opset::all_schemas()) {
    onnx_io::Node node;
    node.op_type = schema->name;
    node.domain = schema->domain;
    onnx_io::Model model;
    model.opset_imports[schema->domain] = schema->since_version;
    model.graph.nodes.push_back(node);
    const onnx_io::Node wide = widened(model).graph.nodes[0];
    for (const opset::AttributeInfo& info : schema->attributes) {
      const bool is_type = info.name.find("type") != std::string::npos && info.default_value &&
                           info.type == onnx_io::AttributeType::int_ && info.default_value->i == 1;
      if (!is_type) continue;
      const onnx_io::Attribute* stated = wide.find_attribute(info.name);
      ASSERT_NE(stated, nullptr) << schema->name << "-" << schema->since_version << ": " << info.name;
      EXPECT_EQ(stated->i, static_cast<std::int64_t>(DType::float64)) << schema->name;
    }
  }
}

TEST(Precise, WhatTakesNoDoubleComputesInFloatBetweenCasts) {
  onnx_io::Node node;
  node.op_type = "QuantizeLinear";
  node.inputs = {"x", "s", "z"};
  const std::vector<onnx_io::Initializer> initializers = {{"s", Tensor::scalar(0.5f)},
                                                          {"z", Tensor::scalar(std::uint8_t{3})}};
  onnx_io::Model model = model_of(node, initializers);
  EXPECT_EQ(run_in_double(model, {floats({1})}, {})[0].tensor().span<std::uint8_t>()[0], 5);
  model.graph.nodes[0].outputs = {"q"};
  node.op_type = "DequantizeLinear";
  node.inputs = {"q", "s", "z"};
  node.outputs = {"y"};
  for (const std::int64_t opset : {10, 13, 19, 21, 23}) {
    onnx_io::Model both = model;
    both.opset_imports[""] = opset;
    both.graph.nodes.push_back(node);
    const std::vector<Value> out = run_in_double(both, {floats({1.2f})}, {});
    ASSERT_EQ(out[0].tensor().dtype(), DType::float64) << opset;
    EXPECT_EQ(out[0].tensor().data<double>()[0], 1) << opset;
  }
}

TEST(Precise, WeightsThatStayNarrowStayConstant) {
  onnx_io::Node node;
  node.op_type = "Resize";
  node.inputs = {"x", "", "scales"};
  const auto model = model_of(node, {{"scales", Tensor::from(Shape{1}, std::vector<float>{2})}});
  const onnx_io::Model wide = widened(model);
  ASSERT_EQ(wide.graph.nodes.size(), 2);
  EXPECT_EQ(wide.graph.nodes[0].op_type, "Constant");
  EXPECT_EQ(wide.graph.nodes[0].attributes[0].tensors[0].dtype(), DType::float32);
  EXPECT_EQ(run_in_double(model, {floats({1, 2})}, {})[0].tensor().size(), 4);
}

/// Whether tensors of the parameter may be floats, but no double.
bool is_narrow(const opset::SchemaInfo& schema, const opset::ParameterInfo& parameter) {
  const auto types = schema.types_of(parameter);
  const auto has = [&](const char* type) { return std::ranges::find(types, type) != types.end(); };
  const bool takes_others = std::ranges::any_of(types, [](const std::string& type) {
    return type.starts_with("tensor(") && type.find("float") == std::string::npos;
  });
  return has("tensor(float)") && !has("tensor(double)") && !takes_others;
}

// Whatever the standard has, and what is added to it: no operator is given a double that it does not take.
TEST(Precise, NoOperatorReadsADoubleThatItsVersionDoesNotAdmit) {
  int narrow = 0;
  for (const opset::SchemaInfo* schema : opset::all_schemas()) {
    onnx_io::Model model;
    model.opset_imports[schema->domain] = schema->since_version;
    onnx_io::Node node;
    node.op_type = schema->name;
    node.domain = schema->domain;
    for (std::size_t i = 0; i < schema->inputs.size(); ++i) node.inputs.push_back("i" + std::to_string(i));
    for (std::size_t i = 0; i < schema->outputs.size(); ++i) node.outputs.push_back("o" + std::to_string(i));
    model.graph.nodes.push_back(node);
    const onnx_io::Model wide = widened(model);
    const auto place = std::ranges::find(wide.graph.nodes, schema->name, &onnx_io::Node::op_type);
    if (schema->name == "Cast") continue;
    ASSERT_NE(place, wide.graph.nodes.end()) << schema->name;
    const std::string label = schema->name + "-" + std::to_string(schema->since_version);
    const auto is_cast = [&](const std::string& from, const std::string& to) {
      return std::ranges::any_of(wide.graph.nodes, [&](const onnx_io::Node& each) {
        return each.op_type == "Cast" && each.inputs[0] == from && each.outputs[0] == to;
      });
    };
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_narrow(*schema, schema->inputs[i])) continue;
      ++narrow;
      EXPECT_TRUE(is_cast(node.inputs[i], place->inputs[i])) << label << ", input " << i;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!is_narrow(*schema, schema->outputs[i])) continue;
      ++narrow;
      EXPECT_TRUE(is_cast(place->outputs[i], node.outputs[i])) << label << ", output " << i;
    }
  }
  EXPECT_GT(narrow, 60);
}

TEST(Precise, WhatCannotRunInDoubleIsNotInvalid) {
  try {
    in_double([] { fail_invalid("node 'a' takes no double"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("cannot be computed in double precision: invalid: node 'a'"),
              std::string::npos)
        << error.what();
  }
}

TEST(Precise, TheNearerSideIsNamed) {
  const Value truth = Tensor::from(Shape{2}, std::vector<double>{1.0, 2.0 + 0x1p-24});
  const float unit = 0x1p-23f;
  const Value good = floats({1, 2});
  const Value bad = floats({1 + 100 * unit, 2});
  EXPECT_EQ(judge_by_truth(truth, good, bad),
            "in double precision: actual is the nearer side, within 0.25 ULP of the truth; expected is off "
            "by up to 100 "
            "ULP");
  EXPECT_EQ(judge_by_truth(truth, bad, good),
            "in double precision: expected is the nearer side, within 0.25 ULP of the truth; actual is off "
            "by up to 100 "
            "ULP");
  EXPECT_EQ(judge_by_truth(truth, good, good),
            "in double precision: both sides are within 0.25 ULP of the truth");
  EXPECT_EQ(judge_by_truth(truth, good, {}), "in double precision: actual is within 0.25 ULP of the truth");
  const Value nan = floats({1, std::nanf("")});
  EXPECT_EQ(judge_by_truth(truth, good, nan),
            "in double precision: actual is the nearer side, within 0.25 ULP of the truth; expected is off "
            "by up to inf "
            "ULP");
}

TEST(Precise, NothingIsSaidWhereThereIsNoMeasure) {
  const Value truth = Tensor::from(Shape{1}, std::vector<double>{1.0});
  EXPECT_EQ(judge_by_truth(truth, truth, truth), "") << "double already";
  EXPECT_EQ(judge_by_truth(truth, floats({1, 2}), floats({1})), "") << "another shape";
  EXPECT_EQ(judge_by_truth(Tensor::scalar(std::int64_t{1}), floats({1}), floats({1})), "")
      << "no number of a float type";
}

TEST(Precise, UnitsAreThoseOfTheOutputsType) {
  const Value truth = Tensor::from(Shape{1}, std::vector<double>{1.0});
  const Value half = Tensor::from(Shape{1}, std::vector<Float16>{Float16(1.0f + 0x1p-8f)});
  const Value brain = Tensor::from(Shape{1}, std::vector<BFloat16>{BFloat16(1.0f + 0x1p-5f)});
  EXPECT_EQ(judge_by_truth(truth, half, {}), "in double precision: actual is within 4 ULP of the truth");
  EXPECT_EQ(judge_by_truth(truth, brain, {}), "in double precision: actual is within 4 ULP of the truth");
}

}  // namespace
}  // namespace grurun::trial
