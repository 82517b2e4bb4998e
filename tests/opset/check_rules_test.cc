// Every rule of the table has a model that fails it and one that passes.
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "opset/pages/forms.h"
#include "opset/recurrent/recurrent_rules.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using onnx_io::Graph;
using onnx_io::Model;
using onnx_io::Node;

// If nodes inside each other, each in the then_branch of the one before.
Model nested_ifs(int depth) {
  Model model = relu_chain(1);
  model.graph.inputs.push_back({"c", ValueType::tensor(DType::boolean)});
  std::shared_ptr<const Graph> inner;
  for (int level = depth; level > 0; --level) {
    Graph graph;
    graph.name = "g" + std::to_string(level);
    const std::string name = "y" + std::to_string(level);
    graph.outputs.push_back({name, {}});
    Node node;
    node.op_type = "Identity";
    node.inputs = {"v1"};
    node.outputs = {name};
    if (inner != nullptr) {
      node.op_type = "If";
      node.inputs = {"c"};
      for (const char* branch : {"then_branch", "else_branch"}) {
        auto only = branch == std::string("then_branch") ? inner : nullptr;
        if (only == nullptr) {
          Graph leaf;
          leaf.name = "leaf";
          Node identity;
          identity.op_type = "Identity";
          identity.inputs = {"v1"};
          identity.outputs = {"leaf" + std::to_string(level)};
          leaf.outputs.push_back({identity.outputs[0], {}});
          leaf.nodes.push_back(identity);
          only = std::make_shared<const Graph>(std::move(leaf));
        }
        Attribute attribute;
        attribute.name = branch;
        attribute.type = AttributeType::graph;
        attribute.graphs = {only};
        node.attributes.push_back(std::move(attribute));
      }
    }
    graph.nodes.push_back(std::move(node));
    inner = std::make_shared<const Graph>(std::move(graph));
  }
  model.graph.nodes.push_back(inner->nodes[0]);
  return model;
}

// Each function calls the one below twice.
std::string doubling_functions(int levels) {
  std::string text = R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[2] X) => (float[2] Y) { Y = ns.f0 (X) }
  )";
  for (int level = 0; level < levels; ++level) {
    const std::string next = "ns.f" + std::to_string(level + 1);
    text += "<domain: \"ns\", opset_import: [\"\" : 14, \"ns\" : 1]> f" + std::to_string(level) +
            " (x) => (y) { a = " + next + "(x) y = " + next + "(a) }\n";
  }
  return text + "<domain: \"ns\", opset_import: [\"\" : 14]> f" + std::to_string(levels) +
         " (x) => (y) { y = Relu(x) }\n";
}

Attribute float_attribute(const std::string& name) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = AttributeType::float_;
  return attribute;
}

struct RuleCase {
  const char* code;
  Make bad;
  Make good;
  std::set<std::string> with = {};  // further codes of the bad model
};

Make changed(const Make& make, const std::function<void(Model&)>& change) {
  return [=] {
    Model model = make();
    change(model);
    return model;
  };
}

onnx::ValueInfoProto value_info(const char* name, const std::vector<std::int64_t>& dims) {
  onnx::ValueInfoProto value;
  value.set_name(name);
  auto* type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) type->mutable_shape()->add_dim()->set_dim_value(dim);
  return value;
}

// Y = X + w, where w is an initializer and an input.
Make changed_proto(const std::function<void(onnx::GraphProto&)>& change) {
  return [=] {
    onnx::ModelProto proto = proto_from_text(
        "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X, float[2] w) => (float[2] Y) <float[2] w = "
        "{1, 2}> { Y = Add(X, w) }");
    change(*proto.mutable_graph());
    return model_from_proto(proto);
  };
}

// A call of f (x) => (y), whose value_info names these.
Make function_with_value_info(const std::vector<const char*>& names) {
  return [=] {
    onnx::ModelProto proto = proto_from_text(
        R"(<ir_version: 10, opset_import: ["" : 14, "ns" : 1]> g (float[2] X) => (float[2] Y) { Y = ns.f(X) }
           <domain: "ns", opset_import: ["" : 14]> f (x) => (y) { h = Relu(x) y = Elu(h) })");
    for (const char* name : names) *proto.mutable_functions(0)->add_value_info() = value_info(name, {2});
    return model_from_proto(proto);
  };
}

