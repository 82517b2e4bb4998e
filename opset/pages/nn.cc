#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> nn_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Attention",
       .shapes =
           "@23 [batch,q_heads,q,d] [batch,kv_heads,k,d] [batch,kv_heads,k,v] - [batch,kv_heads,past,d] "
           "[batch,kv_heads,past,v] | [batch,q,q_hidden] [batch,k,k_hidden] [batch,k,v_hidden] - "
           "[batch,kv_heads,past,d] [batch,kv_heads,past,v]",
       .attributes = "is_causal: 0, 1; qk_matmul_output_mode: 0, 1, 2, 3; softmax_precision: 1, 10, 11, 16; "
                     "left_window_size@25 >= -1; right_window_size@25 >= -1",
       .together = present_outputs,
       .rules = {{check_attention}}},
      {.op_type = "AveragePool",
       .shapes = "@1 [N,C,D,*]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0; dilations@19 >= 1",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_pooling}}},
      {.op_type = "BatchNormalization", .rules = {{check_statistics}}},
      {.op_type = "CausalConvWithState",
       .shapes = "@27 [batch,channels,length] [channels,1,k] [channels] [batch,channels,past]",
       .attributes = "activation: silu, swish, none",
       .rules = {{check_causal_state}}},
      {.op_type = "Col2Im",
       .shapes = "@18 [N,C*block,blocks] [axes] [axes]",
       .attributes = "strides >= 1; dilations >= 1; pads >= 0",
       .numbers = "image_shape: [1,inf); block_shape: [1,inf)",
       .rules = {{check_block_lists}, {check_columns}}},
      {.op_type = "Conv",
       .shapes = "@1 [N,C,+] [M,C/group,+] [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_convolution}},
       .flops = Flops::convolution},
      {.op_type = "ConvInteger",
       .shapes = "@10 [N,C,+] [M,C/group,+] one [M]?",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_convolution}},
       .flops = Flops::convolution},
      {.op_type = "ConvTranspose",
       .shapes = "@1 [N,C,+] [C,M/group,+] [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0; "
                     "output_padding >= 0; output_shape >= 0",
       .together = transposed_paddings,
       .rules = {{check_window_lists}, {check_transposed_convolution}},
       .flops = Flops::transposed_convolution},
      {.op_type = "DeformConv",
       .shapes = "@19 [N,C,+] [oC,C/group,+] [N,offsets,+] [oC] [N,masks,+]",
       .attributes = "kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .rules = {{check_window_lists}, {check_deformed_convolution}}},
      {.op_type = "Dropout", .shapes = "@12 - [] []", .numbers = "ratio: [0,1)", .draws = Draws::in_training},
      {.op_type = "GlobalAveragePool", .shapes = "@1 [N,C,*]", .rules = {{check_planes}}},
      {.op_type = "GlobalLpPool",
       .shapes = "@1 [N,C,*]",
       .attributes = "p > 0; p@2 >= 1",
       .rules = {{check_planes}}},
      {.op_type = "GlobalMaxPool", .shapes = "@1 [N,C,*]", .rules = {{check_planes}}},
      {.op_type = "GroupNormalization",
       .shapes = "@18 [N,C,*]; @21 [N,C,*] [C] [C]",
       .attributes = "num_groups >= 1; stash_type@21: 1, 10, 11, 16",
       .rules = {{check_group_count}}},
      {.op_type = "InstanceNormalization", .shapes = "@1 [N,C,D,*] [C] [C]"},
      {.op_type = "LRN", .shapes = "@1 [N,C,*]", .attributes = "size >= 1"},
      {.op_type = "LayerNormalization",
       .attributes = "stash_type: 1, 16",
       .numbers = "axis=-1: [-r,r)",
       .rules = {{check_broadcast_to_first}}},
      {.op_type = "LinearAttention",
       .shapes = "@27 [B,T,q] [B,T,k] [B,T,v] - [B,T,decay] [B,T,beta]",
       .attributes = "update_rule: linear, gated, delta, gated_delta",
       .rules = {{check_linear_attention}}},
      {.op_type = "LpNormalization", .attributes = "p: 1, 2", .numbers = "axis=-1: [-r,r)"},
      {.op_type = "LpPool",
       .shapes = "@1 [N,C,D,*]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0; p > 0; p@2 >= 1; "
                     "dilations@18 >= 1",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_pooling}}},
      {.op_type = "MaxPool",
       .shapes = "@1 [N,C,D,*]",
       .attributes = "auto_pad: $paddings; storage_order@8: 0, 1; kernel_shape >= 1; strides >= 1; pads >= "
                     "0; dilations@10 >= 1",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_pooling}}},
      {.op_type = "MaxRoiPool",
       .shapes = "@1 [N,C,H,W] [num_rois,5]",
       .attributes = "pooled_shape >= 1",
       .together = height_and_width,
       .rules = {{check_pooled_regions}}},
      {.op_type = "MaxUnpool",
       .shapes = "@9 [...] [...]; @9 [N,C,D,*] - list",
       .attributes = "kernel_shape >= 1; strides >= 1; pads >= 0",
       .rules = {{check_window_lists}, {check_unpooled}}},
      {.op_type = "MeanVarianceNormalization",
       .shapes = "@1 [N,C,H,W]; @8 -",
       .numbers = "axes: [-r,r); axes=3@8: [-r,r)"},
      {.op_type = "QLinearConv",
       .shapes = "@10 [N,C,+] one one [M,C/group,+] [M]? [M]? one one [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_quantized_convolution}},
       .flops = Flops::quantized_convolution},
      {.op_type = "RMSNormalization",
       .attributes = "stash_type: 1, 10, 11, 16",
       .numbers = "axis=-1: [-r,r)",
       .rules = {{check_broadcast_to_first}}},
      {.op_type = "RotaryEmbedding",
       .shapes =
           "@23 [batch,heads,seq,head] [positions,r] [positions,r] [ids,seq]! | [batch,seq,hidden] "
           "[positions,r] [positions,r] [ids,seq]! | [batch,heads,seq,head] [batch,seq,r] [batch,seq,r] "
           "none | [batch,seq,hidden] [batch,seq,r] [batch,seq,r] none | [batch,heads,seq,head] [1,seq,r] "
           "[1,seq,r] none | [batch,seq,hidden] [1,seq,r] [1,seq,r] none",
       .rules = {{check_rotary_embedding}}},
      {.op_type = "TfIdfVectorizer",
       .shapes = "@9 [C] | [N,C]",
       .attributes = "mode: TF, IDF, TFIDF; min_gram_length >= 1; max_gram_length >= 1; max_skip_count >= 0; "
                     "ngram_indexes >= 0",
       .together = ngram_pool,
       .rules = {{check_tokens}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
