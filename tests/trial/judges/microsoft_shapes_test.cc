// Shapes that operators of com.microsoft do not take: a check and a run refuse them in the same words, which
// name the operator's own inputs.
#include "tests/trial/judges/same_words.h"

namespace grurun::trial {
namespace {

std::string nbits(const std::string& B, const std::string& scales, const std::string& more = "",
                  const std::string& inputs = "", int block_size = 32) {
  return "(float[2,32] A, uint8" + B + " B, float" + scales + " s" + more +
         ") => (Y) { Y = com.microsoft.MatMulNBits <K = 32, N = 3, bits = 4, block_size = " +
         std::to_string(block_size) + "> (A, B, s" + inputs + ") }";
}

void expect_all(const std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [model, says] : rows) expect_same_words({21, model, says}, ", \"com.microsoft\" : 1");
}

TEST(MicrosoftShapes, OfWeightsInBlocks) {
  expect_all({
      {nbits("[3,1,16]", "[3,1]"), ""},
      {nbits("[3,1,16]", "[3]"), ""},
      {nbits("[0,1,16]", "[3,1]"), ""},
      {nbits("[4,1,16]", "[3,1]"), "B is [4,1,16], but must be [3,1,16]: [N, k_blocks, blob_size]"},
      {nbits("[3,2,16]", "[3,1]"), "B is [3,2,16], but must be [3,1,16]"},
      {nbits("[3,1,8]", "[3,1]"), "B is [3,1,8], but must be [3,1,16]"},
      {nbits("[48]", "[3,1]"), "B is [48], but must be [3,1,16]"},
      {nbits("[3,2,8]", "[2,3]", "", "", 16), "scales is [2,3], but must be [3,2]: [N, k_blocks]"},
      {nbits("[3,1,16]", "[4,1]"), "scales is [4,1], but must be [3,1]"},
      {nbits("[3,1,16]", "[3,1]", ", uint8[3,2] z", ", z"), "zero_points is [3,2], but must be [3,1]"},
      {nbits("[3,1,16]", "[3,1]", ", float[3,2] z", ", z"), "zero_points is [3,2], but must be [3,1]"},
      {nbits("[3,1,16]", "[3,1]", ", int32[33] g", ", , g"), "g_idx is [33], but must be [32]"},
      {nbits("[3,1,16]", "[3,1]", ", float[1] b", ", , , b"), "bias is [1], but must be [3]: [N]"},
      {nbits("[3,1,16]", "[3,1]", ", float[2,3] b", ", , , b"), "bias is [2,3], but must be [3]"},
      {nbits("[3,2,10]", "[3,2]", "", "", 20), "block_size is 20, but must be a power of two"},
      {"(float[2,32] A, uint8[3,1,16] B, float[3,1] s) => (Y) <int32[32] g = {9" +
           [] {
             std::string zeros;
             for (int i = 1; i < 32; ++i) zeros += ", 0";
             return zeros;
           }() +
           "}> { Y = com.microsoft.MatMulNBits <K = 32, N = 3, block_size = 32> (A, B, s, , g) }",
       "g_idx holds 9, but must lie in [0, 1)"},
      {"(uint8[4,8] d, int64[2] i, float[4,1] s, uint8[4,1] z) => (Y) { Y = "
       "com.microsoft.GatherBlockQuantized <block_size = 16> (d, i, s, z) }",
       ""},
      {"(uint8[4,8] d, int64[2] i, float[4,1] s, uint8[4,2] z) => (Y) { Y = "
       "com.microsoft.GatherBlockQuantized <block_size = 16> (d, i, s, z) }",
       "zero_points is [4,2], but must be [4,1]"},
      {"(uint8[4,8] d, int64[2] i, float[4,2] s) => (Y) { Y = com.microsoft.GatherBlockQuantized "
       "<block_size = 16> (d, i, s) }",
       "scales is [4,2], but must be [4,1]"},
      {"(uint8[4,8] d, int64[2] i, float[1,8] s) => (Y) { Y = com.microsoft.GatherBlockQuantized "
       "<block_size = 16, quantize_axis = 0> (d, i, s) }",
       "quantize_axis and gather_axis are both 0"},
  });
}

TEST(MicrosoftShapes, OfNormalizationsAndActivations) {
  const std::string skips = "com.microsoft.SkipLayerNormalization(x, s, g)";
  expect_all({
      {node("float[1,2,8] x, float[2,8] s, float[8] g", skips), ""},
      {node("float[3,2,8] x, float[1,2,8] s, float[8] g", skips), ""},
      {node("float[1,2,8] x, float[1,3,8] s, float[8] g", skips), "input skip is [1,3,8]"},
      {node("float[1,2,8] x, float[1,2,8] s, float[1] g", skips), "input gamma is [1]"},
      {node("float[1,2,8] x, float[1,2,8] s, float[2,8] g", skips), "input gamma is [2,8]"},
      {node("float[1,2,8] x, float[1,2,8] s, float[8] g, float[1] b",
            "com.microsoft.SkipSimplifiedLayerNormalization(x, s, g, b)"),
       "input bias is [1]"},
      {node("float[2,3] x, float[2,3] b", "com.microsoft.BiasGelu(x, b)"), "input B is [2,3]"},
      {node("float[2,3] x, float[1] b", "com.microsoft.BiasGelu(x, b)"), "input B is [1]"},
      {node("float[2,3] x, float[2,1] b", "com.microsoft.FastGelu(x, b)"), "input bias is [2,1]"},
  });
}

TEST(MicrosoftShapes, OfEmbeddings) {
  const std::string embeds = "com.microsoft.EmbedLayerNormalization(i, s, w, p, e, g, b";
  const std::string tables = ", float[5,4] w, float[6,4] p, float[2,4] e, float[4] g, float[4] b";
  const std::string turns = "com.microsoft.RotaryEmbedding(x, p, c, s)";
  expect_all({
      {node("int32[2,3] i, int32[2,3] s" + tables, embeds + ")"), ""},
      {node("int32[1,2] i, int32[1,1] s" + tables, embeds + ")"), "input segment_ids is [1,1]"},
      {node("int32[1,7] i, int32[1,7] s" + tables, embeds + ")"),
       "position_embedding is [6,4], but must have a row for each of the 7 places"},
      {node("int32[2,3] i, int32[2,3] s, int32[1,2] q" + tables, embeds + ", , q)"), "position_ids is [1,2]"},
      {"(int32[1,1] s, float[5,4] w, float[6,4] p, float[2,4] e, float[4] g, float[4] b) => (Y) <int32[1,1] "
       "i = {5}> { Y = " +
           embeds + ") }",
       "input_ids holds 5, but word_embedding has 5 rows"},
      {node("float[2,3,16] x, int64[2,3] p, float[4,4] c, float[4,4] s", turns), ""},
      {node("float[2,4,3,16] x, int64[2,3] p, float[4,6] c, float[4,6] s", turns),
       "cos_cache is [4,6], but must have 8 columns"},
      {node("float[2,3,16] x, int64[1,3] p, float[4,4] c, float[4,4] s", turns), "position_ids is [1,3]"},
      {"(float[2,5,16] x, float[4,4] c, float[4,4] s) => (Y) <int64[1] p = {0}> { Y = " + turns + " }",
       "position_ids holds 0, but cos_cache has 4 rows for 5 places from there on"},
  });
}

TEST(MicrosoftShapes, OfAttention) {
  const std::string words = "float[2,2,4] x, float[4,12] w, float[12] b";
  const std::string attends = "com.microsoft.Attention <num_heads = 2> (x, w, b";
  const std::string q = "float[2,2,8] q, float[2,3,8] k, float[2,3,8] v";
  const std::string heads = "com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v";
  expect_all({
      {node(words, attends + ")"), ""},
      {node(words + ", int32[2,1] m", attends + ", m)"), ""},
      {node(words + ", int32[8] m", attends + ", m)"), ""},
      {node(words + ", int32[2,3] m", attends + ", m)"), "mask_index is [2,3], but must be one of"},
      {node(words + ", int32[1,2] m", attends + ", m)"), "mask_index is [1,2], but must be one of"},
      {node(words + ", float[2,2,3,1,2] p", attends + ", , p)"),
       "past is [2,2,3,1,2], but must be [2,2,2,?,2]"},
      {node("float[2,2,4] x, float[4,12] w, float[6] b", attends + ")"), "input bias is [6]"},
      {node(q, heads + ")"), ""},
      {node(q + ", float[25] b", heads + ", b)"),
       "bias is [25], but must be [24]: hidden_size + hidden_size + v_hidden_size"},
      {node(q + ", int32[2,2] m", heads + ", , m)"),
       "key_padding_mask is [2,2], but must be one of [batch_size, total_sequence_length] [2,3]"},
      {node(q + ", int32[1,3] m", heads + ", , m)"), "key_padding_mask is [1,3]"},
      {node(q + ", float[2,2,2,2] a", heads + ", , , a)"),
       "attention_bias is [2,2,2,2], but must be [batch_size or 1, num_heads or 1, sequence_length, "
       "total_sequence_length], here [2,2,2,3]"},
      {node(q + ", float[2,3] a", heads + ", , , a)"), "attention_bias is [2,3]"},
  });
}

TEST(MicrosoftShapes, OfCaches) {
  const auto query = [](const std::string& inputs, const std::string& last, const std::string& total) {
    return "(float[1,1,4] x, float[1,1,4,4] p" + inputs + ") => (Y) <int32[1] n = {" + last +
           "}, int32[1] t = {" + total +
           "}> { Y, K, V = com.microsoft.GroupQueryAttention <num_heads = 1, kv_num_heads = 1> (x, x, x, p, "
           "p, n, "
           "t) }";
  };
  expect_all({
      {query("", "4", "5"), ""},
      {query("", "2", "4"), ""},
      {query("", "-1", "4"), "seqlens_k[0] is -1, but must be in [0, 4)"},
      {query("", "5", "6"), "total_sequence_length is 6, but the past of 4 and 1 new words have room for 5"},
      {query("", "3", "2"), "seqlens_k[0] is 3, but must be in [0, 2)"},
  });
  const std::string column =
      "(float[2,1,4] x) => (Y) <int32[2,1] n = {0, 0}, int32[1] t = {1}> { Y, K, V = "
      "com.microsoft.GroupQueryAttention <num_heads = 1, kv_num_heads = 1> (x, x, x, , , n, t) }";
  expect_all({{column, ""}});
}

}  // namespace
}  // namespace grurun::trial
