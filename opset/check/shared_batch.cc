#include "opset/check/shared_batch.h"

#include <fmt/format.h>

#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

bool may_share_batch(const onnx_io::Node& node) {
  return node.op_type == "RotaryEmbedding" && node.domain.empty() && node.inputs.size() >= 3;
}

std::vector<std::string> shared_batches(
    const onnx_io::Node& node, const std::function<const SymbolicShape*(const std::string&)>& shape_of) {
  struct Shared {
    std::size_t input;
    const char* name;
    std::size_t rank;  // of one that has a batch
  };
  constexpr Shared all[] = {{1, "cos_cache", 3}, {2, "sin_cache", 3}, {3, "position_ids", 2}};
  std::vector<std::string> sentences;
  const SymbolicShape* X = shape_of(node.inputs[0]);
  if (X == nullptr || X->empty() || X->front().value == 1) return sentences;
  if (!X->front().value && X->front().name.empty()) return sentences;
  for (const Shared& one : all) {
    if (one.input >= node.inputs.size() || node.inputs[one.input].empty()) continue;
    const SymbolicShape* shape = shape_of(node.inputs[one.input]);
    if (shape == nullptr || shape->size() != one.rank || shape->front().value != 1) continue;
    sentences.push_back(
        fmt::format("{} is {}, and X is {}: its one row serves every row of the batch, as "
                    "exporters mean it. The standard has batch_size rows",
                    one.name, to_string(*shape), to_string(*X)));
  }
  return sentences;
}

void check_shared_batch(const onnx_io::Model& model, const std::map<std::string, ValueType>& inferred,
                        CheckReport& report) {
  const auto shape_of = [&](const std::string& name) -> const SymbolicShape* {
    const auto found = inferred.find(name);
    return found == inferred.end() || !found->second.shape ? nullptr : &*found->second.shape;
  };
  for_each_node_at(model, [&](const NodeAt& at) {
    const bool in_main = at.scope.parent == nullptr && at.scope.function == nullptr;
    if (!in_main || !may_share_batch(at.node)) return;
    NodeAt known = at;
    if (const auto import = at.scope.imports->find(""); import != at.scope.imports->end())
      known.since_version = since_version(at.node.op_type, "", import->second);
    RuleInfo rule = rule_info(Rule::inference);
    rule.severity = Severity::warning;
    for (std::string& sentence : shared_batches(at.node, shape_of))
      report.add(rule, known.label(), std::move(sentence), "");
  });
}

}  // namespace grurun::opset
