// Lists and indices that name what is not there: what the file alone tells, a check tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "opset/check/check.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using ::testing::HasSubstr;

struct Listed {
  int opset;
  const char* model;
  const char* says;  // part of the finding; empty for a model that is right
};

const std::vector<Listed>& listed_models() {
  static const std::vector<Listed> all = {
      {9, "(float[2,3] X, bool[2] c) => (float[a,b] Y) { Y = Compress <axis = 2> (X, c) }",
       "attribute axis names axis 2, but must lie in [-r, r) of the input [2,3]"},
      {9, "(float[2,3] X, bool[2,1] c) => (float[a,b] Y) { Y = Compress <axis = 1> (X, c) }",
       "input condition is [2,1]; Compress-9 takes [n]"},
      {4, "(float[2,3] A, float[2,3] B) => (float[a,b] Y) { Y = Concat <axis = -100> (A, B) }",
       "attribute axis names axis -100"},
      {13, "(float[2,3] A, float[2,4] B) => (float[a,b] Y) { Y = Concat <axis = 0> (A, B) }",
       "input 1 is [2,4], which cannot be joined with [2,3] along axis 0"},
      {13, "(float[2,3] A, float[2,4] B) => (float[a,b] Y) { Y = Concat <axis = -1> (A, B) }", ""},
      {2, "(float[5] X) => (float[a] Y, float[b] Z) { Y, Z = Split <axis = 0> (X) }",
       "length 5 does not divide into 2 equal parts: state their lengths in split"},
      {2, "(float[4] X) => (float[a] Y, float[b] Z) { Y, Z = Split <axis = 0, split = [1, 2]> (X) }",
       "the parts in split sum to 3, but the axis has length 4"},
      {13, "(float[4] X) => (float[a] Y, float[b] Z) <int64[2] n = {5, -1}> { Y, Z = Split (X, n) }",
       "split holds -1: a length is not negative"},
      {13, "(float[4] X) => (float[a] Y, float[b] Z) <int64[3] n = {1, 1, 2}> { Y, Z = Split (X, n) }",
       "split states 3 parts, but there are 2 outputs"},
      {18, "(float[4] X) => (float[a] Y, float[b] Z) { Y, Z = Split (X) }",
       "neither of the input split and the attribute num_outputs is given: state one of them"},
      {18,
       "(float[4] X) => (float[a] Y, float[b] Z) <int64[2] n = {2, 2}> { Y, Z = Split <num_outputs = 2> (X, "
       "n) "
       "}",
       "both of the input split and the attribute num_outputs are given: state one of them"},
      {13, "(float[4] X, int64 e) => (float[a] Y) <int64[1] s = {0}> { Y = Slice (X, s, e) }",
       "input ends is []; Slice-13 takes [n], here [1]"},
      {13, "(float[4] X) => (float[a] Y) <int64[2] s = {0, 0}, int64[1] e = {1}> { Y = Slice (X, s, e) }",
       "input ends is [1]; Slice-13 takes [n], here [2]"},
      {13, "(float[4] X, int64[2] s, int64[2] e) => (float[a] Y) { Y = Slice (X, s, e) }",
       "2 axes are sliced, but data [4] has 1"},
      {11, "(float[2,2] X, int64 p) => (float[a,b] Y) { Y = Pad (X, p) }",
       "pads has 1 entries, but 2 axes need 4"},
      {13,
       "(float[4] X) => (float[a] Y) <int64[1] s = {0}, int64[1] e = {1}, int64[1] a = {0}, int64[1] z = "
       "{0}> "
       "{ Y = Slice (X, s, e, a, z) }",
       "steps holds 0"},
      {13,
       "(float[4,4] X) => (float[a,b] Y) <int64[2] s = {0, 0}, int64[2] e = {1, 1}, int64[2] a = {0, -2}> "
       "{ Y = Slice (X, s, e, a) }",
       "axes names axis 0 twice"},
      {14, "(float[3,3] X, int64[2] k) => (float[3,3] Y) { Y = Trilu (X, k) }",
       "input k is [2]; Trilu-14 takes a scalar"},
      {14, "(float[3] X) => (float[3] Y) { Y = Trilu (X) }", "Trilu-14 takes [...,N,M]"},
      {13, "(float[3,3] X) => (float[a,b] Y) <int64[2] p = {1, 1}> { Y = Pad (X, p) }",
       "pads has 2 entries, but 2 axes need 4"},
      {13, "(float[3] X) => (float[a] Y) <int64[2] p = {-2, -2}> { Y = Pad (X, p) }",
       "pads removes more than axis 0 of data [3] holds"},
      {18,
       "(float[3,3] X) => (float[a,b] Y) <int64[4] p = {1, 1, 1, 1}, int64[2] n = {0, -2}> { Y = Pad (X, p, "
       ", "
       "n) }",
       "axes names axis 0 twice"},
      {13, "(float[3] X) => (float[a] Y) <int64[1] i = {3}> { Y = Gather (X, i) }",
       "indices holds 3, but must lie in [-n, n), where n is 3"},
      {1, "(float[3] X) => (float[a] Y) <int64[1] i = {-1}> { Y = Gather (X, i) }",
       "indices holds -1, but Gather-1 takes non-negative numbers only"},
      {13, "(float[3] X) => (float[a] Y) <int64[1] i = {-4}> { Y = GatherElements (X, i) }",
       "indices holds -4, but must lie in [-n, n)"},
      {13, "(float[2,3] X, int64[3,1] i) => (float[a,b] Y) { Y = GatherElements <axis = 1> (X, i) }",
       "indices is [3,1]: it reaches beyond data [2,3] on axis 0"},
      {13, "(float[2,3] X) => (float[a] Y) <int64[1,2] i = {1, 3}> { Y = GatherND (X, i) }",
       "indices holds 3, but axis 1 has length 3"},
      {13, "(float[2,3] X, int64[1,3] i) => (float[a] Y) { Y = GatherND (X, i) }",
       "the last size of indices is 3, but must lie in [1, 2]"},
      {18, "(float[3] X, float[1] u) => (float[3] Y) <int64[1] i = {3}> { Y = ScatterElements (X, i, u) }",
       "indices holds 3, but must lie in [-n, n)"},
      {18, "(float[3] X, float[1] u) => (float[3] Y) <int64[1,1] i = {-4}> { Y = ScatterND (X, i, u) }",
       "indices holds -4, but axis 0 has length 3"},
      {10, "(float[4,2] X) => (float[4,2] Y) <int64[2] n = {4, 5}> { Y = ReverseSequence (X, n) }",
       "sequence_lens holds 5, but must lie in [0, 4]"},
      // "axes" of Squeeze may name one twice: no version forbids it. Unsqueeze: "an error if it contains
      // duplicates".
      {13, "(float[1,2,1] X) => (float[2] Y) <int64[3] a = {0, 2, 0}> { Y = Squeeze (X, a) }", ""},
      {13, "(float[1,2] X) => (float[a] Y) <int64[1] a = {1}> { Y = Squeeze (X, a) }",
       "axes names axis 1 of data [1,2], which is not of size 1"},
      {13, "(float[2] X) => (float[a,b,c] Y) <int64[2] a = {0, -3}> { Y = Unsqueeze (X, a) }",
       "axes names axis -3 twice"},
      {13, "(float[2] X) => (float[a,b] Y) <int64[1] a = {2}> { Y = Unsqueeze (X, a) }",
       "axes names axis 2, but must lie in [-r, r) of the output, whose rank r is 2"},
      // Squeeze-1 and Unsqueeze-1: "List of non-negative integers". Flatten: "[0, R]" before 11.
      {10, "(float[2,1] X) => (float[a] Y) { Y = Squeeze <axes = [-1]> (X) }",
       "attribute axes names axis -1, but Squeeze-1 takes non-negative axes only; negative ones count from "
       "the "
       "end since version 11: import opset 11 or newer"},
      {1, "(float[2,1] X) => (float[a] Y) { Y = Squeeze <axes = [-1]> (X) }",
       "attribute axes names axis -1, but Squeeze-1 takes non-negative axes only"},
      {10, "(float[2,1] X) => (float[a] Y) { Y = Squeeze <axes = [1]> (X) }", ""},
      {11, "(float[2,1] X) => (float[a] Y) { Y = Squeeze <axes = [-1]> (X) }", ""},
      {10, "(float[2] X) => (float[a,b] Y) { Y = Unsqueeze <axes = [0, -1]> (X) }",
       "attribute axes names axis -1, but Unsqueeze-1 takes non-negative axes only; negative ones count from "
       "the end since version 11: import opset 11 or newer"},
      {11, "(float[2] X) => (float[a,b] Y) { Y = Unsqueeze <axes = [-1]> (X) }", ""},
      {9, "(float[2,1] X) => (float[a,b] Y) { Y = Flatten <axis = -1> (X) }",
       "attribute axis names axis -1, but Flatten-9 takes non-negative axes only"},
      {11, "(float[2,1] X) => (float[a,b] Y) { Y = Flatten <axis = -1> (X) }", ""},
      {9, "(float[2,1] X) => (float[2,b] Y) { Y = Concat <axis = -1> (X, X) }", ""},
      {13, "(float[2] X) => (float[a,b] Y) <int64[2] s = {3, 3}> { Y = Expand (X, s) }",
       "input [2] cannot be expanded to [3,3]"},
      {13, "(float[2] X) => (float[a] Y) <int64[2] r = {1, 1}> { Y = Tile (X, r) }",
       "repeats has 2 entries, but input [2] has 1 axes"},
      {13, "(float[6] X) => (float[a,b] Y) <int64[2] s = {-1, -1}> { Y = Reshape (X, s) }",
       "shape has more than one -1"},
      {13, "(float[6] X) => (float[a,b] Y) <int64[2] s = {4, -1}> { Y = Reshape (X, s) }",
       "data is [6]: its 6 elements do not fill the shape [4,-1]"},
      {11, "(float[2] X, int64 d, float[3] v) => (float[a,b] Y) { Y = OneHot (X, d, v) }",
       "input values is [3]; OneHot-11 takes [2]"},
      {13, "(float[2] X) => (float[a] Y) <float[1] r = {0}, float[1] s = {0}> { Y = Resize (X, r, s) }",
       "scales holds 0, but must hold numbers above 0"},
      {11, "(float[2] X) => (float[a] Y) <float[0] r = {}, float[0] s = {}> { Y = Resize (X, r, s) }",
       "exactly one of scales and sizes must be given, but none are"},
      {9, "(float[2] X) => (float[a] Y) <float[1] s = {0.5}> { Y = Upsample (X, s) }",
       "scales holds 0.5, but must hold numbers from 1 on"},
      {11, "(float[2,3] X) => (seq(float[a,b]) Y) <int64[2] n = {1, 3}> { Y = SplitToSequence (X, n) }",
       "the parts in split sum to 4, but the axis has length 2"},
      {11,
       "(float[1,1,2] X) => (float[a,b,c] Y) { Y = ai.onnx.ml.Scaler <offset = [1.0], scale = [1.0]> (X) }",
       ""},
      {11,
       "(float[1,3] X) => (float[a,b] Y) { Y = ai.onnx.ml.Scaler <offset = [1.0, 2.0], scale = [1.0, 2.0]> "
       "(X) "
       "}",
       "X is [1,3]: it has 3 features, but the model is of 2"},
      // Nothing forbids more coefficients than classes and features need.
      {11,
       "(float[1,2] X) => (int64[a] Y, float[b,c] Z) { Y, Z = ai.onnx.ml.LinearClassifier <coefficients = "
       "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0], intercepts = [1.0, 2.0, 3.0], "
       "classlabels_ints = [0, 1, 2]> (X) }",
       ""},
      {11,
       "(float[1,2] X) => (int64[a] Y, float[b,c] Z) { Y, Z = ai.onnx.ml.LinearClassifier <coefficients = "
       "[1.0, 2.0, 3.0, 4.0], classlabels_ints = [0, 1, 2]> (X) }",
       "coefficients has 4 values, but 3 classes of 2 features need 6"},
  };
  return all;
}

TEST(ListRules, TellWhatARunRefuses) {
  for (const Listed& c : listed_models()) {
    SCOPED_TRACE(c.model);
    const CheckResult result =
        check_model(text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(c.opset) +
                         ", \"ai.onnx.ml\" : 1]> g " + c.model)());
    EXPECT_EQ(codes(result).contains("SHAPE001"), c.says != std::string()) << listed(result);
    EXPECT_THAT(listed(result), HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace grurun::opset
