#include "opset/check/gradient_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "onnx_io/models/walk.h"

namespace grurun::opset {

using onnx_io::Attribute;
using onnx_io::Node;

bool is_gradient(const Node& node) {
  return node.domain == "ai.onnx.preview.training" && node.op_type == "Gradient";
}

std::optional<std::string> gradient_scope_fault(const Node& gradient, const std::vector<Node>& nodes,
                                                const std::function<bool(const std::string&)>& is_visible) {
  std::vector<std::pair<const char*, std::string>> named;
  std::unordered_set<std::string> independent;
  for (const char* list : {"xs", "zs"}) {
    const Attribute* attribute = gradient.find_attribute(list);
    if (attribute == nullptr) continue;
    for (const std::string& name : attribute->strings) {
      named.emplace_back(list, name);
      independent.insert(name);
    }
  }
  const Attribute* y = gradient.find_attribute("y");
  named.emplace_back("y", y == nullptr ? "" : y->s);
  const onnx_io::Producers made(nodes);
  for (const auto& [attribute, name] : named)
    if (name.empty() || (made.find(name) == nullptr && !is_visible(name)))
      return fmt::format("{} names '{}', which is no tensor of this graph", attribute, name);
  std::unordered_set<std::string> reached = independent;
  for (const Node& node : nodes) {
    const bool depends = std::ranges::any_of(onnx_io::reads_of(node), [&](const onnx_io::Read& read) {
      return reached.contains(std::string(read.name));
    });
    if (!depends) continue;
    for (const std::string& name : node.outputs) {
      if (independent.contains(name))
        return fmt::format("'{}' is computed from another tensor of xs and zs, but they must be independent",
                           name);
      reached.insert(name);
    }
  }
  return std::nullopt;
}

}  // namespace grurun::opset
