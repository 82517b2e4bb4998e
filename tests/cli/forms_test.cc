// Forms that the standard forbids and that can mean one thing only: they run with a warning, check and suites
// list them, --strict refuses them.
#include "opset/pages/forms.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct FormCase {
  std::string code, model;
  std::string inputs;   // JSON
  std::string value;    // of output Y, JSON
  std::string message;  // part of it
  bool shows_in_file = true;
};

const std::vector<FormCase>& form_cases() {
  static const std::string head = "<ir_version: 8, opset_import: [\"\" : 13]> g ";
  static const std::string both =
      "<ir_version: 8, opset_import: [\"\" : 13, \"com.microsoft\" : 1, \"ai.onnx.ml\" : 3]> g ";
  static const std::string newer = "<ir_version: 10, opset_import: [\"\" : 23]> g ";
  static const std::string pair = R"({"X": {"dtype": "float", "data": [-1, 3]}})";
  static const std::string scalar = R"({"X": {"dtype": "float", "data": -2}})";
  static const std::string rows = R"({"X": {"dtype": "float", "data": [[1, 3]]}})";
  static const std::vector<FormCase> cases = {
      {"GRAPH002", head + "(float[2] X) => (float[2] Y) { Y = Neg(h) h = Relu(X) }", pair, "[-0.0, -3.0]",
       "needs 'h', which comes only later"},
      {"MODEL002",
       head +
           "(float[1,2] X) => (float[1,2] Y) { Y = ai.onnx.ml.Scaler <offset = [1.0], scale = [2.0]> (X) }",
       rows, "[0.0, 4.0]", "does not import it: opset 5 was taken"},
      {"FORM001", head + "(float[2] X) => (float[2] Y) <float[1] low = {0}> { [c] Y = Clip(X, low) }", pair,
       "[0.0, 3.0]", "input min is [1]; Clip-13 takes a scalar"},
      {"FORM001", head + "(float[2] X, float[1] L) => (float[2] Y) { [c] Y = Clip(X, L) }",
       R"({"X": {"dtype": "float", "data": [-1, 3]}, "L": {"dtype": "float", "data": [0]}})", "[0.0, 3.0]",
       "input min is [1]; Clip-13 takes a scalar"},
      {"FORM001",
       head + "(float[2] X) => (float[2] Y) <float[1] zero = {0}, float two = {2}> "
              "{ low = Clip(two, zero) Y = Clip(X, low) }",
       pair, "[2.0, 3.0]", "input min is [1]; Clip-13 takes a scalar"},
      {"FORM002",
       head + "(float X) => (float Y) <int64[1] axes = {0}> { [r] Y = ReduceSum <keepdims = 0> (X, axes) }",
       scalar, "-2.0", "axes names axis 0 of a scalar; ReduceSum-13 takes axes of data"},
      {"FORM002", head + "(float X) => (float Y) { [r] Y = ReduceL1 <axes = [-1], keepdims = 1> (X) }",
       scalar, "2.0", "axes names axis -1 of a scalar; ReduceL1-13"},
      {"FORM003",
       both + "(float[2,1,8] X) => (float[2,1,8] Y) <float[2,1,3,8] none = "
              "{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
              "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}, int32[2,1] lengths = {0, 0}, int32 total "
              "= {1}> "
              "{ [a] Y, key, value = com.microsoft.GroupQueryAttention <num_heads = 1, kv_num_heads = 1> "
              "(X, X, X, none, none, lengths, total) }",
       R"({"X": {"dtype": "float", "data": [[[1,2,3,4,5,6,7,8]], [[8,7,6,5,4,3,2,1]]]}})",
       "[[[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0]],[[8.0,7.0,6.0,5.0,4.0,3.0,2.0,1.0]]]",
       "input seqlens_k is [2,1]; GroupQueryAttention-1 takes [batch]"},
      {"FORM004",
       both + "(float[1,2] X) => (float[1,2] Y) <float[2] scale = {1, 1}> "
              "{ [s] Y, mean, deviation, sum = com.microsoft.SkipSimplifiedLayerNormalization <epsilon = "
              "0.0> (X, X, "
              "scale) }",
       R"({"X": {"dtype": "float", "data": [[1, 7]]}})", "[0.2, 1.4]", "output mean is named 'mean'"},
      {"FORM005",
       both +
           "(float[1,2] X) => (int64[1] L, float[1,1] Y) { [t] L, Y = ai.onnx.ml.TreeEnsembleClassifier "
           "<class_ids = [0, 0], class_nodeids = [0, 0], class_treeids = [0, 1], class_weights = [0.5, 0.5], "
           "classlabels_int64s = [7], nodes_falsenodeids = [0, 0], nodes_featureids = [0, 0], "
           "nodes_hitrates = [1.0, 1.0], nodes_missing_value_tracks_true = [0, 0], "
           "nodes_modes = [\"LEAF\", \"LEAF\"], nodes_nodeids = [0, 0], nodes_treeids = [0, 1], "
           "nodes_truenodeids = [0, 0], nodes_values = [0.0, 0.0], post_transform = \"NONE\"> (X) }",
       rows, "[[1.0]]", "there is one class label"},
      {"FORM006",
       head + "(float[1,2] X) => (float[1,2] Y) <float[2] scale = {1, 2}> "
              "{ [l] Y = LayerNormalization <epsion = 100.0> (X, scale) }",
       rows, "[[-0.999995, 1.99999]]", "has no attribute 'epsion', did you mean 'epsilon'?"},
      {"FORM007", head + "(float X) => (float Y) { Y = Neg(X) }", pair, "[1.0, -3.0]",
       "input 'X' is declared with the shape [] of a scalar, and given [2]", false},
      {"FORM008",
       both + "(float[1,1,2] X) => (float[1,1,2] Y) <float[2,6] weights = {1,0,1,0,1,0, 0,1,0,1,0,1}, "
              "float[6] bias = "
              "{0,0,0,0,0,0}> { [a] Y = com.microsoft.Attention <num_heads = 1, rotary_embedding_dim = 32> "
              "(X, weights, bias) }",
       R"({"X": {"dtype": "float", "data": [[[1, 3]]]}})", "[[[1.0, 3.0]]]",
       "rotary_embedding_dim is 32 without do_rotary"},
      {"FORM009",
       head + "(float[1,2] X) => (float[1,2] Y) <float[2] scale = {1, 1}> "
              "{ [s] Y = SimplifiedLayerNormalization <epsilon = 0.0> (X, scale) }",
       R"({"X": {"dtype": "float", "data": [[1, 7]]}})", "[0.2, 1.4]",
       "ONNX Runtime has one, which is taken"},
      {"FORM010",
       newer + "(float[2,1,1,2] X) => (float[2,1,1,2] Y) <float[1,1,1] cos = {0}, float[1,1,1] sin = {1}> "
               "{ [r] Y = RotaryEmbedding (X, cos, sin) }",
       R"({"X": {"dtype": "float", "data": [[[[1, 2]]], [[[3, 4]]]]}})", "[-2.0, 1.0, -4.0, 3.0]",
       "input cos_cache is [1,1,1], and X is [2,1,1,2]; RotaryEmbedding-23 takes one row for each row"},
      {"FORM010",
       newer +
           "(float[2,1,1,2] X, int64[b,s] P) => (float[2,1,1,2] Y) "
           "<float[2,1] cos = {1, 0}, float[2,1] sin = {0, 1}> { [r] Y = RotaryEmbedding (X, cos, sin, P) }",
       R"({"X": {"dtype": "float", "data": [[[[1, 2]]], [[[3, 4]]]]}, "P": {"dtype": "int64", "data": [[1]]}})",
       "[-2.0, 1.0, -4.0, 3.0]", "input position_ids is [1,1], and X is [2,1,1,2]", false},
      {"FORM012",
       both +
           "(float[2,2] X) => (float[2,2] Y) <int8[2,2] weights = {1,0,0,1}, float scale = {1}, float[1,1,2] "
           "bias = {100, 200}> { [q] Y = com.microsoft.DynamicQuantizeMatMul (X, weights, scale, , bias) }",
       R"({"X": {"dtype": "float", "data": [[0, 255], [255, 0]]}})", "[100.0, 455.0, 355.0, 200.0]",
       "input bias is [1,1,2]; DynamicQuantizeMatMul-1 takes [N]"},
      {"FORM012",
       both + "(uint8[1,2] A) => (float[1,2] Y) <int8[2,2] weights = {1,0,0,1}, float scale = {1}, "
              "float[1,2] bias "
              "= {100, 200}> { [q] Y = com.microsoft.MatMulIntegerToFloat (A, weights, scale, scale, , , "
              "bias) }",
       R"({"A": {"dtype": "uint8", "data": [[1, 2]]}})", "[101.0, 202.0]",
       "input bias is [1,2]; MatMulIntegerToFloat-1 takes [N]"},
      {"FORM011",
       newer + "(float[1,2] X) => (float[1,f,b,2] Y) <int64 step = {2}, float[2] window = {1, 1}> "
               "{ [s] Y = STFT (X, step, window) }",
       R"({"X": {"dtype": "float", "data": [[1, 3]]}})", "[4.0, 0.0, -2.0, 0.0]",
       "input signal is [1,2]; STFT-17 takes [batch_size,signal_length,1]"},
  };
  return cases;
}

