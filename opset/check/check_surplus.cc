#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"

namespace grurun::opset {

namespace {

std::size_t entries(const onnx_io::Node& node, const char* name) {
  const onnx_io::Attribute* list = node.find_attribute(name);
  return list == nullptr ? 0 : std::max({list->floats.size(), list->ints.size(), list->strings.size()});
}

}  // namespace

void check_surplus(const onnx_io::Model& model, const std::map<std::string, ValueType>& inferred,
                   CheckReport& report) {
  for_each_node_at(model, [&](const NodeAt& at) {
    const onnx_io::Node& node = at.node;
    const bool in_main = at.scope.parent == nullptr && at.scope.function == nullptr;
    if (node.op_type != "LinearClassifier" || node.domain != "ai.onnx.ml" || !in_main || node.inputs.empty())
      return;
    const auto X = inferred.find(node.inputs[0]);
    if (X == inferred.end() || !X->second.shape || X->second.shape->empty()) return;
    const std::optional<std::int64_t> features = X->second.shape->back().value;
    const std::size_t given = entries(node, "coefficients");
    const std::size_t classes = std::max({entries(node, "intercepts"), entries(node, "classlabels_ints"),
                                          entries(node, "classlabels_strings")});
    if (!features || *features < 1 || classes == 0) return;
    // More than they take, also where that is no multiple.
    if ((given + classes - 1) / classes <= static_cast<std::size_t>(*features)) return;
    report.add(
        Rule::surplus_values, at,
        fmt::format("coefficients has {} values, of which {} classes of {} features take the first {}; the "
                    "others have no effect",
                    given, classes, *features, classes * static_cast<std::size_t>(*features)));
  });
}

}  // namespace grurun::opset
