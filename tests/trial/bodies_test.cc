// Bodies of If, Loop, Scan and SequenceMap: what a check and a run refuse of them, in the same words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "opset/findings/rules.h"
#include "tensor/error.h"
#include "tests/opset/model_text.h"
#include "trial/model_check.h"
#include "trial/trial.h"

namespace grurun::trial {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Value floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from(shape, values);
}
Value trips(std::int64_t count) {
  return Tensor::scalar(count);
}

std::string headed(int opset, const std::string& graph, int ir_version = 8) {
  return "<ir_version: " + std::to_string(ir_version) + ", opset_import: [\"\" : " + std::to_string(opset) +
         "]> g " + graph;
}

/// What a run of the model with these inputs ends with; empty where it ends well.
std::string refusal(const onnx_io::Model& model, const std::vector<Value>& inputs) {
  try {
    Trial(model, {}).run({"", inputs, {}});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
    return error.what();
  }
  return "";
}

std::string errors_of(const onnx_io::Model& model) {
  std::string all;
  for (const opset::Finding& finding : check_fully(model, CheckDepth::everything).findings)
    if (finding.severity == opset::Severity::error) all += finding.code + " " + finding.message + "\n";
  return all;
}

struct Row {
  std::string what;
  std::vector<int> opsets;
  std::string graph;
  std::vector<Value> inputs;
  std::string says;
  bool only_run = false;  // the file does not show it
};

const std::vector<int> if_opsets = {11, 13, 16, 19, 21, 23, 24, 25};
const std::vector<int> loop_opsets = {8, 11, 13, 16, 19, 21, 23, 24, 25};
const std::vector<int> scan_opsets = {9, 11, 16, 19, 21, 23, 24, 25};

