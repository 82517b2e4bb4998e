// Axes and lists with an entry for each axis or input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using testing::HasSubstr;

struct Named {
  int opset;
  std::string model;  // inputs, outputs and nodes
  const char* says;   // part of the finding; empty for a model that is right
};

// s [2], x and z [4,2] of which slices [2] are taken.
std::string scan(const std::string& attributes, const std::string& outputs = "S, Y") {
  return "(float[2] s, float[4,2] x, float[4,2] z) => (float[2] S, float[a,b] Y) { " + outputs +
         " = Scan <num_scan_inputs = 2, body = body (float[2] t, float[2] p, float[2] q) => (float[2] u, "
         "float[2] v) { u = Add(t, p) v = Add(t, q) }" +
         attributes + "> (s, x, z) }";
}

TEST(AxisRules, TellAxesAndListsThatDoNotFit) {
  const Named cases[] = {
      {13, "(float[2,3] X, int64[2,3] i) => (float[2,3] Y) { Y = GatherElements <axis = -2> (X, i) }", ""},
      {13, "(float[2,3] X, int64[2,3] i) => (float[2,3] Y) { Y = GatherElements <axis = 2> (X, i) }",
       "attribute axis names axis 2, but must lie in [-r, r) of the input [2,3], whose rank r is 2"},
      {18,
       "(float[2,3] X, int64[1,3] i, float[1,3] u) => (float[2,3] Y) { Y = ScatterElements <axis = -3> (X, "
       "i, u) }",
       "attribute axis names axis -3"},
      {9, "(float[2,3] X, int64[1,3] i, float[1,3] u) => (float[2,3] Y) { Y = Scatter <axis = 2> (X, i, u) }",
       "attribute axis names axis 2"},
      {22, "(float[2,3] X) => (float[2,3] Y) { Y = LpNormalization <axis = -1> (X) }", ""},
      {22, "(float[2,3] X) => (float[2,3] Y) { Y = LpNormalization <axis = 5> (X) }",
       "attribute axis names axis 5"},
      {18, "(float[2,3,4] X, int64[2] n) => (float[a,b,c] Y) { Y = CenterCropPad <axes = [0, -1]> (X, n) }",
       ""},
      {18, "(float[2,3,4] X, int64[2] n) => (float[a,b,c] Y) { Y = CenterCropPad (X, n) }",
       "input shape has 2 sizes for 3 axes"},
      {18, "(float[2,3,4] X, int64[2] n) => (float[a,b,c] Y) { Y = CenterCropPad <axes = [2, -1]> (X, n) }",
       "attribute axes names axis 2 twice"},
      {18, "(float[2,3,4] X, int64[1] n) => (float[a,b,c] Y) { Y = CenterCropPad <axes = [3]> (X, n) }",
       "attribute axes names axis 3"},
      {11,
       "(float[1,1,3,3] X, float[1,2,3,3] W) => (float[a,b,c,d] Y) { Y = ConvTranspose <strides = [3, 2], "
       "output_shape = [10, 8]> (X, W) }",
       ""},
      {11,
       "(float[1,1,3,3] X, float[1,2,3,3] W) => (float[a,b,c,d] Y) { Y = ConvTranspose <output_shape : ints "
       "= "
       "[]> (X, W) }",
       ""},
      {11,
       "(float[1,1,3,3] X, float[1,2,3,3] W) => (float[a,b,c,d] Y) { Y = ConvTranspose <strides = [3], "
       "output_shape = [10, 8]> (X, W) }",
       "attribute strides has 1 entries, but must have one for each of the 2 spatial axes"},
      {11,
       "(float[1,1,3,3] X, float[1,2,3,3] W) => (float[a,b,c,d] Y) { Y = ConvTranspose <output_shape = [10, "
       "8, 8]> (X, W) }",
       "attribute output_shape has 3 entries"},
      {22, "(float[1,1,3,3] X) => (float[1,1,2,2] Y) { Y = MaxPool <kernel_shape = [2, 2]> (X) }", ""},
      {22, "(float[1,1,3,3] X) => (float[a,b,c,d] Y) { Y = MaxPool <kernel_shape = [2]> (X) }",
       "attribute kernel_shape has 1 entries, but must have one for each of the 2 spatial axes"},
      {22,
       "(float[1,1,3,3] X) => (float[a,b,c,d] Y) { Y = AveragePool <kernel_shape = [2, 2], auto_pad = "
       "\"SAME_UPPER\", pads = [0, 0]> (X) }",
       "attribute pads has 2 entries, but must have one for each of the 4 ends of spatial axes"},
      {18,
       "(float[1,4,4] X) => (float[a,b,c,d] Y) <int64[2] i = {3, 3}, int64[2] k = {2, 2}> { Y = Col2Im "
       "<strides = [1]> (X, i, k) }",
       "attribute strides has 1 entries, but must have one for each of the 2 axes of image_shape"},
      {16, scan(", scan_input_directions = [0, 1], scan_output_directions = [1]"), ""},
      {16, scan(", scan_input_directions = [0]"),
       "attribute scan_input_directions has 1 entries, but must have one for each of the 2 scan inputs"},
      {16, scan(", scan_output_directions = [0, 1]"),
       "attribute scan_output_directions has 2 entries, but must have one for each of the 1 scan outputs"},
      {16, scan(", scan_input_directions = [0, 2]"), "scan_input_directions is 2, but Scan-16 knows 0, 1"},
  };
  for (const Named& c : cases) {
    SCOPED_TRACE(c.model);
    const CheckResult result = check_model(
        text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(c.opset) + "]> g " + c.model)());
    if (c.says == std::string()) {
      EXPECT_EQ(listed(result), "");
    } else {
      EXPECT_TRUE(codes(result).contains("SHAPE001") || codes(result).contains("SCHEMA013"))
          << listed(result);
      EXPECT_THAT(listed(result), HasSubstr(c.says));
    }
  }
}

}  // namespace
}  // namespace grurun::opset
