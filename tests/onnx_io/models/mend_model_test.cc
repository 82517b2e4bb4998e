#include "onnx_io/models/mend_model.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "onnx_io/models/model_text.h"

namespace grurun::onnx_io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

::onnx::ModelProto model_of(const std::string& text) {
  ::onnx::ModelProto model;
  parse_text(ModelText::onnx, "<ir_version: 8, opset_import: [\"\" : 14]> " + text, model);
  return model;
}

// The outputs of the nodes in their order.
template <typename Nodes>
std::string order_of(const Nodes& nodes) {
  std::string out;
  for (const auto& node : nodes) out += (out.empty() ? "" : " ") + node.output(0);
  return out;
}

std::vector<std::string> messages(const std::vector<Mended>& mended) {
  std::vector<std::string> out;
  for (const Mended& one : mended) out.push_back(one.message);
  return out;
}

TEST(MendModel, SortsWhatComesTooEarlyAndLeavesTheRest) {
  ::onnx::ModelProto model = model_of(
      "g (float[2] X) => (float[2] Y) { a = Relu(X) [late] Y = Add(c, d) b = Relu(a) d = Relu(b) c = Relu(a) "
      "}");
  const std::vector<Mended> mended = mend_model(model);
  EXPECT_EQ(order_of(model.graph().node()), "a c b d Y");
  ASSERT_THAT(mended, testing::SizeIs(1));
  EXPECT_EQ(mended[0].what, Mended::What::order);
  EXPECT_THAT(mended[0].message,
              AllOf(HasSubstr("node 'late' (Add) needs 'c'"), HasSubstr("from node 'Relu#4' (Relu)")));
}

TEST(MendModel, CountsNodesThatComeTooEarly) {
  ::onnx::ModelProto model =
      model_of("g (float[2] X) => (float[2] Y) { Y = Add(b, b) b = Add(a, a) a = Relu(X) }");
  EXPECT_THAT(messages(mend_model(model)), ElementsAre(HasSubstr(", and 1 more come too early: ")));
  EXPECT_EQ(order_of(model.graph().node()), "a b Y");
}

TEST(MendModel, WhatIsSortedStays) {
  for (const char* text :
       {"g (float[2] X) => (float[2] Y) { a = Relu(X) b = Relu(X) Y = Add(b, a) }",
        "g (float[2] X) => (float[2] X) { X = Relu(X) }",  // not single assignment; the graph input is read
        "g (float[2] X) => (float[2] Y) <float[2] w = {1, 2}> { Y = Add(X, w) w = Relu(X) }"}) {
    ::onnx::ModelProto model = model_of(text);
    const std::string before = model.SerializeAsString();
    EXPECT_THAT(mend_model(model), IsEmpty()) << text;
    EXPECT_EQ(model.SerializeAsString(), before);
  }
}

TEST(MendModel, NodesThatNeedEachOtherStay) {
  for (const char* text : {"g (float[2] X) => (float[2] Y) { a = Add(X, b) b = Relu(a) Y = Relu(b) }",
                           "g (float[2] X) => (float[2] Y) { Y = Add(X, Y) }"}) {
    ::onnx::ModelProto model = model_of(text);
    const std::string before = model.SerializeAsString();
    EXPECT_THAT(mend_model(model), IsEmpty()) << text;
    EXPECT_EQ(model.SerializeAsString(), before);
  }
}

TEST(MendModel, BodiesAreSortedAndTheirReadsCount) {
  ::onnx::ModelProto model = model_of(
      "g (bool c, float[2] X) => (float[2] Y) { "
      "Y = If (c) <then_branch = t () => (float[2] y) { y = Relu(z) z = Add(h, h) }, "
      "else_branch = e () => (float[2] h) { }> "
      "h = Relu(X) }");
  EXPECT_THAT(messages(mend_model(model)),
              ElementsAre(AllOf(HasSubstr("then_branch of node 'If#0' (If): "), HasSubstr("needs 'z'")),
                          AllOf(HasSubstr("the graph: node 'If#0' (If) needs 'h'"))));
  EXPECT_EQ(order_of(model.graph().node()), "h Y");
  EXPECT_EQ(order_of(model.graph().node(1).attribute(0).g().node()), "z y");
}

TEST(MendModel, FunctionsAreSorted) {
  ::onnx::ModelProto model = model_of(
      "g (float[2] X) => (float[2] Y) { Y = ns.f(X) } "
      "<domain: \"ns\", opset_import: [\"\" : 14]> f (x) => (y) { y = Relu(z) z = Relu(x) }");
  EXPECT_THAT(messages(mend_model(model)), ElementsAre(HasSubstr("function ns.f: ")));
  EXPECT_EQ(order_of(model.functions(0).node()), "z y");
}

TEST(MendModel, ALongChainInReverseTakesNoTime) {
  ::onnx::ModelProto model = model_of("g (float[2] X) => (float[2] v0) { }");
  constexpr int length = 200'000;
  for (int i = 0; i < length; ++i) {
    auto* const node = model.mutable_graph()->add_node();
    node->set_op_type("Relu");
    node->add_input(i + 1 == length ? "X" : "v" + std::to_string(i + 1));
    node->add_output("v" + std::to_string(i));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(mend_model(model), testing::SizeIs(1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(model.graph().node(0).input(0), "X");
  EXPECT_EQ(model.graph().node(length - 1).output(0), "v0");
}

TEST(MendModel, KnownDomainsAreImported) {
  ::onnx::ModelProto model = model_of(
      "g (bool c, float[2] X) => (float[2] Y) { "
      "Y = If (c) <then_branch = t () => (float[2] y) { y = com.microsoft.Gelu(X) }, "
      "else_branch = e () => (float[2] z) { z = ai.onnx.ml.Scaler(X) }> n = other.Op(X) } "
      "<domain: \"ns\", opset_import: [\"\" : 14]> f (x) => (y) { y = com.microsoft.Gelu(x) }");
  EXPECT_THAT(messages(mend_model(model)),
              ElementsAre(HasSubstr("the graph uses operators of ai.onnx.ml"), HasSubstr("com.microsoft"),
                          HasSubstr("function ns.f uses operators of com.microsoft")));
  ASSERT_EQ(model.opset_import_size(), 3);
  EXPECT_EQ(model.opset_import(1).domain(), "ai.onnx.ml");
  EXPECT_EQ(model.opset_import(2).domain(), "com.microsoft");
  EXPECT_EQ(model.opset_import(2).version(), 1);
  EXPECT_EQ(model.functions(0).opset_import_size(), 2);
  EXPECT_THAT(mend_model(model), IsEmpty()) << "what is imported is not imported again";
}

}  // namespace
}  // namespace grurun::onnx_io
