// Rules of operators of com.microsoft that none of the standard's has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// The longest sequence and the most beams that the onnxruntime package's searches take.
inline constexpr std::int64_t most_generated = 4096, most_beams = 128;

/// BeamSearch, GreedySearch, Sampling and WhisperBeamSearch: the prompt is of the kind of model_type, what it
/// begins with fits it, and the numbers of words and beams that are constants fit each other.
void check_search(const NodeFacts& facts);

/// Tokenizer: separators or tokenexp is stated, not both.
std::optional<std::string> tokens_stated_once(const onnx_io::Node& node, int since_version);
/// CausalConvWithState: weight, bias and past_state for the channels of input, and a state of (k - 1) *
/// dilation places.
void check_dilated_state(const NodeFacts& facts);
/// SparseToDenseMatMul: the types of A and B, columns of A against rows of B, transA and transB heeded.
void check_sparse_product(const NodeFacts& facts);
/// VarlenCausalConvWithState and VarlenNGramHashMapping: cumulative_sequence_length ascends.
void check_sequence_ends(const NodeFacts& facts);
/// VarlenCausalConvWithState: taps, states and captures for the channels and sequences.
void check_packed_convolution(const NodeFacts& facts);

/// The most that max_ngram_size and n_head_per_ngram may be.
inline constexpr std::int64_t most_hashed_ngrams = 1 << 20;
/// NGramHashMapping and VarlenNGramHashMapping: a multiplier for each id, sizes for each head, pasts.
void check_ngram_hash(const NodeFacts& facts);

/// GatedDeltaNet: heads, sequences, what its rule needs, and states for them.
void check_delta_net(const NodeFacts& facts);
/// Attention and QAttention: columns of weights for whole heads, a past, a mask and a bias of scores for
/// them.
void check_projected_attention(const NodeFacts& facts);
/// MultiHeadAttention: query, key and value fit each other; a past, masks and biases fit them.
void check_multi_head(const NodeFacts& facts);
/// EmbedLayerNormalization and QEmbedLayerNormalization: rows for all ids and places.
void check_embeddings(const NodeFacts& facts);
/// RotaryEmbedding and MRotaryEmbedding: caches for whole heads, positions within them.
void check_rotation(const NodeFacts& facts);
/// MatMulNBits: bytes, scales and zero points for N rows of K numbers in blocks.
void check_block_product(const NodeFacts& facts);
/// GatherBlockQuantized: scales and zero points for the blocks of data.
void check_block_gather(const NodeFacts& facts);
std::optional<std::string> blocks_of_power_of_two(const onnx_io::Node& node, int since_version);

/// MatMulBnb4: enough bytes and scales for N rows of K numbers.
void check_bnb4_bytes(const NodeFacts& facts);

/// GatedRMSNorm: scale is for whole parts of the last axis of X.
void check_normed_groups(const NodeFacts& facts);
/// BranchwiseRMSNorm: streams with elements, and scale for one of them or for all.
void check_branch_scale(const NodeFacts& facts);
/// HyperConnectionPreMix and HyperConnectionPostMix: weights for the streams.
void check_mixed_streams(const NodeFacts& facts);
/// LinearAttentionGate: a number for each head, and b for the output beta.
std::optional<std::string> beta_without_b(const onnx_io::Node& node, int since_version);
void check_attention_gate(const NodeFacts& facts);
/// MoEGroupRouter: either router_probs, or both outputs after it.
std::optional<std::string> routed_outputs(const onnx_io::Node& node, int since_version);
/// MoEGroupRouter: experts in whole groups, and enough of them.
void check_group_router(const NodeFacts& facts);
/// QGemm: one scale and one zero point for b, or one for each of its columns.
void check_column_scales(const NodeFacts& facts);

/// GroupQueryAttention: what it states goes together; caches, lengths and positions fit.
void check_group_query(const NodeFacts& facts);
/// SparseAttention: heads of the caches' size, rows of blocks, places within the cache.
void check_sparse_attention(const NodeFacts& facts);
/// DecoderMaskedMultiHeadAttention: heads of the caches' size, and beams.
void check_decoder_attention(const NodeFacts& facts);
void check_experts(const NodeFacts& facts);
/// AttnLSTM: weights and states for its sizes, lengths within them.
void check_attention_lstm(const NodeFacts& facts);

/// GatherPacked: a type of GGML, whose blocks have so many elements and bytes.
struct PackedBlock {
  std::int64_t packed_type, elements, bytes;
};
/// nullptr for a type that is not known.
const PackedBlock* find_packed_block(std::int64_t packed_type);
/// GatherPacked: rows of whole blocks.
void check_packed_rows(const NodeFacts& facts);

/// NGramRepeatBlock: the next words that would make the row repeat a group of `size` words. In 1 2 3 1 2 with
/// size 3, that is 3.
std::vector<std::int64_t> repeating_words(std::span<const std::int64_t> words, std::int64_t size);
/// NGramRepeatBlock: there is a score of each of them.
void check_repeating_words(const NodeFacts& facts);

/// ConvTransposeWithDynamicPads: two pads for each spatial axis.
void check_dynamic_pads(const NodeFacts& facts);

/// CropAndResize: sizes are positive, images are there.
void check_crops(const NodeFacts& facts);
/// QLinearGlobalAveragePool: planes, channels_last heeded, have elements.
void check_quantized_planes(const NodeFacts& facts);
/// QLinearConcat: three inputs for each part, which are joined as those of Concat are.
void check_quantized_parts(const NodeFacts& facts);
/// MaxpoolWithMask: there is a plane of the mask.
void check_pool_mask(const NodeFacts& facts);
/// WordConvEmbedding: stated sizes are those of the inputs, the window fits into a word.
void check_word_window(const NodeFacts& facts);
/// MatMulFpQ4: B_shape fits A and the bytes of B.
void check_4_bit_bytes(const NodeFacts& facts);
/// BifurcationDetector: pred_tokens fit the rest of src_tokens.
void check_predicted_tokens(const NodeFacts& facts);

}  // namespace grurun::opset