std::vector<Row> refused() {
  const std::string loop = "(int64 n, float[2] s) => (float[a] y) { y = Loop (n, \"\", s) <body = b ";
  const std::string branches = "(bool c, float[2] x) => (float[a] y) { y = If (c) ";
  const std::string scan =
      "(float[2] s, float[3,2] xs) => (float[a] l, float[b,c] ys) { l, ys = Scan (s, xs) "
      "<num_scan_inputs = 1, body = b ";
  const std::vector<Value> looped = {trips(2), floats({2}, {1, 2})};
  const std::vector<Value> scanned = {floats({2}, {1, 2}), floats({3, 2}, {1, 2, 3, 4, 0, 6})};
  const Value yes = Tensor::scalar(true), no = Tensor::scalar(false);
  const std::vector<Value> chosen = {yes, floats({2}, {1, 2})}, other = {no, floats({2}, {1, 2})};
  const std::string both =
      "then_branch ('p'), but tensor(double) by else_branch ('q'): the return values of both branches";
  std::vector<Row> rows = {
      {"declared types", if_opsets,
       branches + "<then_branch = t () => (float[2] p) { p = Identity (x) }, "
                  "else_branch = e () => (double[2] q) { q = Cast <to = 11> (x) }> }",
       chosen, both},
      {"the other way", if_opsets,
       branches + "<then_branch = t () => (float[2] p) { p = Identity (x) }, "
                  "else_branch = e () => (double[2] q) { q = Cast <to = 11> (x) }> }",
       other, both},
      {"types left open",
       {11, 13, 16, 25},
       branches + "<then_branch = t () => (p) { p = Identity (x) }, "
                  "else_branch = e () => (q) { q = Cast <to = 11> (x) }> }",
       chosen,
       both},
      {"tensor and sequence",
       {13, 16, 25},
       branches + "<then_branch = t () => (p) { p = Identity (x) }, "
                  "else_branch = e () => (q) { q = SequenceConstruct (x) }> }",
       chosen,
       "output 0 is tensor(float) by then_branch ('p'), but seq(tensor(float)) by else_branch ('q')"},
      {"types in version 1",
       {1, 5},
       branches + "<then_branch = t () => (float[2] p) { p = Identity (x) }, "
                  "else_branch = e () => (double[2] q) { q = Cast <to = \"DOUBLE\"> (x) }> }",
       chosen,
       "output 0 is tensor(float) [2] by then_branch ('p'), but tensor(double) [2] by else_branch ('q')"},
      {"shapes in version 1",
       {1, 10},
       branches + "<then_branch = t () => (float[2] p) { p = Identity (x) }, "
                  "else_branch = e () => (float[4] q) { q = Concat <axis = 0> (x, x) }> }",
       chosen,
       "must be of the same shape and data type"},
      {"type of a state", loop_opsets,
       loop + "(int64 i, bool c, float[2] v) => (bool d, double[2] w) "
              "{ d = Identity (c) w = Cast <to = 11> (v) }> }",
       looped, "the body takes the state 'v' as tensor(float), but returns tensor(double) for it ('w')"},
      {"type of the iteration number", loop_opsets,
       loop + "(int32 i, bool c, float[2] v) => (bool d, float[2] w) { d = Identity (c) w = Neg (v) }> }",
       looped, "the body declares its input 'i' as tensor(int32), but is given tensor(int64)"},
      {"declared type of a state", loop_opsets,
       loop + "(int64 i, bool c, double[2] v) => (bool d, double[2] w) { d = Identity (c) w = Neg (v) }> }",
       looped, "the body declares its input 'v' as tensor(double), but is given tensor(float)"},
      {"cond", loop_opsets,
       loop + "(int64 i, bool c, float[2] v) => (d, float[2] w) { d = Identity (i) w = Neg (v) }> }", looped,
       "the body's cond must hold one bool, but is tensor(int64)"},
      {"number of inputs", loop_opsets,
       loop + "(int64 i, bool c) => (bool d, float[2] w) { d = Identity (c) w = Neg (s) }> }", looped,
       "the body 'b' of Loop must have 3 inputs and 2 outputs, but has 2 and 2"},
      {"type of a Scan's state", scan_opsets,
       scan +
           "(float[2] v, float[2] x) => (double[2] w, float[2] o) { w = Cast <to = 11> (v) o = Neg (x) }> }",
       scanned,
       "the body takes the state 'v' as tensor(float) [2], but returns tensor(double) [2] for it ('w')"},
      {"a Scan's state that grows", scan_opsets,
       scan + "(float[k] v, float[2] x) => (float[m] w, float[2] o) "
              "{ w = Concat <axis = 0> (v, x) o = Neg (x) }> }",
       scanned, "returns tensor(float) [4] for it ('w'): a state keeps its type and shape in all iterations"},
      {"declared shape of a scan input", scan_opsets,
       scan + "(float[2] v, float[3] x) => (float[2] w, float[3] o) { w = Neg (v) o = Neg (x) }> }", scanned,
       "the body declares its input 'x' as tensor(float) [3], but is given tensor(float) [2]"},
  };
  for (const char* what : {"type of a state", "type of the iteration number", "declared type of a state"}) {
    Row never = *std::ranges::find(rows, std::string(what), &Row::what);
    never.inputs[0] = trips(0);
    rows.push_back(std::move(never));
  }
  rows.push_back(
      {"what never runs",
       {13, 25},
       "(int64 n, float[2] x) => (float[a] y) { y = Loop (n, \"\", x) <body = b (int64 i, bool c, "
       "float[2] v) => (bool d, float[2] w) { d = Identity (c) w = If (d) <then_branch = t () => "
       "(float[2] p) { p = Neg (v) }, else_branch = e () => (double[2] q) { q = Cast <to = 11> (v) "
       "}> }> }",
       {trips(0), floats({2}, {1, 2})},
       both});
  const auto also = [&](Row row) { rows.push_back(std::move(row)); };
  const std::string rows_of =
      "(int64 n) => (float[a,b] rows) { rows = Loop (n, \"\") <body = b "
      "(int64 i, bool c) => (bool d, float[k] w) <int64[1] one = {1}> "
      "{ d = Identity (c) j = Add (i, one) w = ConstantOfShape (j) }> }";
  also({"scan output of a Loop that grows",
        {11, 13, 16, 19, 21, 23, 24, 25},
        rows_of,
        {trips(3)},
        "scan output 'rows' ('w' in the body) is tensor(float) [2] in iteration 1, but tensor(float) [1] in "
        "iteration 0",
        true});
  also({"scan output of a Scan that changes",
        scan_opsets,
        "(float[3,2] xs) => (int64[a,b,c] ys) { ys = Scan (xs) <num_scan_inputs = 1, body = b "
        "(float[2] x) => (int64[1,k] ys) { ys = NonZero (x) }> }",
        {scanned[1]},
        "scan output 'ys' is tensor(int64) [1,1] in iteration 2, but tensor(int64) [1,2] in iteration 0",
        true});
  also({"scan output of Scan-8",
        {8},
        "(float[1,3,2] xs) => (float[a,b,c] ys) { ys = Scan (\"\", xs) <num_scan_inputs = 1, body = b "
        "(float[2] x) => (float[k] o) { r = ReduceSum <keepdims = 1> (x) i = Cast <to = 7> (r) "
        "o = Tile (x, i) }> }",
        {floats({1, 3, 2}, {1, 0, 1, 1, 0, 0})},
        "in iteration 1, but",
        true});
  also({"state of Scan-8",
        {8},
        "(float[1,2] s, float[1,3,2] xs) => (float[a,b] l) { l = Scan (\"\", s, xs) <num_scan_inputs = 1, "
        "body = b (float[k] v, float[2] x) => (float[m] w) { w = Concat <axis = 0> (v, x) }> }",
        {floats({1, 2}, {1, 2}), floats({1, 3, 2}, {1, 2, 3, 4, 5, 6})},
        "a state keeps its type and shape"});
  also({"rank of a scan output",
        {13, 25},
        "(int64 n, float[2] x) => (float[a,b] rows) { rows = Loop (n, \"\") <body = b "
        "(int64 i, bool c) => (bool d, w) <int64 zero = {0}> { d = Identity (c) f = Equal (i, zero) "
        "w = If (f) <then_branch = t () => (float[2] p) { p = Identity (x) }, "
        "else_branch = e () => (float[1,2] q) <int64[1] a = {0}> { q = Unsqueeze (x, a) }> }> }",
        {trips(2), floats({2}, {1, 2})},
        "is tensor(float) [1,2] in iteration 1, but tensor(float) [2] in",
        true});
  also({"input of SequenceMap's body",
        {17, 25},
        "(seq(float[2]) s) => (seq(float[2]) y) { y = SequenceMap (s) <body = b (double[2] x) => (double[2] "
        "o) "
        "{ o = Neg (x) }> }",
        {Sequence{ValueType::tensor(DType::float32), {floats({2}, {1, 2})}}},
        "the body declares its input 'x' as tensor(double) [2], but is given tensor(float)"});
  return rows;
}

