#include "engine/graph/plan.h"

#include <gtest/gtest.h>

#include "engine/graph/executor.h"
#include "tests/engine/graph/model_building.h"

namespace grurun::engine {
namespace {

using namespace testing;
using onnx_io::Function;

Function twice_function() {
  Function twice;
  twice.domain = "local";
  twice.name = "Twice";
  twice.inputs = {"x", "unused"};
  twice.outputs = {"y"};
  twice.attributes = {"slope"};
  twice.opset_imports[""] = 21;
  onnx_io::Attribute reference = attribute("alpha", onnx_io::AttributeType::float_);
  reference.ref_attr_name = "slope";
  twice.nodes = {node("LeakyRelu", {"x"}, {"r"}, {reference}), node("Add", {"r", "r"}, {"y"})};
  return twice;
}

onnx_io::Model calling_model(Attributes attributes) {
  auto made = model(graph({"a"}, {node("Twice", {"a"}, {"b"}, std::move(attributes), "local")}, {"b"}));
  made.opset_imports["local"] = 1;
  made.functions.push_back(twice_function());
  return made;
}

TEST(Plan, InlinesFunctionsWithTheCallersAttributes) {
  EXPECT_EQ(as_floats(run(calling_model({attr("slope", 0.5f)}), {floats({-2, 3})})[0]),
            (std::vector<float>{-2, 6}));
}

TEST(Plan, ReferenceToAnAttributeLeftOutTakesTheOperatorsDefault) {
  const auto got = as_floats(run(calling_model({}), {floats({-100})})[0]);
  EXPECT_NEAR(got[0], -2.0f, 1e-5);  // LeakyRelu's alpha is 0.01
}

TEST(Plan, FunctionsAreUnique) {
  auto made = calling_model({});
  made.functions.push_back(twice_function());
  const auto [kind, message] = error_of([&] { make_plan(made); });
  EXPECT_EQ(kind, ErrorKind::invalid_model);
  EXPECT_NE(message.find("function 'Twice' of domain 'local' is defined twice"), std::string::npos)
      << message;
  made.functions.back().overload = "other";
  EXPECT_NO_THROW(make_plan(made));
}

// What a call gives is not dropped silently.
TEST(Plan, CallsGiveAttributesOnceAndOnlyThoseThatTheFunctionDeclares) {
  const auto refused = [](const onnx_io::Model& made, const char* says) {
    const auto [kind, message] = error_of([&] { make_plan(made); });
    EXPECT_EQ(kind, ErrorKind::invalid_model);
    EXPECT_NE(message.find(says), std::string::npos) << message;
  };
  refused(calling_model({attr("slope", 0.5f), attr("slope", 0.25f)}), "attribute 'slope' is given twice");
  refused(calling_model({attr("slop", 0.5f)}), "function local.Twice has no attribute 'slop'");
  auto made = calling_model({attr("slope", 0.5f)});
  made.graph.nodes[0].overload = "other";
  refused(made,
          "overloads of local.Twice that the model defines: one without a name; the call wants 'other'");
  made.graph.nodes[0].overload.clear();
  made.functions[0].attribute_defaults = {attr("slope", 1.0f)};
  refused(made, "function local.Twice: two attributes are named 'slope'");
}

TEST(Plan, FunctionsThatCallThemselvesEndInALimit) {
  auto made = calling_model({});
  made.functions[0].nodes = {node("Twice", {"x"}, {"y"}, {}, "local")};
  made.functions[0].opset_imports["local"] = 1;
  EXPECT_EQ(error_of([&] { make_plan(made); }).first, ErrorKind::limit);
}

TEST(Plan, DoublingFunctionsEndInALimit) {
  auto made = model(graph({"a"}, {node("F0", {"a"}, {"b"}, {}, "local")}, {"b"}));
  made.opset_imports["local"] = 1;
  for (int i = 0; i < 40; ++i) {
    Function function;
    function.domain = "local";
    function.name = "F" + std::to_string(i);
    function.inputs = {"x"};
    function.outputs = {"z"};
    function.opset_imports = {{"", 21}, {"local", 1}};
    const std::string next = "F" + std::to_string(i + 1);
    function.nodes =
        i == 39 ? std::vector{node("Relu", {"x"}, {"z"})}
                : std::vector{node(next, {"x"}, {"y"}, {}, "local"), node(next, {"y"}, {"z"}, {}, "local")};
    made.functions.push_back(function);
  }
  PlanOptions options;
  options.max_nodes = 10000;
  EXPECT_EQ(error_of([&] { make_plan(made, options); }).first, ErrorKind::limit);
}

TEST(Plan, FedInputOverridesTheInitializerOfTheSameName) {
  auto made = model(graph({"x", "w"}, {node("Add", {"x", "w"}, {"y"})}, {"y"}));
  made.graph.initializers.push_back({"w", floats({10}).tensor()});
  EXPECT_EQ(as_floats(run(made, {floats({1})})[0]), std::vector<float>{11});
  PlanOptions options;
  options.fed = {"x", "w"};
  EXPECT_EQ(as_floats(run_plan(*make_plan(made, options), {floats({1}), floats({5})})[0]),
            std::vector<float>{6});
}

struct Broken {
  const char* what;
  onnx_io::Model made;
  ErrorKind kind;
  const char* message;
};

TEST(Plan, SaysWhatIsWrongWithAModel) {
  auto no_import = model(graph({"x"}, {node("Relu", {"x"}, {"y"}, {}, "other")}, {"y"}));
  auto initialized = model(graph({"x", "w", "w"}, {node("Add", {"x", "w"}, {"y"})}, {"y"}));
  initialized.graph.initializers.push_back({"w", floats({1}).tensor()});
  auto custom = no_import;
  custom.opset_imports["other"] = 1;
  const std::vector<Broken> table = {
      {"unknown operator", model(graph({"x"}, {node("Nonsense", {"x"}, {"y"})}, {"y"})),
       ErrorKind::invalid_model, "no operator 'Nonsense' in opset 21 of ai.onnx"},
      {"operator newer than the opset", model(graph({"x"}, {node("Gelu", {"x"}, {"y"})}, {"y"}), 13),
       ErrorKind::invalid_model, "no operator 'Gelu' in opset 13 of ai.onnx; it exists from opset 20 on"},
      {"opset of the future", model(graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"y"}), 999),
       ErrorKind::unsupported, "opset 999 of ai.onnx is newer"},
      {"domain without import", no_import, ErrorKind::invalid_model,
       "domain 'other' has no entry in opset_import"},
      {"custom domain", custom, ErrorKind::unsupported, "custom domain 'other'"},
      {"undefined input", model(graph({"x"}, {node("Relu", {"z"}, {"y"})}, {"y"})), ErrorKind::invalid_model,
       "input 'z' is not defined before"},
      {"output made by nobody", model(graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"z"})),
       ErrorKind::invalid_model, "output 'z' is made by no node"},
      {"two inputs of one name", model(graph({"x", "x"}, {node("Relu", {"x"}, {"y"})}, {"y"})),
       ErrorKind::invalid_model, "two graph inputs are named 'x'"},
      {"two inputs of one name, which an initializer has", initialized, ErrorKind::invalid_model,
       "two graph inputs are named 'w'"},
      {"two definitions",
       model(graph({"x"}, {node("Relu", {"x"}, {"y"}), node("Relu", {"x"}, {"y"})}, {"y"})),
       ErrorKind::invalid_model, "'y' is defined twice"},
      {"unknown attribute", model(graph({"x"}, {node("Relu", {"x"}, {"y"}, {attr("slope", 1)})}, {"y"})),
       ErrorKind::invalid_model, "has no attribute 'slope'"},
      {"attribute of a newer version",
       model(graph({"x"}, {node("ArgMax", {"x"}, {"y"}, {attr("select_last_index", 1)})}, {"y"}), 11),
       ErrorKind::invalid_model, "ArgMax-11 has no attribute 'select_last_index'"},
      {"attribute twice",
       model(graph({"x"}, {node("Elu", {"x"}, {"y"}, {attr("alpha", 1.0f), attr("alpha", 2.0f)})}, {"y"})),
       ErrorKind::invalid_model, "attribute 'alpha' is given twice [SCHEMA007]"},
      {"missing attribute", model(graph({"x"}, {node("Cast", {"x"}, {"y"})}, {"y"})),
       ErrorKind::invalid_model, "attribute 'to' (INT) is missing [SCHEMA005]"},
      {"type of a newer version",
       model(graph({"x"}, {node("Cast", {"x"}, {"y"}, {attr("to", 17)})}, {"y"}), 13),
       ErrorKind::invalid_model, "output is tensor(float8e4m3fn); Cast-13 admits "},
      {"wrong attribute type",
       model(graph({"x"}, {node("LeakyRelu", {"x"}, {"y"}, {attr("alpha", 1)})}, {"y"})),
       ErrorKind::invalid_model, "attribute 'alpha' is INT, LeakyRelu-16 wants FLOAT [SCHEMA006]"},
      {"missing input", model(graph({"x"}, {node("Add", {"x"}, {"y"})}, {"y"})), ErrorKind::invalid_model,
       "1 input; Add-14 takes 2 (A, B) [SCHEMA008]"},
      {"omitted required input", model(graph({"x"}, {node("Add", {"", "x"}, {"y"})}, {"y"})),
       ErrorKind::invalid_model, "input 0 (A) is omitted, but it is required [SCHEMA009]"},
      {"omitted required input at the end", model(graph({"x"}, {node("Add", {"x", ""}, {"y"})}, {"y"})),
       ErrorKind::invalid_model, "input 1 (B) is omitted, but it is required [SCHEMA009]"},
      {"omitted required output", model(graph({"x"}, {node("TopK", {"x", "x"}, {"y", ""})}, {"y"})),
       ErrorKind::invalid_model, "output 1 (Indices) is omitted, but it is required [SCHEMA011]"},
  };
  for (const Broken& broken : table) {
    const auto [kind, message] = error_of([&] { make_plan(broken.made); });
    EXPECT_EQ(kind, broken.kind) << broken.what << ": " << message;
    EXPECT_NE(message.find(broken.message), std::string::npos) << broken.what << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << broken.what;
  }
}

TEST(Plan, FunctionBodiesAgreeWithKernels) {
  // Relu has both; the body is reached only when it is asked for.
  const auto made = model(graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"y"}));
  PlanOptions options;
  options.prefer_function_bodies = true;
  const auto body = make_plan(made, options);
  ASSERT_GT(body->steps.size(), 0u);
  for (const Step& step : body->steps) EXPECT_NE(step.op, "Relu-14");
  EXPECT_EQ(as_floats(run_plan(*body, {floats({-1, 2})})[0]), (std::vector<float>{0, 2}));
}

TEST(Plan, ReleasesValuesAfterTheirLastUse) {
  std::vector<onnx_io::Node> nodes;
  for (int i = 0; i < 5; ++i)
    nodes.push_back(node("Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}));
  const auto plan = make_plan(model(graph({"v0"}, nodes, {"v5"})), {.fed = {}, .fuse = false});
  for (const Step& step : plan->steps) EXPECT_EQ(step.last_used, step.inputs);
}

}  // namespace
}  // namespace grurun::engine
