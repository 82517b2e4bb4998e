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
       .attributes = "is_causal: 0, 1; qk_matmul_output_mode: 0, 1, 2, 3; softmax_precision: 1, 10, 11, 16",
       .rules = {{check_attention}}},
      {.op_type = "AveragePool",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0; dilations@19 >= 1",
       .together = both_paddings,
       .rules = {{check_window_lists}}},
      {.op_type = "BatchNormalization", .rules = {{check_statistics, 14}}},
      {.op_type = "CausalConvWithState", .attributes = "activation: silu, swish, none"},
      {.op_type = "Col2Im",
       .attributes = "strides >= 1; dilations >= 1; pads >= 0",
       .rules = {{check_block_lists}}},
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
       .rules = {{check_deformed_convolution}}},
      {.op_type = "Dropout", .shapes = "@12 - [] []", .draws = Draws::in_training},
      {.op_type = "GlobalAveragePool"},
      {.op_type = "GlobalLpPool", .attributes = "p@2 >= 1"},
      {.op_type = "GlobalMaxPool"},
      {.op_type = "GroupNormalization",
       .shapes = "@21 [N,C,*] [C] [C]",
       .attributes = "stash_type@21: 1, 10, 11, 16",
       .rules = {{check_group_count, 21}}},
      {.op_type = "InstanceNormalization", .shapes = "@1 [N,C,*] [C] [C]"},
      {.op_type = "LRN", .attributes = "size >= 1"},
      {.op_type = "LayerNormalization",
       .attributes = "stash_type: 1, 10, 11, 16",
       .rules = {{check_normalized_axis}, {check_broadcast_to_first}}},
      {.op_type = "LinearAttention", .attributes = "update_rule: linear, gated, delta, gated_delta"},
      {.op_type = "LpNormalization", .attributes = "p: 1, 2", .numbers = "axis=-1: [-r,r)"},
      {.op_type = "LpPool",
       .attributes =
           "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0; p@2 >= 1; dilations@18 >= 1",
       .together = both_paddings,
       .rules = {{check_window_lists, 2}}},
      {.op_type = "MaxPool",
       .attributes =
           "auto_pad: $paddings; storage_order@8: 0, 1; kernel_shape >= 1; strides >= 1; pads >= 0; "
           "dilations@10 >= 1",
       .together = both_paddings,
       .rules = {{check_window_lists}}},
      {.op_type = "MaxRoiPool"},
      {.op_type = "MaxUnpool",
       .shapes = "@9 [...] [...]",
       .attributes = "kernel_shape >= 1; strides >= 1; pads >= 0"},
      {.op_type = "MeanVarianceNormalization"},
      {.op_type = "QLinearConv",
       .shapes = "@10 [N,C,+] one one [M,C/group,+] [M]? [M]? one one [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .together = both_paddings,
       .rules = {{check_window_lists}, {check_quantized_convolution}},
       .flops = Flops::quantized_convolution},
      {.op_type = "RMSNormalization",
       .attributes = "stash_type: 1, 10, 11, 16",
       .rules = {{check_normalized_axis}, {check_broadcast_to_first}}},
      {.op_type = "RotaryEmbedding",
       .shapes =
           "@23 [batch,heads,seq,head] [positions,r] [positions,r] [ids,seq]! | [batch,seq,hidden] "
           "[positions,r] [positions,r] [ids,seq]! | [batch,heads,seq,head] [batch,seq,r] [batch,seq,r] "
           "none | [batch,seq,hidden] [batch,seq,r] [batch,seq,r] none",
       .rules = {{check_rotary_embedding}}},
      {.op_type = "TfIdfVectorizer",
       .attributes = "mode: TF, IDF, TFIDF; min_gram_length >= 1; max_gram_length >= 1; max_skip_count >= 0"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