TEST(Bodies, ACheckAndARunRefuseInTheSameWords) {
  for (const Row& row : refused()) {
    for (const int opset : row.opsets) {
      const onnx_io::Model model = model_from_text(headed(opset, row.graph));
      EXPECT_THAT(refusal(model, row.inputs), HasSubstr(row.says)) << row.what << ", opset " << opset;
      if (row.only_run) continue;
      EXPECT_THAT(errors_of(model), HasSubstr(row.says)) << row.what << ", opset " << opset;
    }
  }
}

constexpr const char* initialized = "has the name of an input of that body, whose value comes from the node";

TEST(Bodies, AnInitializerOfABodyHasNoNameOfAnInput) {
  const Value yes = Tensor::scalar(true);
  const std::string loop =
      "(int64 n, float[1] s0) => (float[1] y) { y = Loop (n, \"\", s0) <body = b "
      "(int64 i, bool c, float[1] s) => (bool d, float[1] t) ";
  const std::string adds = " { t = Add (s, s) d = Identity (c) }> }";
  const std::vector<Value> looped = {trips(2), floats({1}, {5})};
  const std::string scan =
      "(float[1] s0, float[2,1] xs) => (float[1] l, float[2,1] ys) { l, ys = Scan (s0, xs) "
      "<num_scan_inputs = 1, body = b (float[1] s, float[1] x) => (float[1] t, float[1] o) ";
  const std::vector<Row> rows = {
      {"state", loop_opsets, loop + "<float[1] s = {100}>" + adds, looped, ""},
      {"iteration number", loop_opsets, loop + "<int64 i = {40}>" + adds, looped, ""},
      {"scan input",
       scan_opsets,
       scan + "<float[1] x = {100}> { t = Add (s, x) o = Identity (x) }> }",
       {floats({1}, {0}), floats({2, 1}, {1, 2})},
       ""},
      {"item",
       {17, 25},
       "(seq(float[1]) s) => (seq(float[1]) y) { y = SequenceMap (s) <body = b (float[1] x) => (float[1] o) "
       "<float[1] x = {100}> { o = Neg (x) }> }",
       {Sequence{ValueType::tensor(DType::float32), {floats({1}, {1})}}},
       ""},
      {"nested",
       {13, 25},
       "(bool k, int64 n, float[1] s0) => (float[1] z) { z = If (k) <then_branch = t () => (float[1] y) "
       "{ y = Loop (n, \"\", s0) <body = b (int64 i, bool c, float[1] s) => (bool d, float[1] u) "
       "<float[1] s = {100}> { u = Add (s, s) d = Identity (c) }> }, "
       "else_branch = e () => (float[1] q) { q = Identity (s0) }> }",
       {yes, trips(2), floats({1}, {5})},
       ""},
  };
  for (const Row& row : rows) {
    for (const int opset : row.opsets) {
      const onnx_io::Model model = model_from_text(headed(opset, row.graph));
      EXPECT_THAT(refusal(model, row.inputs), AllOf(HasSubstr(initialized), HasSubstr("GRAPH004")))
          << row.what << ", opset " << opset;
      EXPECT_THAT(errors_of(model), AllOf(HasSubstr(initialized), HasSubstr("GRAPH004")))
          << row.what << ", opset " << opset;
    }
  }
}

