#include "trial/data_set.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/data_set_names.h"

namespace grurun::trial {

namespace {

namespace fs = std::filesystem;

using NumberedFiles = std::map<std::size_t, std::string>;

std::vector<std::string> sorted_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) fail_invalid("{}: the folder cannot be read: {}", folder, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

/// Throws where a file has neither name, but may have been meant as one: what it holds would be ignored.
void require_names(const std::vector<std::string>& names, const onnx_io::Graph& graph) {
  const auto has = [](const std::vector<onnx_io::ValueInfo>& values, const std::string& name) {
    return std::ranges::find(values, name, &onnx_io::ValueInfo::name) != values.end();
  };
  for (const std::string& name : names) {
    const std::optional<std::string> value = value_of_file(name);
    if (is_misnamed(name, input_prefix) || is_misnamed(name, output_prefix) ||
        (value && (has(graph.inputs, *value) || has(graph.outputs, *value))))
      fail_invalid("{}: files of a data set are named input_K.pb and output_K.pb, or .npy", name);
  }
}

/// Paths of <prefix>K.pb and <prefix>K.npy by K. ONNX's own data sets hold .pb only. Where two files have one
/// number, nothing says which of them counts.
NumberedFiles numbered_files(const std::string& folder, const std::vector<std::string>& names,
                             std::string_view prefix) {
  NumberedFiles files;
  for (const std::string& name : names) {
    const std::optional<std::size_t> number = file_number(name, prefix);
    if (!number) continue;
    const auto [first, is_first] = files.emplace(*number, (fs::path(folder) / name).string());
    if (is_first) continue;
    fail_invalid("several files for {} {}: {} and {}", prefix.substr(0, prefix.size() - 1), *number,
                 fs::path(first->second).filename().string(), name);
  }
  return files;
}

void require_no_gap(const NumberedFiles& files) {
  if (!files.empty() && files.rbegin()->first + 1 != files.size())
    fail_invalid("{} is there, but only {} such files are: numbers must run from 0 without a gap",
                 fs::path(files.rbegin()->second).filename().string(), files.size());
}

/// Position in graph.inputs of each input file.
std::vector<std::size_t> input_positions(std::size_t files, const onnx_io::Graph& graph) {
  if (files > graph.inputs.size())
    fail_invalid("{} input files, but the graph has {} inputs", files, graph.inputs.size());
  std::vector<std::size_t> positions;
  if (files < graph.inputs.size()) {
    const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
    for (std::size_t i = 0; i < graph.inputs.size() && positions.size() < files; ++i)
      if (!initializers.contains(graph.inputs[i].name)) positions.push_back(i);
    if (positions.size() == files) return positions;
    positions.clear();
  }
  for (std::size_t i = 0; i < files; ++i) positions.push_back(i);
  return positions;
}

Value read(const std::string& path, const onnx_io::ValueInfo& info) {
  return onnx_io::read_values(path, &info.type).front().value;
}

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

DataSet read_data_set(const std::string& folder, const onnx_io::Graph& graph) {
  DataSet set;
  set.name = fs::path(folder).filename().string();
  const std::vector<std::string> names = sorted_names(folder);
  require_names(names, graph);
  const NumberedFiles inputs = numbered_files(folder, names, input_prefix);
  const NumberedFiles outputs = numbered_files(folder, names, output_prefix);
  require_no_gap(inputs);
  require_no_gap(outputs);
  if (outputs.size() != graph.outputs.size())
    fail_invalid("{} output files, but the graph has {} outputs", outputs.size(), graph.outputs.size());

  set.inputs.resize(graph.inputs.size());
  const std::vector<std::size_t> positions = input_positions(inputs.size(), graph);
  for (const auto& [number, path] : inputs)
    set.inputs[positions[number]] = read(path, graph.inputs[positions[number]]);
  for (const auto& [number, path] : outputs) set.expected.push_back(read(path, graph.outputs[number]));
  return set;
}

DataSet make_flat_data_set(const std::string& model_file, const onnx_io::Graph& graph) {
  DataSet set;
  const onnx_io::InitializerIndex initializers = onnx_io::index_initializers(graph);
  for (const onnx_io::ValueInfo& input : graph.inputs)
    set.inputs.push_back(initializers.contains(input.name) ? Value() : arange_over_n(input));
  const std::string prefix = fs::path(model_file).replace_extension().string();
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string path = output_of_model(prefix, i);
    if (!fs::exists(path)) fail_invalid("output '{}' has no file {}", graph.outputs[i].name, path);
    set.expected.push_back(read(path, graph.outputs[i]));
  }
  const std::string more = output_of_model(prefix, graph.outputs.size());
  if (fs::exists(more)) fail_invalid("{} is there, but the graph has {} outputs", more, graph.outputs.size());
  return set;
}

}  // namespace grurun::trial