class Forms : public CommandLine {
 protected:
  void write_case(const FormCase& form) {
    write_model("case/model.onnx", form.model);
    write("inputs.json", form.inputs);
  }
};

/// The numbers of nested lists, one after the other.
std::vector<double> numbers_in(const nlohmann::json& json) {
  if (json.is_number()) return {json.get<double>()};
  std::vector<double> out;
  for (const nlohmann::json& each : json) {
    const std::vector<double> inner = numbers_in(each);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

TEST_F(Forms, EachRowHasACase) {
  for (const opset::Form& form : opset::all_forms()) {
    const std::string code = opset::rule_info(form.rule).code;
    EXPECT_TRUE(std::ranges::any_of(form_cases(), [&](const FormCase& each) { return each.code == code; }))
        << code;
  }
}

TEST_F(Forms, RunWithAWarning) {
  for (const FormCase& form : form_cases()) {
    write_case(form);
    const Outcome run =
        grurun({"case/model.onnx", "-q", "--inputs", "inputs.json", "--save-outputs", "y.json"});
    EXPECT_EQ(run.code, 0) << form.code << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr("warning " + form.code), HasSubstr(form.message))) << form.code;
    if (run.code != 0) continue;
    const nlohmann::json made = nlohmann::json::parse(read("y.json"))["Y"];
    EXPECT_THAT(numbers_in(made["data"]), ::testing::Pointwise(::testing::DoubleNear(1e-5),
                                                               numbers_in(nlohmann::json::parse(form.value))))
        << form.code;
  }
}