TEST(Bodies, ASparseInitializerOfABodyHasNoNameOfAnInput) {
  onnx::ModelProto proto = proto_from_text(
      headed(13,
             "(int64 n, float[1] s0) => (float[1] y) { y = Loop (n, \"\", s0) <body = b (int64 i, bool c, "
             "float[1] s) => (bool d, float[1] t) { t = Add (s, s) d = Identity (c) }> }"));
  auto& body = *proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto& sparse = *body.add_sparse_initializer();
  sparse.add_dims(1);
  sparse.mutable_values()->set_name("s");
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(1);
  sparse.mutable_values()->add_float_data(100);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(1);
  sparse.mutable_indices()->add_int64_data(0);
  const onnx_io::Model model = model_from_proto(proto);
  EXPECT_THAT(refusal(model, {trips(2), floats({1}, {5})}), HasSubstr(initialized));
  EXPECT_THAT(errors_of(model), HasSubstr(initialized));
}

TEST(Bodies, OfAFunctionHaveNoInitializerOfAnInputsNameEither) {
  const onnx_io::Model model = model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 13, \"f\" : 1]> g (int64 n, float[1] s0) => (float[1] y) "
      "{ y = f.twice (n, s0) } <domain: \"f\", opset_import: [\"\" : 13]> twice (n, s0) => (y) "
      "{ y = Loop (n, \"\", s0) <body = b (int64 i, bool c, float[1] s) => (bool d, float[1] t) "
      "<float[1] s = {100}> { t = Add (s, s) d = Identity (c) }> }");
  EXPECT_THAT(refusal(model, {trips(2), floats({1}, {5})}), HasSubstr(initialized));
  EXPECT_THAT(errors_of(model), HasSubstr(initialized));
}

