#include "conformance/model_facts.h"

#include <set>

#include "onnx_io/models/walk.h"
#include "tensor/printable.h"

namespace grurun::conformance {

namespace {

/// A case of a stranger's may name a million operators: a suite's report has so many of each case.
constexpr std::size_t most_operators = 1000;

}  // namespace

std::vector<std::string> operators_of(const onnx_io::Model& model) {
  std::set<std::string> names;
  onnx_io::for_each_node(model, [&](const onnx_io::Node& node) {
    if (names.size() < most_operators)
      names.insert(without_middle(onnx_io::qualified_name(node.domain, node.op_type), most_of_name));
  });
  return {names.begin(), names.end()};
}

std::vector<OpsetImport> opsets_of(const onnx_io::Model& model) {
  std::vector<OpsetImport> out;
  for (const auto& [domain, version] : model.opset_imports)
    out.push_back({std::string(onnx_io::shown_domain(domain)), version});
  return out;
}

}  // namespace grurun::conformance
