// What a model may say to ONNX's shape inference: each of these once wrote beside a shape, looped for ever or
// took memory by a number in the model, or was told that what nobody knows is 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opset/check/check.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using testing::HasSubstr;

Make graph_of(int opset, const std::string& body) {
  return text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + "]> g " + body);
}

struct Refused {
  const char* what;
  Make model;
  const char* message;  // part of it
};

std::vector<Refused> refused_attributes() {
  const auto normalization = [](const std::string& axis) {
    return graph_of(
        17,
        "(float[2,3] X, float[3] s) => (float[2,3] Y, float[n,m] M, float[n,m] I) { [n] Y, M, I = "
        "LayerNormalization <axis = " +
            axis + "> (X, s) }");
  };
  const auto gather = [](int opset, const std::string& batch_dims) {
    return graph_of(opset, "(float[2,3,4] X, int64[2,1] i) => (float Y) { [n] Y = GatherND <batch_dims = " +
                               batch_dims + "> (X, i) }");
  };
  const auto split = [](const std::string& num_outputs) {
    return graph_of(18, "(float[6] X) => (float[a] Y, float[b] Z) { [n] Y, Z = Split <num_outputs = " +
                            num_outputs + "> (X) }");
  };
  return {
      {"an axis beyond every rank", normalization("9223372036854775807"),
       "attribute axis is 9223372036854775807"},
      {"an axis that is negative as int", normalization("2147483648"), "attribute axis is 2147483648"},
      {"an axis of the rank", normalization("2"),
       "attribute axis names axis 2, but must lie in [-r, r) of the input [2,3], whose rank r is 2"},
      {"a negative batch_dims", gather(13, "-128"), "attribute batch_dims is -128, but must not be negative"},
      {"a negative batch_dims before", gather(12, "-2"),
       "attribute batch_dims is -2, but must not be negative"},
      {"batch_dims of the rank", gather(13, "2"), "must be less than the rank of indices, which is 2"},
      {"an axis that is 0 as int",
       graph_of(14, "(float[2] X) => (float[4] Y) { [n] Y = Concat <axis = 4294967296> (X, X) }"),
       "attribute axis is 4294967296: no tensor has such an axis"},
      {"more parts than outputs", split("300000000"),
       "attribute num_outputs is 300000000, but the node has 2 outputs"},
      {"fewer parts than outputs", split("1"), "attribute num_outputs is 1, but the node has 2 outputs"},
      {"a negative size",
       graph_of(14, "(float[2] X) => (float[n] Y) <int64[2] p = {-3, 0}> { [n] Y = Pad(X, p) }"),
       "pads removes more than axis 0 of data [2] holds"},
  };
}

TEST(InferenceGuard, AttributesOutOfRangeAreFindingsOfTheirNode) {
  for (const Refused& c : refused_attributes()) {
    SCOPED_TRACE(c.what);
    const CheckResult result = check_model(c.model());
    EXPECT_TRUE(codes(result).contains("SHAPE001")) << listed(result);
    EXPECT_THAT(listed(result), HasSubstr("[graph/n]"));
    EXPECT_THAT(listed(result), HasSubstr(c.message));
  }
}

TEST(InferenceGuard, EquationsThatAreNoneAreFindingsOfTheirNode) {
  for (const int opset : {12, 28}) {
    for (const char* equation : {"i.", "i.j", ".....", "......", "......->", "...i...->i", "... ...->",
                                 "i..j->ij", "...ij.->ij", "i1", "i->j", "i,i", "i->ii"}) {
      SCOPED_TRACE(equation);
      const CheckResult result = check_model(
          graph_of(opset, std::string("(float[2] X) => (float[n] Y) { [n] Y = Einsum <equation = \"") +
                              equation + "\"> (X) }")());
      EXPECT_TRUE(codes(result).contains("SHAPE001")) << listed(result);
      EXPECT_THAT(listed(result), HasSubstr("[graph/n]"));
      EXPECT_THAT(listed(result), HasSubstr("equation '"));
    }
  }
}

TEST(InferenceGuard, WhatTheStandardAllowsPasses) {
  const Make allowed[] = {
      graph_of(
          17,
          "(float[2,3] X, float[3] s) => (float[2,3] Y, float[2,1] M) { Y, M = LayerNormalization <axis = "
          "-1> (X, s) }"),
      graph_of(13,
               "(float[2,3,4] X, int64[2,1] i) => (float[2,4] Y) { Y = GatherND <batch_dims = 1> (X, i) }"),
      graph_of(
          18,
          "(float[1] X) => (float[1] Y, float[n] Z, float[m] V) { Y, Z, V = Split <num_outputs = 3> (X) }"),
      graph_of(18, "(float[5] X) => (float[3] Y, float[2] Z) { Y, Z = Split <num_outputs = 2> (X) }"),
      graph_of(12,
               "(float[2,3] X, float[3,4] Z) => (float[2,4] Y) { Y = Einsum <equation = \"i j, jk -> ik\"> "
               "(X, Z) }"),
      graph_of(12, "(float[5,2,3] X) => (float[5,3,2] Y) { Y = Einsum <equation = \"...ij->...ji\"> (X) }"),
      // limit - start is no int32.
      graph_of(11,
               "(float X) => (int32[0] Y) <int32 s = {1000}, int32 l = {-2147483648}, int32 d = {1000}> "
               "{ Y = Range(s, l, d) }"),
  };
  for (const Make& model : allowed) EXPECT_EQ(listed(check_model(model())), "");
}

