#include "opset/schema/added/added_schemas.h"

#include <array>
#include <iterator>
#include <utility>

#include "onnx_io/openvino/openvino_ir.h"
#include "opset/schema/added/microsoft.h"

namespace grurun::opset {

namespace {

constexpr std::string_view microsoft = "com.microsoft";
constexpr std::array<std::string_view, 2> domains = {microsoft, onnx_io::openvino_domain};

std::vector<onnx::OpSchema> microsoft_schemas() {
  std::vector<onnx::OpSchema> all = microsoft_recurrent_schemas();
  for (const auto family :
       {microsoft_activation_schemas, microsoft_attention_schemas, microsoft_cache_schemas,
        microsoft_convolution_schemas, microsoft_embedding_schemas, microsoft_matmul_schemas,
        microsoft_nbits_schemas, microsoft_normalization_schemas, microsoft_qlinear_schemas,
        microsoft_quantized_matmul_schemas, microsoft_quantization_schemas, microsoft_tensor_schemas,
        microsoft_expert_schemas, microsoft_generation_schemas, microsoft_image_schemas,
        microsoft_state_schemas, microsoft_stream_schemas, microsoft_text_schemas}) {
    for (onnx::OpSchema& schema : family()) all.push_back(std::move(schema));
  }
  return all;
}

std::vector<onnx::OpSchema> finalized(std::vector<onnx::OpSchema> schemas) {
  for (onnx::OpSchema& schema : schemas) schema.Finalize();
  return schemas;
}

}  // namespace

std::span<const std::string_view> added_domains() {
  return domains;
}

const std::vector<onnx::OpSchema>& added_schemas_of(std::string_view domain) {
  static const std::vector<onnx::OpSchema> none;
  if (domain == microsoft) {
    static const std::vector<onnx::OpSchema> schemas = finalized(microsoft_schemas());
    return schemas;
  }
  if (domain == onnx_io::openvino_domain) {
    static const std::vector<onnx::OpSchema> schemas = finalized(openvino_schemas());
    return schemas;
  }
  return none;
}

}  // namespace grurun::opset
