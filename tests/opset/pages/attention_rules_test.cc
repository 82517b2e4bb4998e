// Heads, caches and masks of Attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "opset/check/check.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

struct Attended {
  int opset;
  const char* more;  // inputs behind Q, K and V
  const char* call;
  const char* says;  // part of the finding; empty for a model that is right
  const char* q = "[2,3,4,8]";
  const char* kv = "[2,3,6,8]";
};

constexpr const char* packed_q = "[2,4,24]";
constexpr const char* packed_kv = "[2,6,24]";

const std::vector<Attended>& attended_models() {
  static const std::vector<Attended> all = {
      {23, "", "Attention (Q, K, V)", ""},
      {23, "", "Attention (Q, K, V)", "in rank 3 it needs attribute q_num_heads, which is left out", packed_q,
       packed_kv},
      {23, "", "Attention <q_num_heads = 3> (Q, K, V)",
       "in rank 3 it needs attribute kv_num_heads, which is left out", packed_q, packed_kv},
      {23, "", "Attention <q_num_heads = 0, kv_num_heads = 3> (Q, K, V)", "q_num_heads, which is 0", packed_q,
       packed_kv},
      {23, "", "Attention <q_num_heads = 5, kv_num_heads = 5> (Q, K, V)",
       "q_num_heads 5 does not divide the last size of Q, which is 24", packed_q, packed_kv},
      {23, "", "Attention <q_num_heads = 3, kv_num_heads = 5> (Q, K, V)",
       "kv_num_heads 5 does not divide the last size of K, which is 24", packed_q, packed_kv},
      {23, "", "Attention <q_num_heads = 3, kv_num_heads = 3> (Q, K, V)", "", packed_q, packed_kv},
      {23, "", "Attention <q_num_heads = 3, kv_num_heads = 3> (Q, K, V)",
       "a head of Q has 8 elements, but one of K has 4", packed_q, "[2,6,12]"},
      {23, "", "Attention <q_num_heads = 3, kv_num_heads = 2> (Q, K, V)",
       "3 heads of Q cannot share 2 heads of K and V evenly", packed_q, "[2,6,16]"},
      {23, "", "Attention (Q, K, V)", "3 heads of Q cannot share 2 heads", "[2,3,4,8]", "[2,2,6,8]"},
      {23, "", "Attention (Q, K, V)", "", "[2,3,4,8]", "[2,1,6,8]"},
      {23, ", float[2,3,5,8] PK, float[2,3,5,8] PV", "Attention (Q, K, V, , PK, PV)", ""},
      {23, ", float[2,3,5,8] PK", "Attention (Q, K, V, , PK)",
       "past_key and past_value must be given together"},
      {23, ", float[2,4,5,8] PK, float[2,4,5,8] PV",
       "Attention <q_num_heads = 3, kv_num_heads = 3> (Q, K, V, , PK, PV)",
       "past_key is [2,4,5,8], but must be [2,3,5,8]", packed_q, packed_kv},
      {23, ", float[2,3,5,8] PK, float[2,3,5,7] PV",
       "Attention <q_num_heads = 3, kv_num_heads = 3> (Q, K, V, , PK, PV)",
       "past_value is [2,3,5,7], but must be [2,3,5,8]", packed_q, packed_kv},
      {24, ", int64[2] N", "Attention (Q, K, V, , , , N)", ""},
      {24, ", int64[3] N", "Attention (Q, K, V, , , , N)", "nonpad_kv_seqlen is [3], but must be [2]"},
      {24, ", float[2,3,5,8] P, int64[2] N", "Attention (Q, K, V, , P, P, N)",
       "nonpad_kv_seqlen must not be given together with past_key"},
      {23, ", float[4,6] M", "Attention (Q, K, V, M)", ""},
      {23, ", float[2,1,4,1] M", "Attention (Q, K, V, M)", ""},
      {23, ", float[4,11] M, float[2,3,5,8] P", "Attention (Q, K, V, M, P, P)", ""},
      {23, ", float[4,5] M", "Attention (Q, K, V, M)",
       "attn_mask is [4,5], which does not broadcast to [2,3,4,6]"},
      {24, ", float[4,5] M", "Attention (Q, K, V, M)", ""},
      {24, ", float[4,7] M", "Attention (Q, K, V, M)",
       "attn_mask is [4,7], which does not broadcast to [2,3,4,6]"},
      {24, ", float[5,6] M", "Attention (Q, K, V, M)", "attn_mask is [5,6]"},
  };
  return all;
}

TEST(AttentionRules, TellWhatARunRefuses) {
  for (const Attended& c : attended_models()) {
    const std::string kv = c.kv;
    const std::string body = "g (float" + std::string(c.q) + " Q, float" + kv + " K, float" + kv + " V" +
                             c.more + ") => (Y) { Y = " + c.call + " }";
    SCOPED_TRACE(body);
    const CheckResult result = check_model(
        text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(c.opset) + "]> " + body)());
    EXPECT_EQ(codes(result).contains("SHAPE001"), c.says != std::string()) << listed(result);
    EXPECT_THAT(listed(result), testing::HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace grurun::opset
