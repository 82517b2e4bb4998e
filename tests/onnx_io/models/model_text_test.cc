#include "onnx_io/models/model_text.h"

#include <gmock/gmock.h>

#include <string>

#include "onnx_io/models/model.h"
#include "tensor/error.h"

namespace grurun::onnx_io {
namespace {

using testing::HasSubstr;

constexpr const char* syntax =
    "<ir_version: 8, opset_import: [\"\" : 14]>\n"
    "g (float[2] X) => (float[2] Y) <float[2] w = {1.5, -2}> { h = Add(X, w) Y = Relu(h) }";

::onnx::ModelProto message() {
  ::onnx::ModelProto out;
  parse_text(ModelText::onnx, syntax, out);
  return out;
}

constexpr const char* protobuf_text = R"(ir_version: 8
opset_import { domain: "" version: 14 }
graph {
  node { input: "X" input: "w" output: "h" op_type: "Add" domain: "" }
  node { input: "h" output: "Y" op_type: "Relu" domain: "" }
  name: "g"
  initializer { dims: 2 data_type: 1 float_data: [1.5, -2] name: "w" }
  input { name: "X" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "Y" type { tensor_type { elem_type: 1 shape < dim { dim_value: 2 } > } } }
})";

constexpr const char* json = R"({"irVersion": "8", "opsetImport": [{"domain": "", "version": 14}], "graph": {
  "node": [{"input": ["X", "w"], "output": ["h"], "opType": "Add", "domain": ""},
           {"input": ["h"], "output": ["Y"], "op_type": "Relu", "domain": ""}],
  "name": "g", "initializer": [{"dims": [2], "dataType": 1, "floatData": [1.5, -2], "name": "w"}],
  "input": [{"name": "X", "type": {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimValue": "2"}]}}}}],
  "output": [{"name": "Y", "type": {"tensorType": {"elemType": 1, "shape": {"dim": [{"dimValue": 2}]}}}}]}})";

Model parse(const std::string& text) {
  return parse_model(text.data(), text.size(), "");
}

std::string text_error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
    return error.message();
  }
  return "no error";
}

TEST(ModelText, EachFormSaysTheSame) {
  const std::string license = "# a line of a license\n" + std::string(70, '#') + "\n\n";
  for (const std::string& text :
       {std::string(syntax), license + syntax, std::string(protobuf_text), license + protobuf_text,
        std::string(1000, '#') + "\n" + protobuf_text, std::string("\xEF\xBB\xBF") + protobuf_text,
        std::string(json), std::string("\r\n ") + json}) {
    const Model model = parse(text);
    EXPECT_EQ(model.proto->SerializeAsString(), message().SerializeAsString()) << text;
    EXPECT_EQ(model.graph.nodes.size(), 2u);
    EXPECT_EQ(model.opset_imports, (OpsetImports{{"", 14}}));
  }
}

TEST(ModelText, WhichTextItIs) {
  EXPECT_EQ(text_of("ir_version: 8"), ModelText::protobuf);
  EXPECT_EQ(text_of("graph {"), ModelText::protobuf);
  EXPECT_EQ(text_of("graph # c\n <"), ModelText::protobuf);
  EXPECT_EQ(text_of("# a comment that goes on"), ModelText::protobuf);
  EXPECT_EQ(text_of("{\"irVersion\""), ModelText::json);
  EXPECT_EQ(text_of("<\n  ir_version: 8"), ModelText::onnx);
  EXPECT_EQ(text_of("< # c\n opset_import : ["), ModelText::onnx);
  for (const char* other : {"", "  \n", "<?xml version='1.0'?>", "<net name=\"x\">", "hello, world",
                            "version https:", "8: x", "\x08\x07\x12\x07pytorch"})
    EXPECT_EQ(text_of(other), std::nullopt) << other;
}

TEST(ModelText, TheFirstFaultIsToldWithItsPlace) {
  EXPECT_THAT(text_error_of("ir_version: 8\ngraph {\n  nodes {}\n}"),
              HasSubstr("protobuf's text format: line 3, column 9: "));
  EXPECT_THAT(text_error_of("ir_version: 8\ngraph {"), HasSubstr("protobuf's text format: line 2"));
  EXPECT_THAT(
      text_error_of(
          "<ir_version: 8, opset_import: [\"\" : 14]>\ng (float[2] X) => (float[2] Y) {\n Y Relu(X) }"),
      HasSubstr("ONNX's text syntax: line 3, column "));
  EXPECT_THAT(text_error_of(std::string(syntax) + " more"), HasSubstr("ONNX's text syntax: line 2, column "));
  EXPECT_THAT(text_error_of("<ir_version: 99999999999999999999>"),
              HasSubstr("a number that is out of range"));
  EXPECT_THAT(text_error_of("{\"irVersion\": 8, \"grahp\": {}}"), HasSubstr("protobuf's JSON: "));
  EXPECT_THAT(text_error_of("{\"irVersion\": 8"), HasSubstr("protobuf's JSON: "));
  EXPECT_THAT(text_error_of("{}"), HasSubstr("without a graph"));
}

// Protobuf's parser merges them without a word.
TEST(ModelText, AFieldThatJsonGivesTwiceIsRefusedWithItsPlace) {
  const std::string good = json;
  EXPECT_EQ(text_error_of(good), "no error");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::pair<std::string, const char*> rows[] = {
      {R"({"graph": {"name": "a"}, "graph": {"name": "a"}})",
       "line 1, column 26: the key \"graph\" is given twice"},
      {R"({"graph": {"name": "a"}, "gr\u0061ph": {}})",
       "line 1, column 26: the key \"gr\\u0061ph\" is given"},
      {"{\n  graph: {},\n  'graph': {}}", "line 3, column 3: the key \"graph\" is given twice"},
      {changed(R"("opType": "Add")", R"("opType": "Add", "op_type": "Sub")"), "line 2, column "},
      {changed(R"("opType": "Add")", R"("opType": "Add",
"opType": "Add")"),
       "line 3, column 1: the key \"opType\" is given twice"},
      {changed(R"({"dimValue": 2})", R"({"dimValue": 2, "dimValue": 2})"),
       "the key \"dimValue\" is given twice"}};
  for (const auto& [text, place] : rows) EXPECT_THAT(text_error_of(text), HasSubstr(place)) << text;
}

// The parsers recurse: a file may not end the program.
TEST(ModelText, NestingHasABound) {
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  constexpr int times = 100'000;
  EXPECT_THAT(text_error_of("graph { " + repeated("node { attribute { g { ", times)),
              HasSubstr("protobuf's text format"));
  EXPECT_THAT(text_error_of("{\"graph\":" + repeated("{\"node\":[{\"attribute\":[{\"g\":", times)),
              HasSubstr("protobuf's JSON"));
  EXPECT_THAT(text_error_of("<ir_version: 8> g (" + repeated("seq(", times)),
              HasSubstr("more than 100 deep"));
  EXPECT_THAT(text_error_of("<ir_version: 8> g () => () " + repeated("{ y = If <a = b () => () ", times)),
              HasSubstr("more than 100 deep"));
  EXPECT_THAT(parse("<ir_version: 8, doc_string: \"" + repeated("({", 200) +
                    "\", opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) { Y = Relu(X) }")
                  .graph.nodes,
              testing::SizeIs(1));
}

}  // namespace
}  // namespace grurun::onnx_io
