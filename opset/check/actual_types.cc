#include "opset/check/actual_types.h"

#include <fmt/format.h>

#include "opset/findings/rules.h"

namespace grurun::opset {

ActualTypes::ActualTypes(const onnx_io::Graph& graph, std::map<std::string, ValueType> inferred)
    : inferred_(std::move(inferred)) {
  for (const auto* values : {&graph.inputs, &graph.outputs, &graph.value_info}) {
    for (const onnx_io::ValueInfo& value : *values) declared_.try_emplace(value.name, &value.type);
  }
}

std::string ActualTypes::contradiction(const ValueType& type, const std::string& name, const Value& value) {
  const ValueType actual = value.type();
  if (!may_be_one(type, actual)) return type.kind == actual.kind ? "the type differs" : "the kind differs";
  if (type.kind != ValueType::Kind::tensor || !type.shape) return "";
  const Tensor& tensor = value.tensor();
  if (type.shape->size() != tensor.rank()) return "the rank differs";
  for (std::size_t i = 0; i < tensor.rank(); ++i) {
    const Dim& dim = (*type.shape)[i];
    const std::int64_t size = tensor.dim(i);
    if (dim.value && *dim.value != size) return fmt::format("dimension {} differs", i);
    if (dim.name.empty()) continue;
    const auto [bound, added] = bound_.try_emplace(dim.name, Bound{size, name});
    if (!added && bound->second.size != size)
      return fmt::format("'{}' is {} in '{}'", dim.name, bound->second.size, bound->second.by);
  }
  return "";
}

void ActualTypes::see(const std::string& name, const Value& value) {
  if (value.empty() || !watches(name) || !seen_.insert(name).second) return;
  const auto judge = [&](Rule rule, const ValueType& type, const char* side) {
    const std::string found = contradiction(type, name, value);
    if (found.empty()) return;
    const RuleInfo& info = rule_info(rule);
    findings_.push_back(
        {info.code, info.severity, "", "",
         fmt::format("'{}' is {} {}, but {}: {}", name, side, type.describe(), value.describe(), found)});
  };
  if (const auto found = declared_.find(name); found != declared_.end()) {
    judge(Rule::actual_declared, *found->second, "declared");
  }
  if (const auto found = inferred_.find(name); found != inferred_.end()) {
    judge(Rule::actual_inferred, found->second, "inferred as");
  }
}

}  // namespace grurun::opset