TEST(InferenceGuard, SizesThatAModelDeclaresTakeNoMemory) {
  for (const char* size : {"50000000", "9223372036854775807"}) {
    const CheckResult result = check_model(
        graph_of(8, std::string("(float[1] X, int64[") + size + "] s) => (float Y) { Y = Expand(X, s) }")());
    EXPECT_FALSE(codes(result).contains("SHAPE001")) << listed(result);
  }
}

// What nothing is known of is no fault: the outputs are unknown too.
TEST(InferenceGuard, WhatIsNotKnownIsNotTakenForZero) {
  const std::string types = "(float[2,3,n] Q, float[2,4,n] K, float[2,4,n] V) => ";
  const std::string packed = "Attention <q_num_heads = 2, kv_num_heads = 2> (Q, K, V) }";
  const Make allowed[] = {
      graph_of(19, "(float[1,2] X, int64[n] s) => (float[3,5] Y) { Y = Resize(X,,,s) }"),
      graph_of(19, "(float[1,2] X, int64[n] s) => (float[2,5] Y) { Y = Resize <axes = [0, 1]> (X,,,s) }"),
      graph_of(19,
               "(float[4,2] X, float[n,4] Z) => (float[12,6] Y) { s = Shape(Z) Y = Resize "
               "<keep_aspect_ratio_policy = \"not_smaller\"> (X,,,s) }"),
      graph_of(10, "(string[n,m] X) => (string[1,k] Y) { Y = StringNormalizer(X) }"),
      graph_of(23, types + "(float[2,3,8] Y) { Y = " + packed),
      graph_of(23,
               "(float[2,2,3,8] Q, float[2,2,k,8] K, float[2,2,k,8] V) => (float[2,2,3,8] Y, "
               "float[2,2,3,4] S) { Y, P, PV, S = Attention(Q, K, V) }"),
      graph_of(24,
               "(float[2,2,3,8] Q, float[2,2,1,8] K, float[2,2,1,8] V, float[2,2,p,8] k, float[2,2,p,8] "
               "v) => (float[2,2,3,8] Y, float[2,2,3,4] S) { Y, P, PV, S = Attention(Q, K, V,, k, v) }"),
      text("<ir_version: 10, opset_import: [\"\" : 26, \"ai.onnx.preview\" : 1]> g (float[2,2,3,8] X, "
           "int64[n] "
           "s) => (float[2,2,3,8] Y) { Q = Reshape(X, s) Y = ai.onnx.preview.FlexAttention(Q, X, X) }"),
  };
  for (const Make& model : allowed) EXPECT_EQ(listed(check_model(model())), "");
}

// ONNX's functions find other outputs, or fail.
TEST(InferenceGuard, WhatOnnxInfersWrongIsNoFault) {
  const Make allowed[] = {
      graph_of(12,
               "(float[1,1,6,6] X) => (float[1,1,2,2] Y) { Y = MaxPool <kernel_shape = [1,1], strides = "
               "[3,3], ceil_mode = 1> (X) }"),
      graph_of(23, "(float16[2,3] X, float[3] s) => (float[2,3] Y) { Y = RMSNormalization(X, s) }"),
      graph_of(18,
               "(float[2,3] X) => (float[2,5] Y) <int64[2] p = {1, 1}, int32[1] a = {1}> { Y = Pad(X, p, , "
               "a) }"),
      graph_of(11,
               "(float[1,1,5] X, float[1,1,3] W) => (float[1,1,3] Y) { Y = ConvTranspose <output_shape = "
               "[3]> (X, W) }"),
      graph_of(1, "(float[1,3,1] X) => (float[3] Y) { Y = Squeeze <axes = [2, 0]> (X) }"),
  };
  for (const Make& model : allowed) EXPECT_EQ(listed(check_model(model())), "");
}

struct Inferred {
  Make model;
  const char* shape;  // of m
};