// "Below IR version 4 an initializer is listed as a graph input", in a body behind the inputs that it is
// given.
TEST(Bodies, BelowIrVersion4ListInitializersBehindTheirInputs) {
  const std::string begin = "(int64 n, float[1] s0) => (float[1] y) { y = Loop (n, \"\", s0) <body = b ";
  const std::string end =
      " => (bool d, float[1] t) <float[1] one = {1}> "
      "{ t = Add (s, one) d = Identity (c) }> }";
  const std::vector<Value> inputs = {trips(2), floats({1}, {5})};
  const onnx_io::Model right =
      model_from_text(headed(8, begin + "(int64 i, bool c, float[1] s, float[1] one)" + end, 3));
  EXPECT_EQ(errors_of(right), "");
  EXPECT_EQ(Trial(right, {}).run({"", inputs, {}}).outputs.at(0).tensor().data<float>()[0], 7);
  const onnx_io::Model wrong =
      model_from_text(headed(8, begin + "(int64 i, bool c, float[1] one, float[1] s)" + end, 3));
  EXPECT_THAT(refusal(wrong, inputs), HasSubstr("list initializers behind the inputs"));
  EXPECT_THAT(errors_of(wrong), HasSubstr("list initializers behind the inputs"));
}

std::string warnings_of(const std::string& text) {
  std::string all;
  for (const opset::Finding& finding : check_fully(model_from_text(text), CheckDepth::everything).findings) {
    EXPECT_NE(finding.severity, opset::Severity::error) << finding.message;
    if (finding.severity == opset::Severity::warning)
      all += finding.code + " " + finding.node + ": " + finding.message + "\n";
  }
  return all;
}

TEST(Bodies, ThatHideOuterNamesAreWarnedOf) {
  EXPECT_THAT(
      warnings_of(headed(13,
                         "(int64 n, bool keep, float[1] a, float[1] b) => (float[1] y) "
                         "{ y = Loop (n, keep, b) <body = inner (int64 i, bool keep, float[1] b) => "
                         "(bool k, float[1] o) { o = Add (b, a) k = Identity (keep) }> }")),
      HasSubstr("GRAPH004 graph/Loop#0.body: input 'keep', input 'b' of the body 'inner' have each the "
                "name of a value of an outer scope, which the body then cannot see; rename them"));
  EXPECT_THAT(warnings_of(headed(13,
                                 "(int64 n, float[1] a, float[1] b) => (float[1] y) "
                                 "{ y = Loop (n, \"\", b) <body = inner (int64 i, bool c, float[1] s) => "
                                 "(bool k, float[1] o) <float[1] a = {1000}> "
                                 "{ o = Add (s, a) k = Identity (c) }> }")),
              HasSubstr("initializer 'a' of the body 'inner' has the name of a value of an outer scope"));
  // What comes later, or is the node's own output, is not visible in the body.
  EXPECT_EQ(warnings_of(headed(13,
                               "(int64 n, float[1] b) => (float[1] z) "
                               "{ y = Loop (n, \"\", b) <body = inner (int64 i, bool c, float[1] z) => "
                               "(bool k, float[1] y) { y = Neg (z) k = Identity (c) }> z = Neg (y) }")),
            "");
}

struct Unmade {
  std::string graph;
  std::vector<Value> inputs;
  DType type;
  Shape shape;
};

