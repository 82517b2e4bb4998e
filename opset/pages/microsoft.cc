#include "opset/pages/families.h"
#include "opset/pages/microsoft_rules.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> microsoft_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Attention",
       .shapes = "@1 [batch,length,width] [width,columns] [columns]",
       .numbers = "num_heads: [1,inf)",
       .rules = {{check_projected_attention}},
       .flops = Flops::attention},
      {.op_type = "AttnLSTM",
       .shapes =
           "@1 [steps,batch,input] [directions,gates,inputs] [directions,gates,hidden] [directions,biases] "
           "[batch] [directions,batch,hidden] [directions,batch,hidden] [directions,peepholes] "
           "[directions,hidden,am] [directions,depth,am] [directions,am] [batch,memory,depth] [batch] "
           "[directions,state,attention]",
       .attributes =
           "direction: forward, reverse, bidirectional; hidden_size >= 1; clip > 0; input_forget: 0, 1",
       .rules = {{check_attention_lstm}}},
      {.op_type = "BeamSearch",
       .shapes = "@1 - one one one one one one [words] [batch,words] - - one",
       .attributes = "model_type: 0, 1, 2",
       .numbers = "eos_token_id: [0,inf); pad_token_id: [0,inf); no_repeat_ngram_size: [0,inf)",
       .rules = {{check_search}}},
      {.op_type = "BiasGelu", .shapes = "@1 [*,hidden] [hidden]"},
      {.op_type = "BifurcationDetector",
       .shapes = "@1 [source] [current] one [predicted]",
       .attributes = "min_ngram_size >= 1; max_ngram_size >= 1",
       .rules = {{check_predicted_tokens}}},
      {.op_type = "BranchwiseRMSNorm", .attributes = "num_branches >= 0"},
      {.op_type = "CDist", .shapes = "@1 [M,K] [N,K]", .attributes = "metric: euclidean, sqeuclidean"},
      {.op_type = "CausalConvWithState",
       .attributes = "activation: none, silu, swish; channels_last: 0, 1; dilation >= 1",
       .rules = {{check_dilated_state}}},
      {.op_type = "ConvTransposeWithDynamicPads",
       .shapes = "@1 [N,C,+] [C,M,+] [pads] [filters]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1",
       .flops = Flops::transposed_convolution},
      {.op_type = "CropAndResize",
       .shapes = "@1 [N,C,H,W] [num_rois,4] [num_rois] [2]",
       .attributes = "mode: bilinear, nearest",
       .rules = {{check_crops}}},
      {.op_type = "DecoderMaskedMultiHeadAttention",
       .shapes = "@1 [batch,1,width] - - [batch,keys] [*,1,total] [batch,heads,most,size] "
                 "[batch,heads,most,size] one "
                 "one - -",
       .attributes = "num_heads >= 1",
       .rules = {{check_decoder_attention}}},
      {.op_type = "DequantizeLinear", .shapes = "@1 - list list"},
      {.op_type = "DynamicQuantizeLSTM", .flops = Flops::recurrent},
      {.op_type = "DynamicQuantizeMatMul",
       .shapes = "@1 [*,K] [*,K,N] - - [N] | [*,K] [*,K,N] - - [1,N] | [*,K] [*,K,N] - - [1,1,N]",
       .flops = Flops::matmul},
      {.op_type = "DynamicTimeWarping", .shapes = "@1 [M,N] | [1,M,N]"},
      {.op_type = "EmbedLayerNormalization",
       .shapes =
           "@1 [batch,length] [batch,length] [words,hidden] [positions,hidden] [segments,hidden] [hidden] "
           "[hidden] [batch,length] [rows,length]",
       .rules = {{check_embeddings}}},
      {.op_type = "EngramGate",
       .shapes = "@1 [batch,length,streams,hidden] [batch,length,streams,hidden] [batch,length,hidden] "
                 "[streams,hidden] [streams,hidden] [streams,hidden]"},
      {.op_type = "ExpandDims", .shapes = "@1 - one"},
      {.op_type = "FastGelu", .shapes = "@1 [*,hidden] [hidden]"},
      {.op_type = "FusedConv",
       .shapes = "@1 [N,C,+] [M,C/group,+] [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .flops = Flops::convolution},
      {.op_type = "FusedGemm", .flops = Flops::gemm},
      {.op_type = "FusedMatMul", .flops = Flops::matmul},
      {.op_type = "GatedAdd", .shapes = "@1 [...,C] [...,C] [...,1]"},
      {.op_type = "GatedDeltaNet",
       .shapes = "@1 [tokens,heads,size] [tokens,heads,size]! [tokens,v_heads,v_size]! | "
                 "[batch,length,heads,size] [batch,length,heads,size]! [batch,length,v_heads,v_size]! | "
                 "[tokens,width] none none | [batch,length,width] none none",
       .attributes = "beta_activation: none, sigmoid; gate_activation: none, softplus, qwen, sigmoid, kda; "
                     "state_update_capacity: 0, 1, 2, 3, 4, 5, 6, 7, 8; update_rule: linear, gated, delta, "
                     "gated_delta",
       .rules = {{check_delta_net}}},
      {.op_type = "GatedRMSNorm",
       .shapes = "@1 [...] [C] [...]",
       .attributes = "activation: silu, swish, sigmoid"},
      {.op_type = "GatherBlockQuantized",
       .attributes = "bits: 2, 4, 8; block_size >= 16",
       .together = blocks_of_power_of_two,
       .rules = {{check_block_gather}}},
      {.op_type = "GatherND"},
      {.op_type = "GatherPacked",
       .shapes = "@1 [rows,bytes] -",
       .attributes = "K >= 1; output_dtype: 1, 10, 16",
       .rules = {{check_packed_rows}}},
      {.op_type = "Gelu"},
      {.op_type = "GreedySearch",
       .shapes = "@1 [batch,length] one one one [words] [batch,words] [batch,length]",
       .attributes = "model_type: 0, 1",
       .numbers = "eos_token_id: [0,inf); pad_token_id: [0,inf); no_repeat_ngram_size: [0,inf)",
       .rules = {{check_search}}},
      {.op_type = "GridSample",
       .attributes = "mode: bilinear, nearest, bicubic; padding_mode: zeros, border, reflection"},
      {.op_type = "GroupQueryAttention",
       .shapes = "@1 [batch,length,width] [batch,length,kv_width] [batch,length,kv_width] "
                 "[batch,kv_heads,past,size] "
                 "[batch,kv_heads,past,size] - one",
       .attributes = "causal: 0, 1; sliding_window_cache: 0, 1; qk_output: 0, 1, 2",
       .numbers = "num_heads: [1,inf); kv_num_heads: [1,inf)",
       .rules = {{check_group_query}},
       .flops = Flops::attention},
      {.op_type = "HyperConnectionPostMix", .attributes = "num_branches >= 0"},
      {.op_type = "HyperConnectionPreMix", .attributes = "num_branches >= 0"},
      {.op_type = "Inverse", .shapes = "@1 [*,M,M]"},
      {.op_type = "LinearAttention",
       .shapes = "@1 [B,T,queries] [B,T,keys] [B,T,values] - [B,T,decays] [B,T,rates]",
       .attributes =
           "q_num_heads >= 1; kv_num_heads >= 1; state_window: 0, 1, 2, 3, 4, 5, 6, 7, 8; update_rule: "
           "linear, gated, delta, gated_delta",
       .rules = {{check_linear_attention}}},
      {.op_type = "LinearAttentionGate",
       .shapes = "@1 [batch,length,heads] [heads] [heads] [batch,length,heads]"},
      {.op_type = "MRotaryEmbedding",
       .shapes = "@1 - [3,batch,length] [positions,half] [positions,half]",
       .attributes = "mrope_layout: 0, 1; interleaved: 0, 1",
       .rules = {{check_rotation}}},
      {.op_type = "MatMulBnb4",
       .shapes = "@1 - [bytes] [blocks]",
       .attributes = "K >= 1; N >= 1; block_size >= 16; quant_type: 0, 1",
       .together = blocks_of_power_of_two,
       .flops = Flops::matmul},
      {.op_type = "MatMulFpQ4",
       .shapes = "@1 - [bytes] [2]",
       .attributes = "blk_quant_type: 0, 1, 2",
       .rules = {{check_4_bit_bytes}}},
      {.op_type = "MatMulInteger16", .flops = Flops::matmul},
      {.op_type = "MatMulIntegerToFloat",
       .shapes = "@1 [*,K] [*,K,N] - - - - [N] | [*,K] [*,K,N] - - - - [1,N] | [*,K] [*,K,N] - - - - [1,1,N]",
       .flops = Flops::matmul},
      {.op_type = "MatMulNBits",
       .attributes = "K >= 1; N >= 1; bits: 2, 3, 4, 5, 6, 7, 8; block_size >= 16",
       .together = blocks_of_power_of_two,
       .rules = {{check_block_product}},
       .flops = Flops::matmul},
      {.op_type = "MaxpoolWithMask",
       .shapes = "@1 [N,C,D,...] [masks,planes,D,...]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_pooling}, {check_pool_mask}}},
      {.op_type = "MoE",
       .shapes = "@1 - [tokens,experts] [experts,rows,hidden] [experts,rows] [experts,hidden,inter] "
                 "[experts,hidden] [experts,inter,hidden] [experts,inter]",
       .attributes = "k >= 1; swiglu_fusion: 0, 1, 2; activation_type: relu, relu2, gelu, silu, swiglu, "
                     "geglu, identity",
       .rules = {{check_experts}},
       .flops = Flops::experts},
      {.op_type = "MoEGroupRouter",
       .shapes = "@1 - [experts] [experts,width]",
       .attributes = "group_topk >= 1; n_group >= 1; top_k >= 1; topk_group >= 1"},
      {.op_type = "MultiHeadAttention",
       .numbers = "num_heads: [1,inf)",
       .rules = {{check_multi_head}},
       .flops = Flops::attention},
      {.op_type = "MurmurHash3"},
      {.op_type = "NGramHashMapping",
       .shapes = "@1 [batch,length] [ids] [heads] [batch,window] [heads] one [batch,length]",
       .attributes = "max_ngram_size >= 2; n_head_per_ngram >= 1",
       .rules = {{check_ngram_hash}}},
      {.op_type = "NGramRepeatBlock",
       .shapes = "@1 [batch,length] [batch,words]",
       .attributes = "ngram_size >= 1"},
      {.op_type = "NhwcMaxPool",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0"},
      {.op_type = "Pad", .attributes = "mode: constant, reflect, edge"},
      {.op_type = "QAttention",
       .shapes = "@1 [batch,length,width] [width,columns] [columns] one [columns]? - one [columns]?",
       .numbers = "num_heads: [1,inf)",
       .rules = {{check_projected_attention}},
       .flops = Flops::attention},
      {.op_type = "QEmbedLayerNormalization",
       .shapes =
           "@1 [batch,length] [batch,length] [words,hidden] [positions,hidden] [segments,hidden] [hidden] "
           "[hidden] [batch,length] one one one one one one one one one one",
       .rules = {{check_embeddings}}},
      {.op_type = "QGemm", .shapes = "@1 [a,b] one one [c,d] - - - one one", .flops = Flops::gemm},
      {.op_type = "QLinearAdd", .shapes = "@1 - one one - one one one one", .rules = {{check_broadcast}}},
      {.op_type = "QLinearAveragePool",
       .shapes = "@1 - one one one one",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0"},
      {.op_type = "QLinearConcat", .shapes = "@1 one one", .rules = {{check_quantized_parts}}},
      {.op_type = "QLinearConv",
       .shapes = "@1 - one one [M,*] [M]? [M]? one one [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .flops = Flops::quantized_convolution},
      {.op_type = "QLinearGlobalAveragePool",
       .shapes = "@1 [N,C,*] one one one one",
       .rules = {{check_quantized_planes}}},
      {.op_type = "QLinearLeakyRelu", .shapes = "@1 - one one one one"},
      {.op_type = "QLinearMul", .shapes = "@1 - one one - one one one one", .rules = {{check_broadcast}}},
      {.op_type = "QLinearSigmoid", .shapes = "@1 - one one one one"},
      {.op_type = "QLinearSoftmax", .shapes = "@1 - one one one one", .numbers = "axis=-1: [-r,r)"},
      {.op_type = "QLinearWhere", .shapes = "@1 - - one one - one one one one"},
      {.op_type = "QMoE",
       .shapes = "@1 - [tokens,experts] [experts,rows,hidden_bytes] - [experts,rows] "
                 "[experts,hidden,inter_bytes] - "
                 "[experts,hidden] - - - - - - [tokens,experts]",
       .attributes =
           "k >= 1; swiglu_fusion: 0, 1, 2; activation_type: relu, relu2, gelu, silu, swiglu, geglu, "
           "identity; "
           "expert_weight_bits: 2, 3, 4, 8; quant_type: int, fp4, nvfp4, fp8, wfp4afp8; weights_prepacked: "
           "-1, 0, 1",
       .rules = {{check_experts}},
       .flops = Flops::experts},
      {.op_type = "QuantizeLinear", .shapes = "@1 - list list"},
      {.op_type = "QuickGelu"},
      {.op_type = "Range", .shapes = "@1 one one one"},
      {.op_type = "RotaryEmbedding",
       .shapes = "@1 - - [positions,half] [positions,half]",
       .attributes = "interleaved: 0, 1",
       .rules = {{check_rotation}}},
      {.op_type = "Sampling",
       .shapes = "@1 [batch,length] one one one [words] [batch,words] [batch,length] [batch,words] one",
       .attributes = "model_type: 0, 1; min_tokens_to_keep >= 0",
       .numbers = "eos_token_id: [0,inf); pad_token_id: [0,inf); no_repeat_ngram_size: [0,inf)",
       .rules = {{check_search}},
       .draws = Draws::always},
      {.op_type = "ScaledSiLU", .shapes = "@1 - one"},
      {.op_type = "SkipLayerNormalization",
       .shapes = "@1 [batch,length,hidden] [batch,length,hidden] [hidden] [hidden] [hidden] | "
                 "[batch,length,hidden] [1,length,hidden] [hidden] [hidden] [hidden] | "
                 "[batch,length,hidden] [length,hidden] [hidden] [hidden] [hidden] | "
                 "[rows,hidden] [rows,hidden] [hidden] [hidden] [hidden]"},
      {.op_type = "SkipSimplifiedLayerNormalization",
       .shapes = "@1 [batch,length,hidden] [batch,length,hidden] [hidden] [hidden] | "
                 "[batch,length,hidden] [1,length,hidden] [hidden] [hidden] | "
                 "[batch,length,hidden] [length,hidden] [hidden] [hidden] | "
                 "[rows,hidden] [rows,hidden] [hidden] [hidden]"},
      {.op_type = "SparseAttention",
       .shapes = "@1 [batch,length,width] [batch,length,kv_width] [batch,length,kv_width] "
                 "[batch,kv_heads,most,size] "
                 "[batch,kv_heads,most,size] [layouts,rows] [layouts,columns] one [batch] [places,half] "
                 "[places,half]",
       .attributes = "num_heads >= 1; kv_num_heads >= 1; sparse_block_size >= 1",
       .rules = {{check_sparse_attention}}},
      {.op_type = "SparseToDenseMatMul", .shapes = "@1 [a,b] [*,c,d]", .rules = {{check_sparse_product}}},
      {.op_type = "Tokenizer",
       .shapes = "@1 [C] | [N,C]",
       .attributes = "mincharnum >= 1",
       .together = tokens_stated_once},
      {.op_type = "TransposeMatMul", .flops = Flops::matmul},
      {.op_type = "Trilu", .shapes = "@1 - one"},
      {.op_type = "UnfoldTensor", .attributes = "size >= 1; step >= 1", .numbers = "dim=-1: [-r,r)"},
      {.op_type = "Unique", .shapes = "@1 [length]"},
      {.op_type = "VarlenCausalConvWithState",
       .shapes = "@1 [tokens,channels] [channels,1,k] [ends] [channels] [batch,channels,state] [batch]",
       .attributes =
           "activation: none, silu, swish; dilation >= 1; state_update_capacity: 0, 1, 2, 3, 4, 5, 6, 7, 8",
       .rules = {{check_packed_convolution}}},
      {.op_type = "VarlenNGramHashMapping",
       .shapes =
           "@1 [tokens] [ids] [heads] [ends] [batch,window] [heads] one [tokens] [batch,window] [batch]",
       .attributes =
           "max_ngram_size >= 2; n_head_per_ngram >= 1; state_update_capacity: 0, 1, 2, 3, 4, 5, 6, 7, 8",
       .rules = {{check_ngram_hash}}},
      {.op_type = "WhisperBeamSearch",
       .shapes =
           "@1 [batch,features,frames] one one one one one one [words] [batch,words] - [batch,begun] one "
           "[heads,2] [batch,extra] one",
       .attributes = "model_type: 2",
       .numbers = "eos_token_id: [0,inf); pad_token_id: [0,inf); no_repeat_ngram_size: [0,inf)",
       .rules = {{check_search}}},
      {.op_type = "WordConvEmbedding",
       .shapes = "@1 [words,characters] [embedding_size,1,window,size] [embedding_size] [codes,size]",
       .rules = {{check_word_window}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