TEST(InferenceGuard, WhatOnnxDoesNotInferFollowsFromTheText) {
  const auto transposed = [](const std::string& attributes) {
    return graph_of(11, "(float[N,4,5,6] X, float[4,3,2,2] W) => (int64[r] Y) { m = ConvTranspose <" +
                            attributes + "> (X, W) Y = Shape(m) }");
  };
  const Inferred rows[] = {
      {transposed("output_shape = [9, 12]"), "[N,3,9,12]"},
      {transposed("output_shape = [9, 12], group = 2"), "[N,6,9,12]"},
      {transposed("auto_pad = \"SAME_UPPER\", strides = [2, 3]"), "[N,3,10,18]"},
      {transposed("auto_pad = \"SAME_LOWER\", strides = [3, 1], output_padding = [1, 0]"), "[N,3,15,6]"},
      {graph_of(11,
                "(float[1,4,D] X, float[4,3,2] W) => (int64[r] Y) { m = ConvTranspose <auto_pad = "
                "\"SAME_UPPER\"> (X, W) Y = Shape(m) }"),
       "[1,3,?]"},
      {graph_of(18, "(float[N,3,4,4] X) => (int64[r] Y) { m = MeanVarianceNormalization(X) Y = Shape(m) }"),
       "[N,3,4,4]"},
      {graph_of(13,
                "(float[N,3,4,4] X) => (int64[r] Y) { m = MeanVarianceNormalization <axes = [1]> (X) Y = "
                "Shape(m) }"),
       "[N,3,4,4]"},
  };
  for (const Inferred& row : rows) {
    const CheckResult result = check_model(row.model());
    EXPECT_EQ(listed(result), "");
    EXPECT_EQ(to_string(*result.inferred.at("m").shape), row.shape);
  }
}

// Sizes that are names, in either order: each pair in the place of the axis that is broadcast.
TEST(InferenceGuard, NamesAreBroadcastByEveryOperatorThatBroadcasts) {
  struct Pair {
    const char *a, *b, *both;
  };
  const Pair pairs[] = {{"1", "B", "B"}, {"B", "1", "B"}, {"3", "B", "3"}, {"B", "3", "3"}, {"B", "B", "B"},
                        {"B", "C", "?"}, {"1", "3", "3"}, {"3", "1", "3"}, {"1", "1", "1"}};
  struct Operator {
    std::string types, node, rest;  // $a and $b: the two sizes; rest: of the output's shape
  };
  const Operator operators[] = {
      {"float[$a,2] X, float[$b,2] Z", "Add(X, Z)", ",2]"},
      {"float[$a,2] X, float[$b,2] Z", "Mod <fmod = 1> (X, Z)", ",2]"},
      {"float[$a,2] X, float[$b,2] Z", "Pow(X, Z)", ",2]"},
      {"float[$a,2] X, float[$b,2] Z", "Max(X, Z)", ",2]"},
      {"float[$a,2] X, float[$b,2] Z", "Sum(X, Z)", ",2]"},
      {"float[$a,2] X, float[$b,2] Z", "Mean(X, Z)", ",2]"},
      {"bool[2] c, float[$a,2] X, float[$b,2] Z", "Where(c, X, Z)", ",2]"},
      {"float[$a,2,3] X, float[$b,3,4] Z", "MatMul(X, Z)", ",2,4]"},
      {"int8[$a,2,3] X, int8[$b,3,4] Z", "MatMulInteger(X, Z)", ",2,4]"},
      {"float[$a,2,3] X, float[$b,3,4] Z", "Einsum <equation = \"...ij,...jk->...ik\"> (X, Z)", ",2,4]"},
      {"float[$a,2,3] X, float[$b,3,4] Z", "Einsum <equation = \"bij,bjk->bik\"> (X, Z)", ",2,4]"},
      {"float[$a,2] X, float[$b,2] Z", "Einsum <equation = \"...,...\"> (X, Z)", ",2]"},
  };
  const auto filled = [](std::string form, const Pair& pair) {
    for (const auto& [mark, size] : {std::pair{"$a", pair.a}, std::pair{"$b", pair.b}}) {
      const std::size_t at = form.find(mark);
      if (at != form.npos) form.replace(at, 2, size);
    }
    return form;
  };
  for (const Operator& each : operators) {
    for (const Pair& pair : pairs) {
      const std::string body =
          "(" + filled(each.types, pair) + ") => (int64[r] Y) { m = " + each.node + " Y = Shape(m) }";
      const CheckResult result = check_model(graph_of(14, body)());
      EXPECT_EQ(listed(result), "") << body;
      EXPECT_EQ(to_string(*result.inferred.at("m").shape), std::string("[") + pair.both + each.rest) << body;
    }
  }
}