TEST_F(Forms, ChecksAndSuitesListThem) {
  const std::string set = "case/test_data_set_0";
  for (const FormCase& form : form_cases()) {
    write_case(form);
    const Outcome check = grurun({"check", "case/model.onnx"});
    EXPECT_EQ(check.code, 0) << form.code << check.out;
    if (form.shows_in_file) {
      EXPECT_THAT(check.out, AllOf(HasSubstr("warning " + form.code), HasSubstr(form.message)));
    }
    std::filesystem::remove_all(path(set));
    ASSERT_EQ(grurun({"case/model.onnx", "-q", "--inputs", "inputs.json", "--save-inputs", set + "/",
                      "--save-outputs", set + "/"})
                  .code,
              0);
    const Outcome suite = grurun({"conformance", "case"});
    EXPECT_EQ(suite.code, 0) << form.code << suite.out;
    EXPECT_THAT(suite.out, HasSubstr(form.code));
    EXPECT_THAT(grurun({"conformance", "case", "--json", "-"}).out, HasSubstr(form.code));
  }
}

TEST_F(Forms, StrictRefusesThem) {
  const std::string set = "case/test_data_set_0";
  for (const FormCase& form : form_cases()) {
    write_case(form);
    const Outcome run = grurun({"case/model.onnx", "--strict", "-q", "--inputs", "inputs.json"});
    EXPECT_EQ(run.code, 3) << form.code << run.err;
    EXPECT_THAT(run.err, HasSubstr("[" + form.code + "]"));
    if (form.shows_in_file) {
      const Outcome check = grurun({"check", "--strict", "case/model.onnx"});
      EXPECT_EQ(check.code, 3) << form.code << check.out;
      EXPECT_THAT(check.out, HasSubstr("error " + form.code));
    }
    std::filesystem::remove_all(path(set));
    ASSERT_EQ(grurun({"case/model.onnx", "-q", "--inputs", "inputs.json", "--save-inputs", set + "/",
                      "--save-outputs", set + "/"})
                  .code,
              0);
    const Outcome suite = grurun({"conformance", "--strict", "case"});
    EXPECT_EQ(suite.code, 1) << form.code << suite.out;
    EXPECT_THAT(suite.out, AllOf(HasSubstr("invalid"), HasSubstr(form.code)));
  }
}

