#include "onnx_io/openvino/openvino_ir.h"

#include <gtest/gtest.h>

#include "onnx/onnx_pb.h"
#include "tensor/error.h"
#include "tests/onnx_io/ir_text.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

using testing::IrText;
using Floats = std::vector<float>;

/// Y = X + [1, 2].
IrText add_ir() {
  IrText ir;
  const int x = ir.parameter("X", {2});
  const int one = ir.constant<float>("one", {2}, {1, 2});
  ir.result("Y", ir.layer("sum", "Add", "opset1", R"(auto_broadcast="numpy")", {x, one}, {{2}}));
  return ir;
}

/// A GRUCell of 2 units on 3 inputs with these attributes and a B of that many elements.
IrText gru_ir(const std::string& data, int bias, const std::vector<int>& W = {6, 3}) {
  IrText ir;
  const int x = ir.parameter("X", {1, 3});
  const int h = ir.parameter("H", {1, 2});
  const int w = ir.constant("W", W, Floats(static_cast<std::size_t>(W[0] * W[1]), 0.5f));
  const int r = ir.constant("R", {6, 2}, Floats(12, 0.25f));
  std::vector<int> sources = {x, h, w, r};
  if (bias > 0) sources.push_back(ir.constant("B", {bias}, Floats(static_cast<std::size_t>(bias), 1.0f)));
  ir.result("Ho", ir.layer("gru", "GRUCell", "opset3", data, sources, {{1, 2}}));
  return ir;
}

Model load(const tests::Scratch& scratch, const std::string& xml, const std::string& weights) {
  scratch.file("m.bin", weights);
  return load_model(scratch.file("m.xml", xml));
}
Model load(const tests::Scratch& scratch, const IrText& ir) {
  return load(scratch, ir.xml(), ir.weights);
}

