#include "trial/diagnosis/element_sources.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "opset/pages/page.h"
#include "tensor/error.h"

namespace grurun::trial::diagnosis {
namespace {

using onnx_io::Node;

bool passes_elements(const Node& node) {
  const opset::Elements elements = opset::elements_of(node);
  return !node.inputs.empty() &&
         (elements == opset::Elements::in_order || elements == opset::Elements::picked);
}

/// Inputs whose elements the node passes on; the others say which, or where to.
std::size_t data_inputs(const Node& node) {
  return node.op_type == "Concat" ? node.inputs.size() : 1;
}

}  // namespace

std::optional<ElementSource> find_element_source(const onnx_io::Graph& graph,
                                                 const onnx_io::Producers& producers,
                                                 const std::string& value) {
  ElementSource out{};
  std::string source;
  std::unordered_set<const Node*> seen;
  std::vector<std::string> open{value};
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const auto* made = producers.find(name);
    if (made == nullptr) return std::nullopt;
    const Node& node = *made->node;
    if (op_of(node)) {
      if (!source.empty() && source != name) return std::nullopt;
      source = name;
      out.from = &node;
      continue;
    }
    if (!passes_elements(node)) return std::nullopt;
    if (!seen.insert(&node).second) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (i < data_inputs(node))
        open.push_back(node.inputs[i]);
      else if (!node.inputs[i].empty())
        out.needed.push_back(node.inputs[i]);
    }
  }
  if (out.from == nullptr || seen.empty()) return std::nullopt;
  const auto& outputs = out.from->outputs;
  out.output = static_cast<std::size_t>(std::ranges::find(outputs, source) - outputs.begin());
  out.needed.push_back(source);
  for (const Node& node : graph.nodes) {
    if (seen.contains(&node)) out.between.push_back(&node);
  }
  return out.output < 3 ? std::optional(out) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> source_elements(const onnx_io::Model& model,
                                                         const ElementSource& path, const std::string& value,
                                                         const Values& values, const Rerun& rerun) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 24;
  const std::string& source = path.needed.back();
  const Shape& shape = values.at(source).tensor().shape();
  if (shape.element_count() > most_elements) return std::nullopt;
  onnx_io::Model part;
  part.ir_version = model.ir_version;
  part.opset_imports = model.opset_imports;
  part.graph.inputs.push_back({source, {}});
  part.graph.outputs.push_back({value, {}});
  std::unordered_set<std::string> known{source};
  for (const std::string& name : path.needed) {
    if (known.insert(name).second) part.graph.initializers.push_back({name, values.at(name).tensor()});
  }
  for (const Node* node : path.between) part.graph.nodes.push_back(*node);
  // Each element's number goes the way that the element goes.
  Tensor numbers(DType::int64, shape);
  std::iota(numbers.mutable_data<std::int64_t>(), numbers.mutable_data<std::int64_t>() + numbers.size(), 0);
  std::vector<Value> inputs;
  inputs.emplace_back(std::move(numbers));
  try {
    const std::vector<Value> outputs = run_again(part, std::move(inputs), rerun);
    const Tensor& out = outputs.at(0).tensor();
    return std::vector<std::int64_t>(out.data<std::int64_t>(), out.data<std::int64_t>() + out.size());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace grurun::trial::diagnosis
