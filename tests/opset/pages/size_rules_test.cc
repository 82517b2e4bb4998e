// Sizes that attributes and inputs settle together and ONNX's inference does not compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opset/check/check.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using testing::HasSubstr;

struct Sized {
  int opset;
  const char* model;  // inputs, outputs and nodes
  const char* says;   // part of the finding; empty for a model that is right
};

const std::vector<Sized>& sized_models() {
  static const std::vector<Sized> all = {
      {13, "(float[2,3,4] X) => (float[4,3,2] Y) { Y = Transpose <perm = [2, 1, 0]> (X) }", ""},
      {13, "(float[2,3,4] X) => (float[a,b] Y) { Y = Transpose <perm = [1, 0]> (X) }",
       "which is no permutation of the 3 axes of data [2,3,4]"},
      {11, "(float[1,4,5] X, float[6,2,3] W) => (float[1,6,3] Y) { Y = Conv <group = 2> (X, W) }", ""},
      {11, "(float[1,4,5] X, float[6,4,3] W) => (float[1,6,3] Y) { Y = Conv <group = 2> (X, W) }",
       "X has 4 channels and group is 2, but W is [6,4,3]"},
      {11, "(float[1,4,5] X, float[5,2,3] W) => (float[1,5,3] Y) { Y = Conv <group = 2> (X, W) }",
       "its 5 filters do not divide by group 2"},
      {11, "(float[1,4,5] X, float[6,4,3] W) => (float[1,6,3] Y) { Y = Conv <group = 0> (X, W) }",
       "group is 0"},
      {11, "(float[1,4,5] X, float[6,4,3] W) => (float[1,6,k] Y) { Y = Conv <kernel_shape = [2]> (X, W) }",
       "kernel_shape is not that of W, which is [6,4,3]"},
      {11,
       "(float[1,4,5] X, float[4,3,3] W, float[6] B) => (float[1,6,7] Y) { Y = ConvTranspose <group = 2> (X, "
       "W, B) }",
       ""},
      {11,
       "(float[1,4,5] X, float[4,3,3] W, float[3] B) => (float[1,6,7] Y) { Y = ConvTranspose <group = 2> (X, "
       "W, B) }",
       "B is [3], but must be [6]"},
      {13, "(float[1,8,2,2] X) => (float[1,2,4,4] Y) { Y = DepthToSpace <blocksize = 2> (X) }", ""},
      {13, "(float[1,6,2,2] X) => (float[1,b,4,4] Y) { Y = DepthToSpace <blocksize = 2> (X) }",
       "channels do not divide by blocksize 2 squared"},
      {13, "(float[1,2,5,4] X) => (float[a,b,c,d] Y) { Y = SpaceToDepth <blocksize = 2> (X) }",
       "height and width do not divide by blocksize 2"},
      {13, "(float[2,3] A, float[4,3] B, float[4] C) => (float[2,4] Y) { Y = Gemm <transB = 1> (A, B, C) }",
       ""},
      {13, "(float[2,3] A, float[4,3] B, float[3] C) => (float[2,4] Y) { Y = Gemm <transB = 1> (A, B, C) }",
       "C is [3], which does not broadcast to [2,4]"},
      {17, "(float[2,3,4] X, float[4] s, float[1] b) => (float[2,3,4] Y) { Y = LayerNormalization(X, s, b) }",
       ""},
      {17, "(float[2,3,4] X, float[3] s) => (float[2,3,4] Y) { Y = LayerNormalization(X, s) }",
       "Scale is [3], which does not broadcast to [2,3,4]"},
      {23, "(float[2,3,4] X, float[3] s) => (float[2,3,4] Y) { Y = RMSNormalization(X, s) }", "scale is [3]"},
      {16, "(float[2,3,4] X, float[3,1] s) => (float[2,3,4] Y) { Y = PRelu(X, s) }", ""},
      {16, "(float[2,3,4] X, float[3] s) => (float[2,3,4] Y) { Y = PRelu(X, s) }", "slope is [3]"},
      {14, "(float[2,6] X) => (float[3,4] Y) <int64[2] s = {3, 4}> { Y = Reshape(X, s) }", ""},
      {14, "(float[2,6] X) => (float[2,2,3] Y) <int64[3] s = {0, 2, -1}> { Y = Reshape(X, s) }", ""},
      {14, "(float[2,6] X) => (float[3,5] Y) <int64[2] s = {3, 5}> { Y = Reshape(X, s) }",
       "data is [2,6]: its 12 elements do not fill the shape [3,5]"},
      {14, "(float[2,6] X) => (float[a,b] Y) <int64[2] s = {0, 5}> { Y = Reshape(X, s) }", "the shape [2,5]"},
      {10, "(float[4,3] X, int64[3] l) => (float[4,3] Y) { Y = ReverseSequence(X, l) }", ""},
      {10, "(float[4,3] X, int64[4] l) => (float[4,3] Y) { Y = ReverseSequence(X, l) }",
       "sequence_lens is [4], but must be [3]"},
      {21,
       "(float[2,4,3] X, float[4] s, float[4] b) => (float[2,4,3] Y) { Y = GroupNormalization <num_groups = "
       "3> (X, s, b) }",
       "num_groups 3 does not divide the 4 channels"},
      {16, "(float[4,5] X, int64[3,1] i, float[3,5] u) => (float[4,5] Y) { Y = ScatterND(X, i, u) }", ""},
      {16, "(float[4,5] X, int64[3,1] i, float[3] u) => (float[4,5] Y) { Y = ScatterND(X, i, u) }",
       "updates is [3], but must be [3,5]"},
      {13, "(float[2,3] X, float[3] s) => (uint8[2,3] Y) { Y = QuantizeLinear(X, s) }", ""},
      {13, "(float[2,3] X, float[2] s) => (uint8[2,3] Y) { Y = QuantizeLinear(X, s) }",
       "y_scale is [2], but must be [3]"},
      {13, "(int8[2,3] X, float[3] s) => (float[2,3] Y) { Y = DequantizeLinear <axis = 0> (X, s) }",
       "x_scale is [3], but must be [2]"},
      {21,
       "(int8[2,6] X, float[2,2] s) => (float[2,6] Y) { Y = DequantizeLinear <axis = 1, block_size = 4> (X, "
       "s) }",
       ""},
      {21,
       "(int8[2,6] X, float[2,3] s) => (float[2,6] Y) { Y = DequantizeLinear <axis = 1, block_size = 4> (X, "
       "s) }",
       "x_scale is [2,3], but must be [2,2]"},
      {12, "(float[2,3] X, float[4,5] Z) => (float[2,5] Y) { Y = Einsum <equation = \"ij,jk->ik\"> (X, Z) }",
       "an index of equation 'ij,jk->ik' has the sizes 3 and 4"},
      {12, "(float[2,3] X, float[1,5] Z) => (float[2,5] Y) { Y = Einsum <equation = \"ij,jk->ik\"> (X, Z) }",
       ""},
      {11, "(float[3,2] X, bool[6] c) => (float[n] Y) { Y = Compress(X, c) }", ""},
      {11, "(float[3,2] X, bool[7] c) => (float[n] Y) { Y = Compress(X, c) }",
       "condition has 7 elements for 6 of input [3,2]"},
      {11, "(float[3,2] X, bool[3] c) => (float[3,n] Y) { Y = Compress <axis = -1> (X, c) }",
       "condition has 3 elements for 2 of input [3,2]"},
      {23,
       "(float[2,3,4,8] Q, float[2,3,6,8] K, float[2,3,6,8] V) => (float[2,3,4,8] Y) { Y = Attention "
       "<q_num_heads = 3> (Q, K, V) }",
       ""},
      {23,
       "(float[2,3,4,8] Q, float[2,3,6,8] K, float[2,3,6,8] V) => (float[2,3,4,8] Y) { Y = Attention "
       "<kv_num_heads = 1> (Q, K, V) }",
       "attribute kv_num_heads is 1, but the input [2,3,6,8] has 3 heads on axis 1"},
      {25,
       "(float[2,3,4,8] Q, float[2,3,6,8] K, float[2,3,6,8] V) => (float[2,3,4,8] Y) { Y = Attention "
       "<q_num_heads = 3> (Q, K, V) }",
       "attribute q_num_heads is for inputs of rank 3"},
      {19,
       "(float[1,3,3,3] X, float[1,3,2,2] W, float[1,16,2,2] o) => (float[1,1,2,2] Y) { Y = DeformConv "
       "<offset_group = 2> (X, W, o) }",
       "offset_group 2 does not divide the 3 channels"},
      {23,
       "(float[2,3,32] X, float[50,4] c, float[50,4] s, int64[2,3] p) => (float[2,3,32] Y) { Y = "
       "RotaryEmbedding <num_heads = 4> (X, c, s, p) }",
       ""},
      {23,
       "(float[2,3,32] X, float[50,4] c, float[50,4] s, int64[2,3] p) => (float[2,3,32] Y) { Y = "
       "RotaryEmbedding <num_heads = 5> (X, c, s, p) }",
       "num_heads 5 does not divide the last size of X, which is 32"},
      {23,
       "(float[2,3,32] X, float[50,4] c, float[50,4] s, int64[2,3] p) => (float[2,3,32] Y) { Y = "
       "RotaryEmbedding (X, c, s, p) }",
       "in rank 3 it needs attribute num_heads"},
      {23,
       "(float[2,4,3,8] X, float[50,4] c, float[50,4] s, int64[2,3] p) => (float[2,4,3,8] Y) { Y = "
       "RotaryEmbedding <rotary_embedding_dim = 10> (X, c, s, p) }",
       "10 elements of a head of 8 are to be turned"},
      {23,
       "(float[2,4,3,8] X, float[50,3] c, float[50,3] s, int64[2,3] p) => (float[2,4,3,8] Y) { Y = "
       "RotaryEmbedding (X, c, s, p) }",
       "cos_cache is [50,3]: its last size must be 4, half of the 8 elements that are turned"},
      {23,
       "(float[2,4,3,8] X, float[2,3,3] c, float[2,3,3] s) => (float[2,4,3,8] Y) { Y = RotaryEmbedding (X, "
       "c, "
       "s) }",
       "cos_cache is [2,3,3]: its last size must be 4"},
      {23,
       "(float[2,3,32] X, float[50,2] c, float[50,2] s, int64[2,3] p) => (float[2,3,32] Y) { Y = "
       "RotaryEmbedding <num_heads = 4, rotary_embedding_dim = 4> (X, c, s, p) }",
       ""},
      {23,
       "(float[2,3,32] X, float[50,4] c, float[50,4] s, int64[2,3] p) => (float[2,3,32] Y) { Y = "
       "RotaryEmbedding <num_heads = 4, rotary_embedding_dim = 4> (X, c, s, p) }",
       ""},
      {23,
       "(float[2,4,3,8] X, float[50,4] c, float[50,4] s, int64[3,3] p) => (float[2,4,3,8] Y) { Y = "
       "RotaryEmbedding (X, c, s, p) }",
       "position_ids has 3 rows for the 2 of X [2,4,3,8]"},
      {11, "(float[1,1,3] X, float[1,1,5] W) => (float[1,1,a] Y) { Y = Conv <pads = [1, 1]> (X, W) }", ""},
      {11, "(float[1,1,3] X, float[1,1,5] W) => (float[1,1,a] Y) { Y = Conv <strides = [2]> (X, W) }",
       "a window of extent 5 does not fit into spatial axis 0 of length 3 with pads 0 and 0"},
      {11, "(float[1,1,3] X, float[1,1,2] W) => (float[1,1,a] Y) { Y = Conv <dilations = [3]> (X, W) }",
       "a window of extent 4 does not fit"},
      {11,
       "(float[1,1,3] X, float[1,1,5] W) => (float[1,1,3] Y) { Y = Conv <auto_pad = \"SAME_UPPER\"> (X, W) }",
       ""},
      {17, "() => (float[4] Y) <int64 n = {4}> { Y = HannWindow (n) }", ""},
      {17, "() => (float[k] Y) <int64 n = {0}> { Y = HannWindow (n) }",
       "input size is 0, but must be at least 1"},
      {15,
       "(float[2,3] X, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] Y) { Y = "
       "BatchNormalization <training_mode = 1> (X, s, b, m, v) }",
       "training_mode is 1, which gives 3 outputs, but the node has 1"},
      {19,
       "(float[1,3,3,3] X, float[1,3,2,2] W, float[1,8,2,2] o, float[1] b, float[1,4,2,2] m) => "
       "(float[1,1,2,2] "
       "Y) { Y = DeformConv (X, W, o, b, m) }",
       ""},
      {19,
       "(float[1,3,3,3] X, float[1,3,2,2] W, float[1,10,2,2] o) => (float[1,1,2,2] Y) { Y = DeformConv (X, "
       "W, o) "
       "}",
       "offset is [1,10,2,2], but must be [1,8,2,2]"},
      {19,
       "(float[1,3,3,3] X, float[1,3,2,2] W, float[1,8,3,2] o) => (float[1,1,2,2] Y) { Y = DeformConv (X, W, "
       "o) "
       "}",
       "offset is [1,8,3,2], but must be [1,8,2,2]"},
      {17, "() => (float[4] Y) <int64 n = {4}> { Y = HannWindow (n) }", ""},
      {17, "() => (float[k] Y) <int64 n = {0}> { Y = HannWindow (n) }",
       "input size is 0, but must be at least 1"},
      {15,
       "(float[2,3] X, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] Y) { Y = "
       "BatchNormalization <training_mode = 1> (X, s, b, m, v) }",
       "training_mode is 1, which gives 3 outputs, but the node has 1"},
      {19,
       "(float[1,3,3,3] X, float[1,3,2,2] W, float[1,8,2,2] o, float[1] b, float[1,5,2,2] m) => "
       "(float[1,1,2,2] "
       "Y) { Y = DeformConv (X, W, o, b, m) }",
       "mask is [1,5,2,2], but must be [1,4,2,2]"},
  };
  return all;
}

TEST(SizeRules, TellWhatDoesNotFit) {
  for (const Sized& c : sized_models()) {
    SCOPED_TRACE(c.model);
    const CheckResult result = check_model(
        text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(c.opset) + "]> g " + c.model)());
    if (c.says == std::string()) {
      EXPECT_EQ(listed(result), "");
    } else {
      EXPECT_TRUE(codes(result).contains("SHAPE001"));
      EXPECT_THAT(listed(result), HasSubstr(c.says));
    }
  }
}

}  // namespace
}  // namespace grurun::opset
