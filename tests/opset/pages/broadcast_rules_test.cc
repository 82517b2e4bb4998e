// Shapes of element-wise operators before opset 7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "opset/check/check.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

struct Limited {
  int opset;
  const char* model;  // inputs, outputs and nodes
  const char* says;   // part of the finding; empty for a model that is right
};

const std::vector<Limited>& limited_models() {
  static const std::vector<Limited> all = {
      {6, "(float[2,3,4] A, float[2,3,4] B) => (float[2,3,4] C) { C = Add(A, B) }", ""},
      {6, "(float[2,3,4] A, float[4] B) => (float[2,3,4] C) { C = Add(A, B) }",
       "the inputs are [2,3,4] and [4], but must be of one shape"},
      {1, "(float[2,3,4] A, float[4] B) => (float[2,3,4] C) { C = Mul(A, B) }",
       "the inputs are [2,3,4] and [4], but must be of one shape"},
      {6, "(float[2,3,4] A, float[n,3,4] B) => (float[2,3,4] C) { C = Sub(A, B) }", ""},
      {6, "(float[2,3,4] A, float[4] B) => (float[2,3,4] C) { C = Add <broadcast = 1> (A, B) }", ""},
      {6, "(float[2,3,4] A, float[3,4] B) => (float[2,3,4] C) { C = Div <broadcast = 1> (A, B) }", ""},
      {6, "(float[2,3,4] A, float[2,3] B) => (float[2,3,4] C) { C = Div <broadcast = 1> (A, B) }",
       "the second input is [2,3], which is no contiguous part of the first, [2,3,4], from axis 1 on"},
      {6, "(float[2,3,4] A, float[2,3] B) => (float[2,3,4] C) { C = Div <broadcast = 1, axis = 0> (A, B) }",
       ""},
      {6, "(float[2,3,4] A, float[2,3] B) => (float[2,3,4] C) { C = Div <broadcast = 1, axis = 2> (A, B) }",
       "the second input is [2,3], which is no contiguous part of the first, [2,3,4], from axis 2 on"},
      {6, "(float[2,3,4] A, float[1,1] B) => (float[2,3,4] C) { C = Add <broadcast = 1, axis = 2> (A, B) }",
       ""},
      {6, "(float[2] A, float[1,1] B) => (float[2] C) { C = Add <broadcast = 1> (A, B) }",
       "the second input is [1,1], which is no contiguous part of the first, [2]"},
      {6, "(float[2,3] A, float[2] B) => (float[2,3] C) { C = Pow <broadcast = 1> (A, B) }",
       "the second input is [2]"},
      {6, "(bool[2,3] A, bool[2] B) => (bool[2,3] C) { C = And <broadcast = 1> (A, B) }",
       "the second input is [2]"},
      {6, "(float[2,3] A, float[2] B) => (bool[2,3] C) { C = Less <broadcast = 1> (A, B) }",
       "the second input is [2]"},
      {7, "(float[2,3] A, float[3] B) => (float[2,3] C) { C = Add(A, B) }", ""},
      {6, "(float[2,3] A, float[2,3] B) => (float[2,3] C) { C = Sum(A, B) }", ""},
      {6, "(float[2,3] A, float[3] B) => (float[2,3] C) { C = Sum(A, B) }",
       "input 1 is [3], but the first is [2,3]"},
      {1, "(float[2,3] A, float[1,3] B) => (float[2,3] C) { C = Max(A, B) }", "input 1 is [1,3]"},
      {6, "(float[2,3] A, float[3,4] B, float[4] C) => (float[2,4] Y) { Y = Gemm <broadcast = 1> (A, B, C) }",
       ""},
      {6, "(float[2,3] A, float[3,4] B, float[3] C) => (float[2,4] Y) { Y = Gemm <broadcast = 1> (A, B, C) }",
       "C is [3], which does not broadcast to [2,4]"},
      {6, "(float[2,3] A, float[3,4] B, float[4] C) => (float[2,4] Y) { Y = Gemm(A, B, C) }",
       "C is [4], but must be [2,4]: the attribute broadcast is not set"},
      {6, "(float[2,3,4] X, float[3] s) => (float[2,3,4] Y) { Y = PRelu(X, s) }", ""},
      {6, "(float[2,3,4] X, float[4] s) => (float[2,3,4] Y) { Y = PRelu(X, s) }",
       "slope is [4], but must hold one element, or one for each channel of X [2,3,4]"},
  };
  return all;
}

TEST(LimitedBroadcast, TellsShapesThatVersionsBeforeSevenDoNotTake) {
  for (const Limited& c : limited_models()) {
    SCOPED_TRACE(c.model);
    const CheckResult result = check_model(
        text("<ir_version: 4, opset_import: [\"\" : " + std::to_string(c.opset) + "]> g " + c.model)());
    if (c.says == std::string()) {
      EXPECT_EQ(listed(result), "");
    } else {
      EXPECT_TRUE(codes(result).contains("SHAPE001"));
      EXPECT_THAT(listed(result), testing::HasSubstr(c.says));
    }
  }
}

}  // namespace
}  // namespace grurun::opset
