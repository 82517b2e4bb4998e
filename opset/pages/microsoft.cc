#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> microsoft_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Attention",
       .shapes = "@1 [batch,length,width] [width,columns] [columns]",
       .numbers = "num_heads: [1,inf)",
       .rules = {{check_divided_heads}}},
      {.op_type = "BiasGelu", .shapes = "@1 [*,hidden] [hidden]"},
      {.op_type = "CDist", .shapes = "@1 [M,K] [N,K]", .attributes = "metric: euclidean, sqeuclidean"},
      {.op_type = "DequantizeLinear"},
      {.op_type = "DynamicQuantizeLSTM", .flops = Flops::recurrent},
      {.op_type = "DynamicQuantizeMatMul", .shapes = "@1 - - - - [N]", .flops = Flops::matmul},
      {.op_type = "EmbedLayerNormalization",
       .shapes =
           "@1 [batch,length] [batch,length] [words,hidden] [positions,hidden] [segments,hidden] [hidden] "
           "[hidden] [batch,length] -"},
      {.op_type = "ExpandDims", .shapes = "@1 - one"},
      {.op_type = "FastGelu", .shapes = "@1 [*,hidden] [hidden]"},
      {.op_type = "FusedConv",
       .shapes = "@1 [N,C,+] [M,C/group,+] [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .flops = Flops::convolution},
      {.op_type = "FusedGemm", .flops = Flops::gemm},
      {.op_type = "FusedMatMul", .flops = Flops::matmul},
      {.op_type = "GatherBlockQuantized", .attributes = "bits: 2, 4, 8; block_size >= 16"},
      {.op_type = "GatherND"},
      {.op_type = "Gelu"},
      {.op_type = "GridSample",
       .attributes = "mode: bilinear, nearest, bicubic; padding_mode: zeros, border, reflection"},
      {.op_type = "GroupQueryAttention",
       .shapes = "@1 [batch,length,width] [batch,length,kv_width] [batch,length,kv_width] "
                 "[batch,kv_heads,past,size] "
                 "[batch,kv_heads,past,size] [batch] one",
       .numbers = "num_heads: [1,inf); kv_num_heads: [1,inf)"},
      {.op_type = "MatMulInteger16", .flops = Flops::matmul},
      {.op_type = "MatMulIntegerToFloat", .flops = Flops::matmul},
      {.op_type = "MatMulNBits",
       .attributes = "K >= 1; N >= 1; bits: 2, 3, 4, 5, 6, 7, 8; block_size >= 16",
       .flops = Flops::matmul},
      {.op_type = "MultiHeadAttention", .numbers = "num_heads: [1,inf)", .rules = {{check_divided_heads}}},
      {.op_type = "NhwcMaxPool",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0"},
      {.op_type = "Pad", .attributes = "mode: constant, reflect, edge"},
      {.op_type = "QAttention",
       .shapes = "@1 [batch,length,width] [width,columns] [columns] one [columns]? - one [columns]?",
       .numbers = "num_heads: [1,inf)"},
      {.op_type = "QEmbedLayerNormalization",
       .shapes =
           "@1 [batch,length] [batch,length] [words,hidden] [positions,hidden] [segments,hidden] [hidden] "
           "[hidden] [batch,length]"},
      {.op_type = "QGemm", .shapes = "@1 [a,b] one one [c,d] - - - one one", .flops = Flops::gemm},
      {.op_type = "QLinearAdd", .shapes = "@1 - one one - one one one one"},
      {.op_type = "QLinearAveragePool",
       .shapes = "@1 - one one one one",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; pads >= 0"},
      {.op_type = "QLinearConcat", .shapes = "@1 one one"},
      {.op_type = "QLinearConv",
       .shapes = "@1 - one one [M,*] [M]? [M]? one one [M]",
       .attributes = "auto_pad: $paddings; kernel_shape >= 1; strides >= 1; dilations >= 1; pads >= 0",
       .flops = Flops::quantized_convolution},
      {.op_type = "QLinearGlobalAveragePool", .shapes = "@1 - one one one one"},
      {.op_type = "QLinearLeakyRelu", .shapes = "@1 - one one one one"},
      {.op_type = "QLinearMul", .shapes = "@1 - one one - one one one one"},
      {.op_type = "QLinearSigmoid", .shapes = "@1 - one one one one"},
      {.op_type = "QLinearSoftmax", .shapes = "@1 - one one one one", .numbers = "axis=-1: [-r,r)"},
      {.op_type = "QLinearWhere", .shapes = "@1 - - one one - one one one one"},
      {.op_type = "QuantizeLinear"},
      {.op_type = "QuickGelu"},
      {.op_type = "Range", .shapes = "@1 one one one"},
      {.op_type = "RotaryEmbedding", .shapes = "@1 - - [positions,half] [positions,half]"},
      {.op_type = "SkipLayerNormalization", .shapes = "@1 [*,hidden] [*,hidden] [hidden] [hidden] [hidden]"},
      {.op_type = "SkipSimplifiedLayerNormalization", .shapes = "@1 [*,hidden] [*,hidden] [hidden] [hidden]"},
      {.op_type = "TransposeMatMul", .flops = Flops::matmul},
      {.op_type = "Trilu", .shapes = "@1 - one"},
      {.op_type = "UnfoldTensor", .attributes = "size >= 1; step >= 1", .numbers = "dim=-1: [-r,r)"},
      {.op_type = "Unique"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