// Two classes of two features.
/// A weight of [2,2] with a number in it, read by an operator of two inputs.
Make with_weight(float number, const std::string& op_type) {
  return [=] {
    onnx::ModelProto proto = proto_from_text(
        "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2,2] X) => (float[2,2] Y) "
        "<float[2,2] w = {1.0, 1.0, 1.0, 1.0}> { T = Identity(w) Y = " +
        op_type + "(X, T) }");
    onnx::TensorProto& weight = *proto.mutable_graph()->mutable_initializer(0);
    weight.clear_raw_data();
    weight.clear_float_data();
    for (const float each : {1.0f, number, 1.0f, 1.0f}) weight.add_float_data(each);
    return model_from_proto(proto);
  };
}

Make linear_classifier(const std::string& coefficients) {
  return text(
      "<ir_version: 8, opset_import: [\"\" : 14, \"ai.onnx.ml\" : 1]> g (float[1,2] X) => (int64[1] L, "
      "float[1,2] S) { L, S = ai.onnx.ml.LinearClassifier <coefficients = [" +
      coefficients + "], intercepts = [0.0, 0.0], classlabels_ints = [0, 1]> (X) }");
}

std::vector<RuleCase> rule_cases() {
  const Make relu = graph("g (float[2] X) => (float[2] Y) { Y = Relu(X) }");
  const std::string f = R"(<domain: "ns", opset_import: ["" : 14]> f )";
  const std::string calls = R"(<domain: "ns", opset_import: ["" : 14, "ns" : 1]> )";
  return {
      {"MODEL001", changed(relu, [](Model& m) { m.ir_version = 99; }), relu},
      {"MODEL002", graph("g (float[2] X) => (float[2] Y) { Y = ns.Relu(X) }"), relu},
      {"MODEL003",
       text("<ir_version: 8, opset_import: [\"\" : 99]> g (float[2] X) => (float[2] Y) { Y = Relu(X) }"),
       relu},
      {"MODEL004", changed(relu, [](Model& m) { m.opset_imports[""] = 0; }), relu},
      {"MODEL005", [] { return nested_ifs(70); }, [] { return nested_ifs(60); }},
      {"MODEL006", text(doubling_functions(30)), text(doubling_functions(5))},
      {"MODEL007",
       [] {
         Model model = relu_chain(10'005);
         for (Node& node : model.graph.nodes) node.op_type = "Rleu";
         return model;
       },
       [] { return relu_chain(3); },
       {"SCHEMA001"}},
      {"FUNCTION001",
       with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) } " + f + "(x) => (y) { y = Elu(x) }"),
       with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }")},
      {"FUNCTION002",
       with_function("Y = ns.f(X)",
                     calls + "f (x) => (y) { y = ns.h(x) } " + calls + "h (x) => (y) { y = ns.f(x) }"),
       with_function("Y = ns.f(X)",
                     calls + "f (x) => (y) { y = ns.h(x) } " + calls + "h (x) => (y) { y = Relu(x) }")},
      {"FUNCTION003",
       with_function("Y = ns.f <a = 2.0> (X)", f + "<a> (x) => (y) { y = Elu <alpha: float = @b> (x) }"),
       with_function("Y = ns.f <a = 2.0> (X)", f + "<a> (x) => (y) { y = Elu <alpha: float = @a> (x) }")},
      {"FUNCTION004", with_function("Y = ns.f(X, X)", f + "(x) => (y) { y = Relu(x) }"),
       with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }")},
      {"FUNCTION005", with_function("Y = ns.f <b = 1> (X)", f + "(x) => (y) { y = Relu(x) }"),
       with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }")},
      {"FUNCTION001",
       changed(with_function("Y = ns.f(X)", f + "<a> (x) => (y) { y = Elu <alpha: float = @a> (x) }"),
               [](Model& m) { m.functions[0].attribute_defaults.push_back(float_attribute("a")); }),
       with_function("Y = ns.f(X)", f + "<a> (x) => (y) { y = Elu <alpha: float = @a> (x) }")},
      {"FUNCTION006",
       changed(with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }"),
               [](Model& m) { m.graph.nodes[0].overload = "q"; }),
       changed(with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }"),
               [](Model& m) { m.graph.nodes[0].overload = m.functions[0].overload = "q"; })},
      {"FUNCTION006", changed(relu, [](Model& m) { m.graph.nodes[0].overload = "q"; }), relu},
      {"FUNCTION006",
       changed(with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }"),
               [](Model& m) { m.functions[0].overload = "q"; }),
       with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }")},
      {"GRAPH001", graph("g (float[2] X) => (float[2] Y) { Y = Add(X, Z) }"), relu},
      {"GRAPH002", graph("g (float[2] X) => (float[2] Y) { Y = Relu(a) a = Relu(X) }"),
       graph("g (float[2] X) => (float[2] Y) { a = Relu(X) Y = Relu(a) }")},
      {"GRAPH003", graph("g (float[2] X) => (float[2] Y) { a = Add(X, b) b = Relu(a) Y = Relu(b) }"),
       graph("g (float[2] X) => (float[2] Y) { a = Add(X, X) b = Relu(a) Y = Relu(b) }")},
      {"GRAPH004", graph("g (float[2] X) => (float[2] Y) { Y = Relu(X) Y = Elu(X) }"), relu},
      {"GRAPH005", graph("g (float[2] X) => (float[2] Y) { Z = Relu(X) }"), relu},
      {"GRAPH006",
       graph("g (float[2] X, float[3] w) => (float[2] Y) <float[2] w = {1, 2}> { Y = Add(X, w) }"),
       graph("g (float[2] X, float[2] w) => (float[2] Y) <float[2] w = {1, 2}> { Y = Add(X, w) }")},
      {"GRAPH006", changed_proto([](onnx::GraphProto& g) {
         g.mutable_input(1)
             ->mutable_type()
             ->mutable_sequence_type()
             ->mutable_elem_type()
             ->mutable_tensor_type()
             ->set_elem_type(1);
       }),
       changed_proto([](onnx::GraphProto&) {})},
      {"GRAPH006", changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("w", {3}); }),
       changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("w", {2}); })},
      {"GRAPH006", changed_proto([](onnx::GraphProto& g) {
         *g.add_value_info() = value_info("X", {2, 1});
       }),
       changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("X", {2}); })},
      {"GRAPH006", changed_proto([](onnx::GraphProto& g) { *g.add_output() = value_info("w", {3}); }),
       changed_proto([](onnx::GraphProto& g) { *g.add_output() = value_info("w", {2}); })},
      {"GRAPH006", changed_proto([](onnx::GraphProto& g) { *g.add_output() = value_info("X", {3}); }),
       changed_proto([](onnx::GraphProto& g) { *g.add_output() = value_info("X", {2}); })},
      {"GRAPH008",
       changed(graph("g (float[5,3,2] X, float[1,12,2] W, float[1,12,4] R) => (float[a,b,c,d] Y) { Y = GRU "
                     "<hidden_size = 4> (X, W, R) }"),
               [](Model& m) { m.graph.inputs[0].type.elem = DType::undefined; }),
       graph("g (float[5,3,2] X, float[1,12,2] W, float[1,12,4] R) => (float[a,b,c,d] Y) { Y = GRU "
             "<hidden_size = 4> (X, W, R) }")},
      {"GRAPH007",
       text("<ir_version: 3, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) <float[2] w = {1, 2}> "
            "{ Y = "
            "Add(X, w) }"),
       text("<ir_version: 3, opset_import: [\"\" : 14]> g (float[2] X, float[2] w) => (float[2] Y) <float[2] "
            "w = {1, "
            "2}> { Y = Add(X, w) }")},
      {"GRAPH006", changed_proto([](onnx::GraphProto& g) { *g.add_output() = value_info("Y", {3}); }),
       changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("Y", {2}); })},
      {"GRAPH009", changed_proto([](onnx::GraphProto& g) {
         *g.add_value_info() = value_info("w", {2});
         *g.add_value_info() = value_info("w", {2});
       }),
       changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("w", {2}); })},
      {"GRAPH009", function_with_value_info({"h", "h"}), function_with_value_info({"x", "h", "y"})},
      {"GRAPH010", changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("v", {2}); }),
       changed_proto([](onnx::GraphProto& g) { *g.add_value_info() = value_info("Y", {2}); })},
      {"GRAPH010", function_with_value_info({"v"}), function_with_value_info({"h"})},
      {"GRAPH011", graph("g (float[2] X) => (float[2] Y) { [a] h = Relu(X) [a] Y = Relu(h) }"),
       graph("g (float[2] X) => (float[2] Y) { [a] h = Relu(X) [b] Y = Relu(h) }")},
      {"SCHEMA001", graph("g (float[2] X) => (float[2] Y) { Y = Rleu(X) }"), relu},
      {"SCHEMA002",
       text("<ir_version: 8, opset_import: [\"\" : 14, \"ns\" : 1]> g (float[2] X) => (float[2] Y) { Y = "
            "ns.f(X) }"),
       with_function("Y = ns.f(X)", f + "(x) => (y) { y = Relu(x) }")},
      {"SCHEMA003", graph("g (float[1,1,2,2] X, float[4] s) => (float[1,1,4,4] Y) { Y = Upsample(X, s) }"),
       text("<ir_version: 8, opset_import: [\"\" : 9]> g (float[1,1,2,2] X, float[4] s) => (float[a,b,c,d] "
            "Y) { Y = "
            "Upsample(X, s) }")},
      {"SCHEMA004", graph("g (float[2] X) => (float[2] Y) { Y = Elu <aplha = 1.0> (X) }"),
       graph("g (float[2] X) => (float[2] Y) { Y = Elu <alpha = 1.0> (X) }")},
      {"SCHEMA005", graph("g (float[2] X) => (float[4] Y) { Y = Concat(X, X) }"),
       graph("g (float[2] X) => (float[4] Y) { Y = Concat <axis = 0> (X, X) }")},
      {"SCHEMA006", graph("g (float[2] X) => (float[2] Y) { Y = Elu <alpha = 1> (X) }"),
       graph("g (float[2] X) => (float[2] Y) { Y = Elu <alpha = 1.0> (X) }")},
      {"SCHEMA007", graph("g (float[2] X) => (float[2] Y) { Y = Elu <alpha = 1.0, alpha = 2.0> (X) }"),
       graph("g (float[2] X) => (float[2] Y) { Y = Elu <alpha = 1.0> (X) }")},
      {"SCHEMA007",
       with_function("Y = ns.f <a = 1.0, a = 2.0> (X)",
                     f + "<a> (x) => (y) { y = Elu <alpha: float = @a> (x) }"),
       with_function("Y = ns.f <a = 1.0> (X)", f + "<a> (x) => (y) { y = Elu <alpha: float = @a> (x) }")},
      {"SCHEMA008", graph("g (float[2] X) => (float[2] Y) { Y = Add(X) }"),
       graph("g (float[2] X) => (float[2] Y) { Y = Add(X, X) }")},
      {"SCHEMA009", graph("g (float[2] X) => (float[2] Y) { Y = Add(X, \"\") }"),
       graph("g (float[2] X) => (float[2] Y) { Y = Clip(X, \"\", \"\") }")},
      {"SCHEMA010", graph("g (float[2] X) => (float[2] Y) { Y, Z = Relu(X) }"), relu},
      {"SCHEMA011", graph("g (float[2] X) => (float[2] X) { \"\" = Relu(X) }"),
       graph("g (float[5,3,2] X, float[1,12,2] W, float[1,12,4] R) => (float[1,3,4] Yh) { \"\", Yh = GRU "
             "<hidden_size = 4> (X, W, R) }")},
      {"SCHEMA012",
       graph(
           "g (float[1,1,5] X, float[1,1,3] W) => (float[1,1,3] Y) { Y = Conv <auto_pad = \"VALID\", pads = "
           "[1, 1]> (X, W) }"),
       graph("g (float[1,1,5] X, float[1,1,3] W) => (float[1,1,5] Y) { Y = Conv <auto_pad = \"NOTSET\", pads "
             "= [1, 1]> (X, W) }")},
      {"SCHEMA012",
       graph("g (float[1,1,5] X, float[1,1,3] W) => (float[1,1,8] Y) { Y = ConvTranspose <output_padding = "
             "[1]> (X, W) }"),
       graph("g (float[1,1,5] X, float[1,1,3] W) => (float[1,1,12] Y) { Y = ConvTranspose <output_padding = "
             "[1], strides = [2]> (X, W) }")},
      {"SCHEMA013",
       text("<ir_version: 8, opset_import: [\"\" : 18]> g (float[2] X, int64[2] p) => (float[n] Y) { Y = Pad "
            "<mode = \"wrap\"> (X, p) }"),
       text("<ir_version: 9, opset_import: [\"\" : 19]> g (float[2] X, int64[2] p) => (float[n] Y) { Y = Pad "
            "<mode = \"wrap\"> (X, p) }")},
      {"SCHEMA013",
       graph("g (float[1,1,5] X, float[1,1,3] W) => (float[1,1,3] Y) { Y = Conv <auto_pad = \"SAME\"> (X, W) "
             "}"),
       graph("g (float[1,1,5] X, float[1,1,3] W) => (float[1,1,3] Y) { Y = Conv <auto_pad = \"\"> (X, W) }")},
      {"SCHEMA015", linear_classifier("1.0, 2.0, 3.0, 4.0, 5.0, 6.0"),
       linear_classifier("1.0, 2.0, 3.0, 4.0")},
      {"TYPE001", graph("g (int32[2] X) => (int32[2] Y) { Y = Sin(X) }"),
       graph("g (float[2] X) => (float[2] Y) { Y = Sin(X) }")},
      {"TYPE002", graph("g (float[2] X, double[2] Z) => (float[2] Y) { Y = Add(X, Z) }"),
       graph("g (float[2] X, float[2] Z) => (float[2] Y) { Y = Add(X, Z) }")},
      {"TYPE003",
       text("<ir_version: 3, opset_import: [\"\" : 8]> g (float[2] X) => (int64[1] Y) { Y = Constant <value "
            "= int64[1] "
            "{7}> () }"),
       text("<ir_version: 4, opset_import: [\"\" : 9]> g (float[2] X) => (int64[1] Y) { Y = Constant <value "
            "= int64[1] "
            "{7}> () }")},
      {"SHAPE001", graph("g (float[2,3] X, float[4,5] Z) => (float[2,5] Y) { Y = MatMul(X, Z) }"),
       graph("g (float[2,3] X, float[3,5] Z) => (float[2,5] Y) { Y = MatMul(X, Z) }")},
      {"SHAPE002", graph("g (float[2] X) => (int32[2] Y) { Y = Relu(X) }"), relu},
      {"SHAPE003", graph("g (float[2] X) => (float[3] Y) { Y = Relu(X) }"),
       graph("g (float[2] X) => (float[n] Y) { Y = Relu(X) }")},
      {"NUMBER001", with_weight(std::numeric_limits<float>::quiet_NaN(), "MatMul"), with_weight(1, "MatMul")},
      {"NUMBER001", with_weight(std::numeric_limits<float>::infinity(), "MatMul"),
       with_weight(-std::numeric_limits<float>::infinity(), "Add")},
      {"NUMBER001", with_weight(std::numeric_limits<float>::infinity(), "Add"),
       with_weight(std::numeric_limits<float>::infinity(), "Min")},
      {"ONNX001",
       [] {
         onnx::ModelProto proto = proto_from_text(
             "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) { Y = Relu(X) }");
         proto.mutable_graph()->clear_name();
         return model_from_proto(proto);
       },
       relu},
  };
}

TEST(CheckModel, EveryRuleHasAModelThatFailsItAndOneThatPasses) {
  std::set<std::string> covered = {"ONNX002", "RANDOM001", "SCHEMA014", "SHAPE004",
                                   "SHAPE005"};  // shown by tests of their own
  for (const Form& form : all_forms()) covered.insert(rule_info(form.rule).code);  // tests/cli/forms_test.cc
  for (const RuleCase& c : rule_cases()) {
    SCOPED_TRACE(c.code);
    covered.insert(c.code);
    ASSERT_NE(find_rule(c.code), nullptr);
    const CheckResult bad = check_model(c.bad());
    std::set<std::string> expected = c.with;
    expected.insert(c.code);
    EXPECT_EQ(codes(bad), expected) << listed(bad);
    EXPECT_EQ(bad.has_errors() || find_rule(c.code)->severity != Severity::error, true);
    const CheckResult good = check_model(c.good());
    EXPECT_EQ(listed(good), "");
  }
  for (const RuleInfo& rule : all_rules()) {
    if (!rule.op_type.empty()) continue;  // recurrent_rules_test.cc
    EXPECT_EQ(covered.count(rule.code), 1u) << rule.code << " has no case";
  }
}

}  // namespace
}  // namespace grurun::opset
