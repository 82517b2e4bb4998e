#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "onnx_io/models/model.h"
#include "tensor/error.h"
#include "tests/trial/judges/mutant.h"
#include "trial/data_set.h"

namespace grurun::trial::testing {

namespace {

namespace fs = std::filesystem;
using onnx::AttributeProto;

bool has_body(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const AttributeProto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
}

bool names_inputs_once(const onnx::ModelProto& model) {
  const onnx::NodeProto& node = model.graph().node(0);
  std::set<std::string> given;
  for (const std::string& name : node.input())
    if (!name.empty() && !given.insert(name).second) return false;
  return given.size() == static_cast<std::size_t>(model.graph().input_size());
}

std::size_t bytes_of(const std::vector<Value>& values) {
  std::size_t bytes = 0;
  for (const Value& value : values)
    if (value.is_tensor()) bytes += value.tensor().byte_size();
  return bytes;
}

}  // namespace

std::vector<OneNodeCase> one_node_cases(const std::string& folder) {
  std::vector<OneNodeCase> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path file = entry.path() / "model.onnx", set = entry.path() / "test_data_set_0";
    if (!fs::exists(file) || !fs::exists(set)) continue;
    OneNodeCase made;
    made.name = entry.path().filename().string();
    std::ifstream stream(file, std::ios::binary);
    if (!made.model.ParseFromIstream(&stream)) continue;
    const onnx::GraphProto& graph = made.model.graph();
    if (graph.node_size() != 1 || graph.initializer_size() + graph.sparse_initializer_size() > 0 ||
        made.model.functions_size() > 0 || has_body(graph.node(0)) || !names_inputs_once(made.model))
      continue;
    try {
      const onnx_io::Model model = onnx_io::load_model(file.string());
      made.inputs = trial::read_data_set(set.string(), model.graph).inputs;
    } catch (const Error&) {
      continue;  // of types that are not read
    }
    constexpr std::size_t small = 100'000;
    const bool complete = std::ranges::none_of(made.inputs, &Value::empty);
    if (complete && bytes_of(made.inputs) <= small) cases.push_back(std::move(made));
  }
  std::ranges::sort(cases, {}, &OneNodeCase::name);
  return cases;
}

}  // namespace grurun::trial::testing
