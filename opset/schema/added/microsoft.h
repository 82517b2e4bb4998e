// The families of com.microsoft. Names, types and defaults are those of onnxruntime's page of its operators;
// where the page is silent, the onnxruntime package decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opset/schema/added/added_operator.h"

namespace grurun::opset {

std::vector<onnx::OpSchema> microsoft_activation_schemas();
std::vector<onnx::OpSchema> microsoft_attention_schemas();
std::vector<onnx::OpSchema> microsoft_cache_schemas();
std::vector<onnx::OpSchema> microsoft_convolution_schemas();
std::vector<onnx::OpSchema> microsoft_embedding_schemas();
std::vector<onnx::OpSchema> microsoft_expert_schemas();
std::vector<onnx::OpSchema> microsoft_generation_schemas();
std::vector<onnx::OpSchema> microsoft_image_schemas();
std::vector<onnx::OpSchema> microsoft_state_schemas();
std::vector<onnx::OpSchema> microsoft_stream_schemas();
std::vector<onnx::OpSchema> microsoft_text_schemas();
std::vector<onnx::OpSchema> microsoft_matmul_schemas();
std::vector<onnx::OpSchema> microsoft_nbits_schemas();
std::vector<onnx::OpSchema> microsoft_normalization_schemas();
std::vector<onnx::OpSchema> microsoft_qlinear_schemas();
std::vector<onnx::OpSchema> microsoft_quantized_matmul_schemas();
std::vector<onnx::OpSchema> microsoft_quantization_schemas();
std::vector<onnx::OpSchema> microsoft_tensor_schemas();

/// Nodes that apply a function by its name to the value in: what FusedConv and FusedGemm append. Empty: none.
std::string activation_nodes(const std::string& name, const std::vector<float>& parameters,
                             std::string_view in, std::string_view out);

/// Nodes that swap axes of a value of this rank: channels from the last axis to axis 1, or back.
std::string channels_first(std::string_view in, std::string_view out, std::size_t rank);
std::string channels_last(std::string_view in, std::string_view out, std::size_t rank);

}  // namespace grurun::opset
