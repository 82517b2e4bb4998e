// Shapes of inputs that pages of operators state and ONNX's inference does not look at.
#include "opset/pages/input_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "opset/check/check.h"
#include "opset/schema/registry.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using testing::HasSubstr;

struct Case {
  int opset;
  const char* bad;   // inputs, outputs and nodes
  const char* says;  // part of the finding; empty for a model that is right
};

Make model_of(const Case& c) {
  return text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(c.opset) + "]> g " + c.bad);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // STFT
      {17, "(float[1,64,1] S, float[16] w) => (float[1,7,9,2] Y) <int64 s = {8}> { Y = STFT(S, s, w) }", ""},
      {17,
       "(float[b,64,2] S, float[16] w) => (float[b,7,16,2] Y) <int64 s = {8}> { Y = STFT <onesided = 0> (S, "
       "s, w) }",
       ""},
      {17, "(float[64] S, float[16] w) => (float[a,b,c,d] Y) <int64 s = {8}> { Y = STFT(S, s, w) }",
       "input signal is [64]; STFT-17 takes [batch_size,signal_length,1] or [batch_size,signal_length,2] or "
       "[batch_size,signal_length]"},
      {17, "(float[1,64,3] S, float[16] w) => (float[a,b,c,d] Y) <int64 s = {8}> { Y = STFT(S, s, w) }",
       "input signal is [1,64,3]"},
      {17, "(float[1,64,2] S, float[16] w) => (float[a,b,c,d] Y) <int64 s = {8}> { Y = STFT(S, s, w) }",
       "a complex signal has no onesided output"},
      {17, "(float[1,64,1] S, float[16,1] w, int64 s) => (float[a,b,c,d] Y) { Y = STFT(S, s, w) }",
       "input window is [16,1]; STFT-17 takes [n]"},
      {17, "(float[1,64,1] S, float[16] w, int64[1] s) => (float[a,b,c,d] Y) { Y = STFT(S, s, w) }",
       "input frame_step is [1]; STFT-17 takes []"},
      {17, "(float[1,64,1] S, int64 s, int64[1] l) => (float[a,b,c,d] Y) { Y = STFT(S, s, , l) }",
       "input frame_length is [1]; STFT-17 takes []"},
      {17, "(float[1,64,1] S, float[16] w) => (float[a,b,c,d] Y) <int64 s = {0}> { Y = STFT(S, s, w) }",
       "frame_step is 0, but must be positive"},
      {17, "(float[1,8,1] S, float[16] w) => (float[a,b,c,d] Y) <int64 s = {2}> { Y = STFT(S, s, w) }",
       "a frame of 16 does not fit in a signal of 8"},
      // 8 elements and a step of 16: floor of -8/16 is -1
      {17, "(float[1,8,1] S, float[16] w) => (float[1,0,9,2] Y) <int64 s = {16}> { Y = STFT(S, s, w) }", ""},
      {17,
       "(float[1,64,1] S, float[16] w) => (float[a,b,c,d] Y) <int64 s = {8}, int64 l = {32}> { Y = STFT(S, "
       "s, w, l) }",
       "frame_length is 32, but window has 16 elements"},
      // GridSample
      {16, "(float[1,3,4,4] X, float[1,2,5,2] G) => (float[1,3,2,5] Y) { Y = GridSample(X, G) }", ""},
      {16, "(float[1,3,4,4,4] X, float[1,2,2,2,3] G) => (float[a,b,c,d,e] Y) { Y = GridSample(X, G) }",
       "input X is [1,3,4,4,4]; GridSample-16 takes [N,C,H,W]"},
      {20, "(float[1,3,4,4,4] X, float[1,2,2,2,3] G) => (float[1,3,2,2,2] Y) { Y = GridSample(X, G) }", ""},
      {20, "(float[2,3,4,4] X, float[1,2,2,2] G) => (float[a,b,c,d] Y) { Y = GridSample(X, G) }",
       "input grid is [1,2,2,2]; GridSample-20 takes [N,D_out,...,r], here [2,D_out,?,r]"},
      // one for each kind of word
      {21,
       "(float[2,3,4] X, float[4] s, float[3] b) => (float[2,3,4] Y) { Y = GroupNormalization <num_groups = "
       "1> (X, s, b) }",
       "input scale is [4]; GroupNormalization-21 takes [C], here [3]"},
      {22, "(float[2,3,4] X, float[3] s, float b) => (float[2,3,4] Y) { Y = InstanceNormalization(X, s, b) }",
       "input B is []; InstanceNormalization-22 takes [C], here [3]"},
      {22,
       "(float[1,1,2,2] X, int64[1,2,2] I) => (float[a,b,c,d] Y) { Y = MaxUnpool <kernel_shape = [2, 2]> (X, "
       "I) }",
       "input I is [1,2,2]; MaxUnpool-22 takes [...], here [1,1,2,2]"},
      {13, "(float[2,3] X, int64[1,2] s) => (float[a,b] Y) { Y = Expand(X, s) }",
       "input shape is [1,2]; Expand-13 takes [n]"},
      {23,
       "(float[2,4,3,8] X, float[50,4] c, float[50,4] s) => (float[2,4,3,8] Y) { Y = RotaryEmbedding(X, c, "
       "s) }",
       "input position_ids is left out; RotaryEmbedding-23 takes [ids,seq], here [ids,3]"},
      {23,
       "(float[2,4,3,8] X, float[2,3,4] c, float[2,3,4] s, int64[2,3] p) => (float[2,4,3,8] Y) { Y = "
       "RotaryEmbedding(X, c, s, p) }",
       "RotaryEmbedding-23 takes"},
      {23,
       "(float[2,3,8] Q, float[2,4,5,8] K, float[2,4,5,8] V) => (float[a,b,c] Y) { Y = Attention "
       "<q_num_heads = 1, kv_num_heads = 1> (Q, K, V) }",
       "input K is [2,4,5,8]; Attention-23 takes [batch,k,k_hidden], here [2,k,k_hidden]"},
      {12, "(float[3,5,2] X, int64[3,4] t) => (float Y) { Y = SoftmaxCrossEntropyLoss(X, t) }",
       "input labels is [3,4]; SoftmaxCrossEntropyLoss-12 takes [N,...], here [3,2]"},
      {10,
       "(uint8[1,2,5] X, uint8[3,2,3] W, float x, float[2] w, float y, uint8 z) => (uint8[1,3,3] Y) { Y = "
       "QLinearConv(X, x, z, W, w, z, y, z) }",
       "input w_scale is [2]; QLinearConv-10 takes [M], here [3], or a scalar"},
      // what is not known is not judged
      {17, "(float[b,n,c] S, float[w] w, int64 s) => (float[b,f,k,2] Y) { Y = STFT(S, s, w) }", ""},
      {22,
       "(float[n,c,l] X, float[m] s, float[3] b) => (float[n,c,l] Y) { Y = InstanceNormalization(X, s, b) }",
       ""},
  };
  return all;
}

TEST(InputShapes, AreThoseThatPagesState) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.bad);
    const CheckResult result = check_model(model_of(c)());
    if (c.says == std::string()) {
      EXPECT_EQ(listed(result), "");
    } else {
      EXPECT_TRUE(codes(result).contains("SHAPE001"));
      EXPECT_THAT(listed(result), HasSubstr(c.says));
    }
  }
}

TEST(InputShapes, EveryEntryStandsForAVersionAndItsInputs) {
  for (const auto& [domain, page] : all_pages()) {
    for (const StatedShapes& stated : stated_shapes(*page)) {
      SCOPED_TRACE(std::string(page->op_type) + " " + std::string(stated.shapes));
      const SchemaInfo* schema = find_schema(std::string(page->op_type), std::string(domain), stated.since);
      ASSERT_NE(schema, nullptr);
      EXPECT_EQ(schema->since_version, stated.since);
      for (const std::string_view words : split_words(stated.shapes, " | "))
        EXPECT_LE(split_words(words, " ").size(), schema->inputs.size());
    }
  }
}

}  // namespace
}  // namespace grurun::opset