std::string error_of(const std::string& xml, const std::string& weights,
                     ErrorKind kind = ErrorKind::invalid_model) {
  const tests::Scratch scratch;
  try {
    load(scratch, xml, weights);
  } catch (const Error& error) {
    if (error.kind() != kind) return std::string("of another kind: ") + error.what();
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "the test is wrong: no " + from;
  return text.replace(at, from.size(), to);
}

TEST(OpenvinoIr, BecomesAModelOfPlainOperators) {
  const tests::Scratch scratch;
  const Model model = load(scratch, add_ir());
  EXPECT_EQ(model.opset_imports, (OpsetImports{{"", 22}}));
  EXPECT_EQ(model.producer_name, "OpenVINO IR 11");
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  EXPECT_EQ(model.graph.nodes[0].op_type, "Add");
  EXPECT_EQ(model.graph.nodes[0].name, "sum");
  EXPECT_EQ(model.graph.nodes[0].outputs, std::vector<std::string>{"Y"});
  ASSERT_EQ(model.graph.initializers.size(), 1u);
  EXPECT_EQ(model.graph.initializers[0].tensor.data<float>()[1], 2);
  EXPECT_EQ(model.graph.inputs[0].name, "X");
  EXPECT_EQ(to_string(*model.graph.inputs[0].type.shape), "[2]");
}

TEST(OpenvinoIr, LayersMayBeListedInAnyOrder) {
  const tests::Scratch scratch;
  IrText ir;
  ir.layer("sum", "Add", "opset1", "", {1, 2}, {{2}});
  ir.parameter("X", {2});
  ir.constant<float>("one", {2}, {1, 2});
  ir.result("Y", 0);
  EXPECT_EQ(load(scratch, ir).graph.nodes[0].op_type, "Add");
}

TEST(OpenvinoIr, WeightsStayInTheFileAndBiasesAreSpread) {
  const tests::Scratch scratch;
  const Model model = load(scratch, gru_ir(R"(hidden_size="2" linear_before_reset="1")", 8));
  const Tensor* const W = index_initializers(model.graph)["W"];
  ASSERT_NE(W, nullptr);
  EXPECT_EQ(W->shape(), (Shape{1, 6, 3}));
  const Tensor* const B = index_initializers(model.graph)["B"];
  ASSERT_NE(B, nullptr);
  const auto b = B->span<float>();
  // Wbz + Rbz, Wbr + Rbr, Wbh; then no Rbz and Rbr, and Rbh.
  EXPECT_EQ(Floats(b.begin(), b.end()), (Floats{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1}));
}

TEST(OpenvinoIr, ShapesMayLeaveSizesOpen) {
  const tests::Scratch scratch;
  for (const auto& [text, shape] :
       {std::pair{"?,3", "[?,3]"}, {"-1, 3", "[?,3]"}, {"1..8,3", "[?,3]"}, {"..,3", "[?,3]"}, {"", "[]"}}) {
    IrText ir = add_ir();
    const std::string xml =
        replaced(replaced(ir.xml(), R"(shape="2")", fmt::format("shape=\"{}\"", text)), "<dim>2</dim>", "");
    const Model model = load(scratch, xml, ir.weights);
    EXPECT_EQ(to_string(*model.graph.inputs[0].type.shape), shape) << text;
  }
}

TEST(OpenvinoIr, MalformedFilesGiveOneErrorEach) {
  const IrText ir = add_ir();
  const std::string xml = ir.xml();
  struct Row {
    std::string xml;
    std::string fragment;
  };
  const std::vector<Row> rows = {
      {xml.substr(0, xml.size() / 2), "not well-formed XML"},
      {"<?xml version=\"1.0\"?><html/>", "the root <html>"},
      {"<?xml version=\"1.0\"?>", "not well-formed XML"},
      {replaced(xml, "?>", "?><!DOCTYPE net [<!ENTITY a \"b\">]>"), "DOCTYPE"},
      {replaced(xml, "version=\"11\"", "version=\"x\""), "version is 'x'"},
      {replaced(xml, " version=\"11\"", ""), "no attribute version"},
      {replaced(xml, "<layers>", "<nothing>"), "not well-formed XML"},
      {"<net version=\"11\"></net>", "it has no layers"},
      {replaced(xml, "layer id=\"1\"", "layer id=\"0\""), "two layers have the id 0"},
      {replaced(xml, "layer id=\"1\"", "layer id=\"one\""), "id is 'one'"},
      {replaced(xml, "from-layer=\"0\"", "from-layer=\"77\""), "layer 77, which is not there"},
      {replaced(xml, "</edges>", "</edges><edges/>"), "<net> holds <edges> twice"},
      {replaced(xml, "</layers>", "</layers><layers/>"), "<net> holds <layers> twice"},
      {replaced(xml, "<data ", "<data/><data "), "holds <data> twice"},
      {xml + "<net/>", "something behind <net>"},
      {replaced(xml, "to-port=\"1\"", "to-port=\"9\""), "input port 9"},
      {replaced(xml, "from-port=\"0\"", "from-port=\"9\""), "output port 9"},
      {replaced(xml, "to-port=\"1\"", "to-port=\"0\""), "two edges lead to input port 0"},
      {replaced(xml, R"(<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>)", ""),
       "no edge leads to input port 0"},
      {replaced(xml, "<dim>2</dim>", "<dim>2x</dim>"), "<dim> is '2x'"},
      {replaced(xml, "<dim>2</dim>", "<dim>-5</dim>"), "dimension -5"},
      {replaced(xml, "<dim>2</dim>", "<dim>3</dim>"), "port 0 declares [3], but its value is [2]"},
      {replaced(xml, "shape=\"2\"", "shape=\"2,a\""), "attribute shape is 'a'"},
      {replaced(xml, "shape=\"2\"", "shape=\"-7\""), "negative"},
      {replaced(xml, "shape=\"2\" offset", "shape=\"?\" offset"), "sizes must be numbers"},
      {replaced(xml, "shape=\"2\" offset", "shape=\"9223372036854775807,9\" offset"), "port 0 declares"},
      {replaced(xml, "offset=\"0\"", "offset=\"4\""), "8 bytes at offset 4 of 'm.bin', which holds 8"},
      {replaced(xml, "offset=\"0\"", "offset=\"9223372036854775807\""), "which holds 8 bytes"},
      {replaced(xml, "offset=\"0\"", "offset=\"-4\""), "neither may be negative"},
      {replaced(xml, "offset=\"0\"", "offset=\"99999999999999999999\""), "no whole number of 64 bits"},
      {replaced(xml, "size=\"8\"", "size=\"7\""), "attribute size is 7, but float [2] takes 8 bytes"},
      {replaced(xml, "size=\"8\"", ""), "attribute size is missing"},
      {replaced(xml, "auto_broadcast=\"numpy\"", "auto_broadcast=\"some\""), "none, numpy or pdpd"},
      {replaced(xml, "opset1\"><data auto", "opset0\"><data auto"), "there is no opset0"},
  };
  for (const Row& row : rows) {
    const std::string error = error_of(row.xml, ir.weights);
    EXPECT_NE(error.find(row.fragment), std::string::npos) << row.fragment << "\n  " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(OpenvinoIr, DepthIsBounded) {
  std::string nested;
  for (int i = 0; i < 40; ++i) nested += "<a>";
  for (int i = 0; i < 40; ++i) nested += "</a>";
  IrText ir = add_ir();
  ir.inside = "<rt_info>" + nested + "</rt_info>";
  EXPECT_NE(error_of(ir.xml(), ir.weights).find("nested more than"), std::string::npos);
}

TEST(OpenvinoIr, ALayerMayNotDependOnItself) {
  IrText ir;
  ir.layer("a", "Relu", "opset1", "", {1}, {{2}});
  ir.layer("b", "Relu", "opset1", "", {0}, {{2}});
  ir.edges =
      R"(<edge from-layer="1" from-port="1" to-layer="0" to-port="0"/><edge from-layer="0" from-port="1" to-layer="1" to-port="0"/>)";
  EXPECT_NE(error_of(ir.xml(), "").find("layer 'a' (Relu of opset1) depends on itself"), std::string::npos);
}

TEST(OpenvinoIr, WeightsAreLookedForBesideTheModelOnly) {
  const tests::Scratch scratch;
  const IrText ir = add_ir();
  const std::string path = scratch.file("m.xml", ir.xml());
  const auto error = [&]() -> std::string {
    try {
      load_model(path);
    } catch (const Error& caught) {
      return caught.what();
    }
    return "no error";
  };
  EXPECT_NE(error().find("'m.bin' is not in the model's folder"), std::string::npos) << error();
  std::filesystem::create_symlink(scratch.file("elsewhere/w", ir.weights), scratch.path("m.bin"));
  EXPECT_NE(error().find("symbolic link"), std::string::npos) << error();
  std::filesystem::remove(scratch.path("m.bin"));
  scratch.file("m.bin", ir.weights.substr(0, 5));
  EXPECT_NE(error().find("which holds 5 bytes"), std::string::npos) << error();
  scratch.file("m.bin", ir.weights);
  EXPECT_EQ(error(), "no error");
}

TEST(OpenvinoIr, WhatIsNotReadIsUnsupported) {
  const IrText ir = add_ir();
  const std::string xml = ir.xml();
  const std::vector<std::pair<std::string, std::string>> rows = {
      {replaced(xml, "version=\"11\"", "version=\"7\""), "IR version 7"},
      {replaced(xml, "<edges>", "<pre-process/><edges>"), "<net> holds <pre-process>"},
      {replaced(xml, "<input>", "<body/><input>"), "holds <body>"},
      {replaced(xml, "<input>", "<input><other/>"), "<input> holds <other>"},
      {replaced(xml, "<layers>", "<layers><other/>"), "<layers> holds <other>"},
      {replaced(xml, "<edges>", "<edges><other/>"), "<edges> holds <other>"},
      {replaced(xml, "<edge ", "<edge way=\"1\" "), "<edge> has the attribute way"},
      {replaced(xml, "<layer ", "<layer way=\"1\" "), "<layer> has the attribute way"},
      {replaced(xml, "<port ", "<port way=\"1\" "), "<port> has the attribute way"},
      {replaced(xml, "type=\"Add\"", "type=\"TensorIterator\""),
       "operator TensorIterator of opset1 is not read"},
      {replaced(xml, "opset1\"><data auto", "extension\"><data auto"), "operators of 'extension'"},
      {replaced(xml, "auto_broadcast=\"numpy\"", "new_attribute=\"7\""), "attribute new_attribute=\"7\""},
      {replaced(xml, "f32\" shape=\"2\"/>", "string\" shape=\"2\"/>"), "elements of type 'string'"},
  };
  for (const auto& [text, fragment] : rows) {
    const std::string error = error_of(text, ir.weights, ErrorKind::unsupported);
    EXPECT_NE(error.find(fragment), std::string::npos) << fragment << "\n  " << error;
  }
}

TEST(OpenvinoIr, GruCellIsHeldToItsPage) {
  const std::string size = R"(hidden_size="2" )";
  struct Row {
    std::string data;
    int bias;
    std::string fragment;
  };
  const std::vector<Row> rows = {
      {size, 0, "no error"},
      {size, 6, "no error"},
      {size + R"(linear_before_reset="true")", 8, "no error"},
      {size + R"(linear_before_reset="False")", 6, "no error"},
      {size + R"(activations="" activations_alpha="" activations_beta="" clip="0")", 6, "no error"},
      {size + R"(activations="Sigmoid,tanh" activations_alpha="1, 2" clip="inf")", 6, "no error"},
      {size + R"(activations="relu, tanh, relu, tanh")", 6, "no error"},
      {"", 6, "attribute hidden_size is missing"},
      {R"(hidden_size="0")", 6, "attribute hidden_size is 0; it must be a positive integer"},
      {R"(hidden_size="2.0")", 6, "attribute hidden_size is '2.0'"},
      {R"(hidden_size="4294967296")", 6, "attribute hidden_size is 4294967296"},
      {R"(hidden_size="3")", 6,
       "input 1 (initial_hidden_state) is [1,2]; it must be [batch_size, hidden_size], here [1,3]"},
      {size, 8,
       "input 4 (B) is [8]; it must be [3*hidden_size], here [6] (4*hidden_size belongs to "
       "linear_before_reset, which is not set)"},
      {size + R"(linear_before_reset="1")", 6,
       "it must be [4*hidden_size], here [8] (3*hidden_size belongs to a layer without linear_before_reset"},
      // What the page's own example shows.
      {size + R"(linear_before_reset="1")", 12,
       "input 4 (B) is [12]; it must be [4*hidden_size], here [8] (the example on the page of GRUCell-3 has "
       "6*hidden_size, which the page's text contradicts)"},
      {size + R"(linear_before_reset="yes")", 6, "it must be true, false, 1 or 0"},
      {size + R"(activations="sigmoid, elu")", 6,
       "activations names 'elu'; it must be relu, sigmoid or tanh"},
      {size + R"(activations="sigmoid")", 6, "activations names 1 functions"},
      {size + R"(activations="sigmoid, tanh, relu, tanh")", 6, "activations names 4 functions"},
      {size + R"(activations_alpha="a")", 6, "attribute activations_alpha has 'a'"},
      {size + R"(clip="-1")", 6, "attribute clip is -1; it must be positive, or 0 for none"},
      {size + R"(clip="nan")", 6, "attribute clip is nan"},
      {size + R"(clip="")", 6, "attribute clip has ''"},
  };
  for (const Row& row : rows) {
    const IrText ir = gru_ir(row.data, row.bias);
    const std::string error = error_of(ir.xml(), ir.weights);
    EXPECT_NE(error.find(row.fragment), std::string::npos)
        << row.data << ": " << row.fragment << "\n  " << error;
  }
  const IrText wrong = gru_ir(size, 6, {5, 3});
  EXPECT_NE(error_of(wrong.xml(), wrong.weights)
                .find("input 2 (W) is [5,3]; it must be [3*hidden_size, input_size], here [6,3]"),
            std::string::npos);
}

// Each layer has rows of its own that are rearranged; a small file must not become a large model.
TEST(OpenvinoIr, ASmallFileDoesNotBecomeALargeModel) {
  IrText ir;
  const int x = ir.parameter("X", {1, 1000});
  const int h = ir.parameter("H", {1, 100});
  const int c = ir.parameter("C", {1, 100});
  ir.constant("W", {400, 1000}, Floats(400000, 0.5f));
  const int r = ir.constant("R", {400, 100}, Floats(40000, 0.5f));
  for (int i = 0; i < 50; ++i) {
    // The same bytes as another layer's.
    const int copy =
        ir.layer(fmt::format("W{}", i), "Const", "opset1",
                 R"(element_type="f32" shape="400,1000" offset="0" size="1600000")", {}, {{400, 1000}});
    ir.result(fmt::format("H{}", i),
              ir.layer(fmt::format("lstm{}", i), "LSTMCell", "opset4", R"(hidden_size="100")",
                       {x, h, c, copy, r}, {{1, 100}, {1, 100}}));
  }
  const std::string error = error_of(ir.xml(), ir.weights, ErrorKind::limit);
  EXPECT_NE(error.find("take far more than its weights"), std::string::npos) << error;
}

}  // namespace
}  // namespace grurun::onnx_io
