// What the attributes xs, zs and y of a Gradient node name, in the graph that it stands in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::opset {

bool is_gradient(const onnx_io::Node& node);

/// nullopt where each is a tensor of the graph and none of xs and zs is computed from another. nodes: of the
/// graph; is_visible: names that the graph's inputs, initializers and the graphs around it give.
std::optional<std::string> gradient_scope_fault(const onnx_io::Node& gradient,
                                                const std::vector<onnx_io::Node>& nodes,
                                                const std::function<bool(const std::string&)>& is_visible);

}  // namespace grurun::opset
