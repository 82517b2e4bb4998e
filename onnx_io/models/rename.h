// Nodes and bodies with other names for values.
#pragma once

#include <map>
#include <set>
#include <string>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

using NameMap = std::map<std::string, std::string>;

/// The name that the map gives, or the name itself.
std::string renamed(const std::string& name, const NameMap& names);

/// What the node reads and makes, and what its bodies read of the graphs around them; what a body defines
/// hides the name around it.
Node renamed(Node node, const NameMap& names);

/// Inputs, initializers and what nodes make, without bodies.
std::set<std::string> names_defined_in(const Graph& graph);

}  // namespace grurun::onnx_io