TEST_F(Forms, WhatIsNotOneOfThemIsStillRefused) {
  const std::string head = "<ir_version: 8, opset_import: [\"\" : 13, \"ai.onnx.ml\" : 3]> g ";
  write("inputs.json", R"({"X": {"dtype": "float", "data": [-1, 3]}})");
  write("scalar.json", R"({"X": {"dtype": "float", "data": 3}})");
  write_model("two.onnx", head + "(float[2] X) => (float[2] Y) <float[2] low = {0, 1}> { Y = Clip(X, low) }");
  EXPECT_TRUE(fails(grurun({"two.onnx", "--inputs", "inputs.json"}), 3, "invalid", "input min is [2]"));
  write_model("axis.onnx", head + "(float X) => (float Y) { Y = ReduceMax <axes = [1]> (X) }");
  EXPECT_TRUE(fails(grurun({"axis.onnx", "--inputs", "scalar.json"}), 3, "invalid", "names axis 1"));
  write_model(
      "newer.onnx",
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] X) => (float[2] Y) <float[2] s = {1, 1}> "
      "{ Y = LayerNormalization <epsion = 1.0> (X, s) }");
  EXPECT_TRUE(fails(grurun({"newer.onnx", "--inputs", "inputs.json"}), 3, "invalid", "[SCHEMA004]"));
  write_model("shape.onnx", head + "(float[3] X) => (float[3] Y) { Y = Neg(X) }");
  EXPECT_TRUE(fails(grurun({"shape.onnx", "--inputs", "inputs.json"}), 3, "invalid", "must have shape [3]"));
}

TEST_F(Forms, OtherCommandsRefuseThemToo) {
  write_model("m.onnx", form_cases()[2].model);
  write("inputs.json", form_cases()[2].inputs);
  EXPECT_EQ(grurun({"bench", "m.onnx", "--strict", "--runs", "1", "--min-time", "0"}).code, 3);
  EXPECT_EQ(grurun({"bench", "m.onnx", "--runs", "1", "--min-time", "0"}).code, 0);
  const std::vector<std::string> node = {
      "node", "Clip", "--input-shapes", "input:[2]", "--input-shapes", "min:[1]", "-o", "n"};
  EXPECT_EQ(grurun(node).code, 0);
  std::vector<std::string> strict = node;
  strict.back() = "n2";
  strict.push_back("--strict");
  EXPECT_TRUE(fails(grurun(strict), 2, "usage", "[FORM001]"));  // no valid case can be made
}

}  // namespace
}  // namespace grurun::cli::testing