TEST(Bodies, ThatNeverRanGiveScanOutputsOfTheInferredType) {
  const auto ints = [](std::vector<std::int32_t> values) -> Value {
    return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
  };
  const std::vector<Unmade> rows = {
      {"<ir_version: 8, opset_import: [\"\" : 13, \"f\" : 1]> g (int64 n, int32[2] s) => (int32[a,b] y) "
       "{ y = f.each (n, s) } <domain: \"f\", opset_import: [\"\" : 13]> each (n, s) => (y) "
       "{ l, y = Loop (n, \"\", s) <body = b (i, c, v) => (d, w, o) "
       "{ d = Identity (c) w = Add (v, s) o = Identity (w) }> }",
       {trips(0), ints({1, 2})},
       DType::int32,
       Shape{0, 2}},
      {"<ir_version: 8, opset_import: [\"\" : 13, \"f\" : 1]> g (int64 n, int32[2] s) => (double[a,b] y) "
       "{ y = f.each <to = 11> (n, s) } <domain: \"f\", opset_import: [\"\" : 13]> each <to> (n, s) => (y) "
       "{ y = Loop (n, \"\") <body = b (i, c) => (d, o) "
       "{ d = Identity (c) o = Cast <to : int = @to> (s) }> }",
       {trips(0), ints({1, 2})},
       DType::float64,
       Shape{0, 2}},
      {headed(13,
              "(int64 n, int32[2] s) => (bool[a,b] y) { y = Loop (n, \"\") <body = b (int64 i, bool c) => "
              "(bool d, o) { d = Identity (c) f = Equal (s, s) o = If (c) <then_branch = t () => (p) "
              "{ p = Identity (f) }, else_branch = e () => (q) { q = Not (f) }> }> }"),
       {trips(0), ints({1, 2})},
       DType::boolean,
       Shape{0, 2}},
      {headed(13,
              "(float[0,3] xs) => (float[a,b] y) { y = Scan (xs) <num_scan_inputs = 1, body = b (x) => (o) "
              "{ o = Concat <axis = 0> (x, x) }> }"),
       {floats({0, 3}, {})},
       DType::float32,
       Shape{0, 6}},
      {headed(
           13,
           "(float[3,0] xs) => (float[a,b] y) { y = Scan (xs) <num_scan_inputs = 1, scan_input_axes = [1], "
           "scan_output_axes = [1], body = b (x) => (o) { o = Neg (x) }> }"),
       {floats({3, 0}, {})},
       DType::float32,
       Shape{3, 0}},
      {headed(13,
              "(int64 n, float[2] x) => (float y) { y = Loop (n, \"\") <body = b (int64 i, bool c) => "
              "(bool d, o) { d = Identity (c) k = NonZero (x) o = Cast <to = 1> (k) }> }"),
       {trips(0), floats({2}, {1, 2})},
       DType::float32,
       Shape{0, 1, 0}},
  };
  for (const Unmade& row : rows) {
    const onnx_io::Model model = model_from_text(row.graph);
    const Tensor made = Trial(model, {}).run({"", row.inputs, {}}).outputs.at(0).tensor();
    EXPECT_EQ(made.dtype(), row.type) << row.graph;
    EXPECT_EQ(made.shape(), row.shape) << row.graph << made.shape().to_string();
  }
}

TEST(RotaryEmbedding, ARunWarnsOfCachesThatServeEveryRow) {
  const onnx_io::Model model =
      model_from_text(headed(23,
                             "(float[n,2,5,4] X, float[m,5,2] c) => (float[n,2,5,4] Y) "
                             "{ s = Neg (c) Y = RotaryEmbedding (X, c, s) }",
                             10));
  for (const std::int64_t batch : {1, 3}) {
    std::string warnings;
    TrialOptions options;
    options.warn = [&](const opset::Finding& finding) { warnings += finding.code + " " + finding.message; };
    Trial(model, options)
        .run({"",
              {Tensor::zeros(DType::float32, Shape{batch, 2, 5, 4}),
               Tensor::zeros(DType::float32, Shape{1, 5, 2})},
              {}});
    if (batch == 1)
      EXPECT_EQ(warnings, "");
    else
      EXPECT_THAT(warnings, HasSubstr("FORM010 input cos_cache is [1,5,2], and X is [3,2,5,4]"));
  }
}

}  // namespace
}  // namespace grurun::trial