TEST(InferenceGuard, WhatOnnxWasAboutToDoIsToldAsTheFault) {
  struct Told {
    Make model;
    const char* message;
  };
  const Told rows[] = {
      {graph_of(14, "(float[2,3] X) => (float[a,b,c] Y) <int64[3] s = {2, 3, 0}> { Y = Reshape(X, s) }"),
       "shape has a 0 at place 2, but data [2,3] has no dimension there to copy"},
      {graph_of(14, "(float[2,3] X, float[1,1,0] Z) => (float[a,b,c] Y) { s = Shape(Z) Y = Reshape(X, s) }"),
       "the shape has a 0 on an axis that data does not have"},
      {graph_of(14, "(float[2,3] X, float[2,4] Z) => (float[a,b] Y) { Y = Concat <axis = 0> (X, Z) }"),
       "input 1 is [2,4], which cannot be joined with [2,3] along axis 0"},
      {graph_of(14,
                "(float[2] X, float[3] Z) => (float[n] Y) { Y, U = Scan <num_scan_inputs = 1, body = b (s, "
                "float i) => (float[4] t, float e) { e = Identity(i) t = Concat <axis = 0> (s, s) }> "
                "(X, Z) }"),
       "the body takes the state 's' as tensor(float) [2], but returns tensor(float) [4]"},
  };
  for (const Told& row : rows) {
    const std::string found = listed(check_model(row.model()));
    EXPECT_THAT(found, HasSubstr(row.message));
    EXPECT_THAT(found, testing::Not(HasSubstr("merge shape info")));
  }
}

TEST(InferenceGuard, SparseInitializersAreDenseForNodes) {
  onnx::ModelProto proto = *graph_of(14, "(float[2,3] X) => (float[2,3] Y) { Y = Add(X, W) }")().proto;
  onnx::SparseTensorProto* sparse = proto.mutable_graph()->add_sparse_initializer();
  for (const int size : {2, 3}) sparse->add_dims(size);
  sparse->mutable_values()->set_name("W");
  sparse->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse->mutable_values()->add_dims(1);
  sparse->mutable_values()->add_float_data(1);
  sparse->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse->mutable_indices()->add_dims(1);
  sparse->mutable_indices()->add_int64_data(4);
  const std::string bytes = proto.SerializeAsString();
  const auto model = onnx_io::parse_model(bytes.data(), bytes.size(), "");
  EXPECT_FALSE(check_model(model).has_errors()) << listed(check_model(model));
}

// What an operator of an unknown domain makes has no type.
TEST(InferenceGuard, InputsWithoutATypeArePassedBy) {
  const auto model = [](const std::string& version, const std::string& type, const std::string& node) {
    return text("<ir_version: 10, opset_import: [\"\" : 21, \"ai.onnx.ml\" : " + version +
                ", \"who\" : 1]> g (float[2] X) => (" + type + " Y) { H = who.Unknown(X) Y = " + node + " }");
  };
  const std::string keys = "ai.onnx.ml.LabelEncoder <keys_int64s = [1], values_floats = [1.0]> (H)";
  const Make models[] = {
      model("5", "float[2,2]", "EyeLike <dtype = 1> (H)"),
      model("5", "bool[2]", "RegexFullMatch <pattern = \"a\"> (H)"),
      model("1", "int64[2]", "ai.onnx.ml.LabelEncoder <classes_strings = [\"a\"]> (H)"),
      model("2", "float[2]", keys),
      model("4", "float[2]", keys),
      model("1", "float[2]", "ai.onnx.ml.DictVectorizer <string_vocabulary = [\"a\"]> (H)"),
      model(
          "5", "float[2,1]",
          "ai.onnx.ml.TreeEnsemble <nodes_splits = float[1] {1.0}, nodes_modes = uint8[1] {0}, leaf_weights "
          "= float[2] "
          "{1.0, 2.0}, leaf_targetids = [0, 0], tree_roots = [0], nodes_featureids = [0], nodes_trueleafs = "
          "[1], nodes_truenodeids = [0], nodes_falseleafs = [1], nodes_falsenodeids = [1]> (H)"),
  };
  for (const Make& each : models) EXPECT_FALSE(codes(check_model(each())).contains("SHAPE001"));
}

// 2^32 as int is 0, and 2^31 negative: places before the first value.
TEST(InferenceGuard, HugeStepsOfSliceEnd) {
  for (const char* step : {"4294967296", "2147483648", "-4294967296", "9223372036854775807"}) {
    SCOPED_TRACE(step);
    const CheckResult result = check_model(graph_of(
        14, std::string("(float[2,3,4] X) => (int64[n] Y) <int64[1] a = {0}, int64[1] e = {3}, int64[1] x "
                        "= {0}, int64[1] t = {") +
                step + "}> { h = Shape(X) Y = Slice(h, a, e, x, t) }")());
    EXPECT_FALSE(result.has_errors()) << listed(result);
  }
}

}  // namespace
}  // namespace grurun::opset
