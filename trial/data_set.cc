#include "trial/data_set.h"

#include <filesystem>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/data_set_names.h"

namespace grurun::trial {

namespace {

namespace fs = std::filesystem;

Value arange_over_n(const onnx_io::ValueInfo& info) {
  if (info.type.kind != ValueType::Kind::tensor || info.type.elem != DType::float32 || !info.type.shape)
    fail_invalid("input '{}' is {}: the flat layout gives values to float tensors of known rank only",
                 info.name, info.type.to_string());
  Shape shape;
  for (const Dim& dim : *info.type.shape) shape.push_back(dim.value.value_or(1));
  Tensor tensor(DType::float32, shape);
  float* values = tensor.mutable_data<float>();
  const auto count = static_cast<double>(tensor.size());
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    values[i] = static_cast<float>(static_cast<double>(i) / count);
  return tensor;
}

}  // namespace

DataSet make_flat_data_set(const std::string& model_file, const onnx_io::Graph& graph) {
  DataSet set;
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
  for (const onnx_io::ValueInfo& input : graph.inputs)
    set.inputs.push_back(initializers.contains(input.name) ? Value() : arange_over_n(input));
  const std::string prefix = fs::path(model_file).replace_extension().string();
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string path = output_of_model(prefix, i);
    if (!fs::exists(path)) fail_invalid("output '{}' has no file {}", graph.outputs[i].name, path);
    set.expected.push_back(onnx_io::read_values(path, &graph.outputs[i].type).front().value);
  }
  const std::string more = output_of_model(prefix, graph.outputs.size());
  if (fs::exists(more)) fail_invalid("{} is there, but the graph has {} outputs", more, graph.outputs.size());
  return set;
}

}  // namespace grurun::trial
