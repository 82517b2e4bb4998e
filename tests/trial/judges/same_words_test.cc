// Files that break a rule of the standard: a check and a run say which, in the same words. Files that break
// none, though others refuse them: neither says anything.
#include "tests/trial/judges/same_words.h"

namespace grurun::trial {
namespace {

TEST(SameWords, OfACheckAndARun) {
  const std::string x = "float[2,3,4] X";
  const Row rows[] = {
      {7, node("float[4,3] A, float[5,4] B, float[1] C", "Gemm(A, B, C)"),
       "A [4,3] and B [5,4] do not multiply with transA 0 and transB 0"},
      {9, node("float[4,3] A, float[5,4] B, float[1] C", "Gemm(A, B, C)"), "do not multiply with transA 0"},
      {11, node("float[4,3] A, float[5,4] B", "Gemm <transA = 1> (A, B)"), "do not multiply with transA 1"},
      {13, node("float[4,3] A, float[5,4] B", "MatMul(A, B)"),
       "A [4,3] and B [5,4] do not multiply: 3 columns against 5 rows"},
      {13, node("float[2,4,3] A, float[3,3,4] B", "MatMul(A, B)"), "the axes before the last two do not"},
      {13, node("float[2,3] A, float[4] B", "Add(A, B)"),
       "input B is [4], which does not broadcast to [2,3]"},
      {10, node("float[2] A, float[2] B", "Mod(A, B)"), "attribute fmod must be 1 for element type float"},
      {13, node("float[2] A, float[2] B", "Mod(A, B)"), "attribute fmod must be 1 for element type float"},
      {13, "(int32[2] A) => (Y) <int32[1] B = {0}> { Y = Div(A, B) }",
       "input B holds 0, by which no integer can be divided"},
      {9, node(x, "Softmax <axis = 3> (X)"),
       "attribute axis names axis 3, but must lie in [-r, r) of the input [2,3,4], whose rank r is 3"},
      {1, node(x, "Softmax <axis = -5> (X)"), "attribute axis names axis -5"},
      {9, node(x, "LogSoftmax <axis = 4> (X)"), "attribute axis names axis 4"},
      {9, node(x, "Hardmax <axis = -4> (X)"), "attribute axis names axis -4"},
      {9, node(x, "ArgMax <axis = 3> (X)"), "attribute axis names axis 3"},
      {9, node(x, "ArgMin <axis = -4> (X)"), "attribute axis names axis -4"},
      {9, "(float[3] X) => (Y, I) { Y, I = TopK <k = 4> (X) }",
       "attribute k is 4, but must lie in [0, n], where n is 3, the size of the input [3] along axis"},
      {11, "(float[3] X) => (Y, I) <int64[1] k = {4}> { Y, I = TopK(X, k) }",
       "input K holds 4, but must lie"},
      {11, "(float[3] X) => (Y, I) <int64 k = {1}> { Y, I = TopK(X, k) }",
       "input K is []; TopK-11 takes [1]"},
      {1, node(x, "ReduceSum <axes = [1, 1]> (X)"), ""},
      {13, "(float[2,3] X) => (Y) <int64[2] axes = {0, -2}> { Y = ReduceSum(X, axes) }", ""},
      {13, "(float[2,3] X) => (Y) <int64[1] axes = {2}> { Y = ReduceSum(X, axes) }",
       "input axes names axis 2, but must lie in [-r, r)"},
      {10, node("uint8[2,3] A, uint8[3,4] B, uint8[3] a, uint8[4] b", "MatMulInteger(A, B, a, b)"),
       "a_zero_point is [3], but must be a scalar or hold a number for each row of A, which is [2,3]"},
      {10, node("uint8[2,3] A, uint8[3,4] B, uint8[2] a, uint8[3] b", "MatMulInteger(A, B, a, b)"),
       "b_zero_point is [3], but must be a scalar or hold a number for each column of B, which is [3,4]"},
      {9,
       node("float[2,3] X, float[3] s, float[3,1] B, float[3] m, float[3] v",
            "BatchNormalization(X, s, B, m, v)"),
       "B is [3,1], but must be [3]: a number for each channel"},
      {11, "() => (Y) <int64 a = {0}, int64 b = {4}, int64 d = {0}> { Y = Range(a, b, d) }",
       "delta is 0: it must be another number"},
      {11, "(float[3] X) => (Y) <int64 axis = {1}> { Y = CumSum(X, axis) }", "input axis names axis 1"},
      {16,
       "(float[1,1,4,4] X, float[1,4] rois) => (Y) <int64[1] b = {1}> { Y = RoiAlign <output_height = 2, "
       "output_width = 2> (X, rois, b) }",
       "input batch_indices holds 1, but must lie in [0, n), where n is 1"},
      {11,
       "(float[1,2,4] b, float[1,1,2] s) => (Y) <int64[1] m = {2}, float[1] iou = {1.5}> { Y = "
       "NonMaxSuppression(b, s, m, iou) }",
       "input iou_threshold holds 1.5, but must lie in [0, 1]"},
      {17,
       "() => (Y) <int64 n = {8}, int64 d = {16}, int64 r = {0}, float lo = {0}, float hi = {8000}> { Y = "
       "MelWeightMatrix(n, d, r, lo, hi) }",
       "input sample_rate is 0, but must be at least 1"},
      {15, "() => (Y) <float[1] p = {1.5}> { Y = Bernoulli(p) }", "input holds 1.5, but must lie in [0, 1]"},
      {11, node("float[1,1,3,3] X, float[1,2,3,3] W", "ConvTranspose <output_shape = [1, 2, 10, 8]> (X, W)"),
       "attribute output_shape has 4 entries, but must have one for each of the 2 spatial axes"},
      {22, node("float[1,1,3,3] X, float[1,2,3,3] W", "ConvTranspose <output_shape = [1, 2, 10, 8]> (X, W)"),
       "attribute output_shape has 4 entries"},
      {1, node("float[1,1,3,3] X, float[1,2,3,3] W", "ConvTranspose <output_shape = [1, 2, 10, 8]> (X, W)"),
       ""},
      {11, node("float[1,1,3,3] X, float[1,1,5,5] W", "Conv(X, W)"),
       "a window of extent 5 does not fit into spatial axis 0 of length 3 with pads 0 and 0"},
      {18, node("float[2,3] X", "MeanVarianceNormalization <axes = [2]> (X)"), "attribute axes names axis 2"},
      {13, node("float[2,3] X", "MeanVarianceNormalization(X)"), "attribute axes names axis 3"},
      {18, node("float[2,3] X", "ReduceMean <axes = [1]> (X)"),
       "ReduceMean-18 has no attribute 'axes'; it is an input since ReduceMean-18"},
      {19, node("int8[2,3] X, float[2,3] s", "DequantizeLinear <block_size = 1> (X, s)"),
       "DequantizeLinear-19 has no attribute 'block_size'; DequantizeLinear-21 has it: import opset 21 or "
       "newer"},
      {11, node("float[1,1,4] X, float[1,1,2] W", "Conv <pads: ints = [], dilations: ints = []> (X, W)"), ""},
      {11, node("float[1,1,4] X", "MaxPool <kernel_shape = [2], strides: ints = []> (X)"), ""},
      {11, node("int64[1] a, int64[1,1] b", "Range(a, b, a)"),
       "input limit is [1,1]; Range-11 takes a scalar"},
      {10,
       node("uint8[1,1,3,3] x, float s, uint8 z, uint8[1,1,1,1] w, uint8[1,1] wz",
            "QLinearConv(x, s, z, w, s, wz, s, z)"),
       "input w_zero_point is [1,1]; QLinearConv-10 takes [M], here [1], or a scalar"},
      {9, node("int64[2,2] X", "ConstantOfShape(X)"), "input is [2,2]; ConstantOfShape-9 takes [n]"},
  };
  for (const Row& row : rows) expect_same_words(row);
}

// Rules that operators of com.microsoft have for constants and sizes.
TEST(SameWords, OfOperatorsBeyondTheStandard) {
  const std::string decoder =
      "decoder = d (int32[r,l] ids, int32[r,l] places, int32[r,m] mask, float[2,r,1,p,1] past) => "
      "(float[r,l,3] logits, float[2,r,1,q,1] present) <float[3,3] t = {0,1,0, 0,0,1, 1,0,0}> "
      "{ logits = Gather(t, ids) present = Identity(past) }";
  const std::string speech =
      "encoder = e (float[r,1,n] x, int32[r,l] ids) => (float[r,l,3] logits, float[r,n,1] hidden, "
      "float[r,1,l,1] k, float[r,1,l,1] v, float[r,1,n,1] kc, float[r,1,n,1] vc) { logits = Identity(ids) "
      "hidden = Identity(x) k = Identity(x) v = Identity(x) kc = Identity(x) vc = Identity(x) }, decoder = d "
      "(int32[r,1] ids, float[r,1,p,1] k, float[r,1,p,1] v, float[r,1,n,1] kc, float[r,1,n,1] vc) => "
      "(float[r,1,3] logits, float[r,1,q,1] k2, float[r,1,q,1] v2) { logits = Identity(ids) k2 = Identity(k) "
      "v2 = Identity(v) }";
  const std::string two = "int32[1] two = {2}, int32[1] three = {3}, int32[1] less = {-1}";
  const std::string words = "eos_token_id = 2, pad_token_id = 0";
  const Row rows[] = {
      {21,
       "(int32[1,2] x) => (Y) <" + two + "> { Y = com.microsoft.GreedySearch <" + words + ", " + decoder +
           "> (x, two) }",
       "max_length is 2, but must be above 2, the number of words that the search begins with"},
      {21,
       "(int32[1,2] x) => (Y) <" + two + "> { Y = com.microsoft.BeamSearch <" + words + ", " + decoder +
           "> (x, three, , two, three) }",
       "num_return_sequences is 3, but must be in [1, num_beams]"},
      {21,
       "(float[1,2] x) => (Y) <" + two + "> { Y = com.microsoft.BeamSearch <" + words + ", " + decoder +
           "> (x, three, , two, two) }",
       "input_ids is float, but must be int32 with model_type 0"},
      {21,
       "(float[1,1,2] x) => (Y) <" + two + "> { Y = com.microsoft.WhisperBeamSearch <" + words + ", " +
           speech + "> (x, three, , two, two) }",
       "model_type 2 begins with decoder_start_token_id, which must be stated and not negative"},
      {21,
       "(float[1,1,2] x) => (Y) <" + two + "> { Y = com.microsoft.WhisperBeamSearch <" + words +
           ", decoder_start_token_id = 1, " + speech + "> (x, three, , two, two, , , , , , , less) }",
       "logits_processor is -1, but must not be negative"},
      {21,
       "(float[3,2] x, float[2,1,3] w, float[1,2,2] s) => (Y) <int32[2] e = {0, 2}> { Y, S = "
       "com.microsoft.VarlenCausalConvWithState(x, w, e, , s) }",
       "cumulative_sequence_length must ascend from 0 to the number of tokens, 3"},
      {21,
       "(float[3,2] x, float[2,1,3] w, float[1,2,2] s) => (Y) <int32[2] e = {0, 3}> { Y, S = "
       "com.microsoft.VarlenCausalConvWithState <state_update_capacity = 2> (x, w, e, , s) }",
       "capture_count must be given where state_update_capacity is positive, and only there"},
      {21,
       "(int64[1,3] x) => (Y) <int64[2] m = {1, 10}, int64[1] v = {0}> { Y = com.microsoft.NGramHashMapping "
       "<max_ngram_size = 2, n_head_per_ngram = 1, pad_id = 0> (x, m, v) }",
       "vocab_sizes must be positive"},
      {21,
       "(int64[1,3] x, int64[1] m, int64[1] v) => (Y) { Y = com.microsoft.NGramHashMapping <max_ngram_size = "
       "2, n_head_per_ngram = 1, pad_id = 0> (x, m, v) }",
       "multipliers is [1], but must have one for each of 2 ids"},
      {21,
       "(float[4,1,2] q, float[4,1,2] k, float[4,1,2] v) => (Y) { Y, S = com.microsoft.GatedDeltaNet "
       "<update_rule = \"linear\"> (q, k, v) }",
       "without cu_seqlens, initial_state must be given"},
      {21,
       "(float[4,1,2] q, float[4,1,2] k, float[4,1,2] v, float[1,1,2,2] s) => (Y) { Y, S = "
       "com.microsoft.GatedDeltaNet <update_rule = \"delta\"> (q, k, v, , , , s) }",
       "update_rule delta needs beta"},
      {21,
       "(float[1,1,16] q, float[1,1,16] k, float[1,1,16] v, float[1,1,16,16] c, float[1,1,16,16] d) => (Y) "
       "<int32[1,2] r = {0, 2}, int32[1,1] o = {0}, int32[1] t = {5}, int32[1] n = {5}> { Y, K, V = "
       "com.microsoft.SparseAttention <num_heads = 1, kv_num_heads = 1, sparse_block_size = 16> (q, k, v, c, "
       "d, r, o, t, n) }",
       "block_row_indices holds 0 and 2, which are no places of block_col_indices"},
      {21,
       "(float[1,1,16] q, float[1,1,16] k, float[1,1,16] v, float[1,1,16,16] c, float[1,1,16,16] d) => (Y) "
       "<int32[1,2] r = {0, 1}, int32[1,1] o = {0}, int32[1] t = {20}, int32[1] n = {20}> { Y, K, V = "
       "com.microsoft.SparseAttention <num_heads = 1, kv_num_heads = 1, sparse_block_size = 16> (q, k, v, c, "
       "d, r, o, t, n) }",
       "entry 0 has 19 keys before 1 new ones, but the cache holds 16"},
      {21,
       node("float[1,1,4] q, float[1,2,3,2] k, float[1,2,4,2] v",
            "com.microsoft.DecoderMaskedMultiHeadAttention <num_heads = 2> (q, k, v)"),
       "value is [1,2,4,2], but must be [1,2,3,2]"},
      {21,
       node("float[2,4] x, float[2,2] r, float[2,3,4] a, float[2,4,3] b",
            "com.microsoft.MoE <k = 3> (x, r, a, , b)"),
       "k is 3, but there are 2 experts"},
      {21,
       node("float[2,4] x, float[2,2] r, float[2,3,4] a, float[2,5,3] b", "com.microsoft.MoE(x, r, a, , b)"),
       "input fc2_experts_weights is [2,5,3]; MoE-1 takes [experts,hidden,inter], here [2,4,inter]"},
      {21,
       "(float[1,1,2,2] x, float[1,4] r) => (Y) <int32[1] b = {4}, int32[2] s = {2, 2}> { Y = "
       "com.microsoft.CropAndResize(x, r, b, s) }",
       "batch_indices[0] is 4, but there are 1 images"},
      {21,
       node("float[1,1,4] x, int32[0,1,4] m", "com.microsoft.MaxpoolWithMask <kernel_shape = [2]> (x, m)"),
       "the mask M has no plane"},
      {21,
       node("int32[2,3] s, float[4,1,2,5] w, float[4] b, float[6,5] c",
            "com.microsoft.WordConvEmbedding <conv_window_size = 3> (s, w, b, c)"),
       "conv_window_size is 3, but the inputs have 2"},
      {21,
       "(float[2,1,3] x, float[1,8,7] w, float[1,8,2] r, float[1,2,3] qw, float[1,4,3] mw, float[1,3] v, "
       "float[1,2,4] m) => (Y) <int32[1] n = {5}> { Y = com.microsoft.AttnLSTM <hidden_size = 2> (x, w, r, , "
       ", , , , qw, mw, v, m, n) }",
       "memory_seq_lens[0] is 5, but must be in [0, 2]"},
      {21,
       "(float[1,3,32] q, float[1,3,16] k, float[1,3,16] v) => (Y) <int32[1] n = {2}, int32[1] t = {3}> { Y "
       "= "
       "com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1, causal = 0, local_window_size = "
       "2> (q, k, v, , , n, t) }",
       "local_window_size is 2, but must be -1 where causal is 0"},
      {21,
       node("float[1,2,16] x, int64[3,1,2] p, float[4,8] c, float[4,8] s",
            "com.microsoft.MRotaryEmbedding <mrope_section = [1, 1, 5]> (x, p, c, s)"),
       "mrope_section is [1, 1, 5], but must be three sizes whose sum is 8"},
      {21, node("float[2,3] x, float[2,3] s, float[3] g", "com.microsoft.SkipLayerNormalization(x, s, g)"),
       ""},
      {21,
       node("uint8[2,17] d, int64[1] i",
            "com.microsoft.GatherPacked <K = 32, packed_type = 2, output_dtype = "
            "1> (d, i)"),
       "a row of data has 17 bytes, but 32 elements take 18"},
      {21,
       "(float[2,32] a, uint8[20] b) => (Y) <int64[2] s = {32, 1}> { Y = com.microsoft.MatMulFpQ4(a, b, s) }",
       "B has 20 bytes, but a matrix [32, 1] takes 21"},
      {21,
       "(int64[2] s, int64[1] c, int64[3] p) => (Y) <int64[1] i = {1}> { Y, Z = "
       "com.microsoft.BifurcationDetector(s, c, i, p) }",
       "prev_suffix_match_idx is 1, src_tokens has 2 and pred_tokens 3"},
  };
  for (const Row& row : rows) expect_same_words(row, ", \"com.microsoft\" : 1");
}

}  // namespace
}  // namespace grurun::trial
