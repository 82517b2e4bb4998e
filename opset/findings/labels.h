// Nodes, operators and functions as messages name them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace grurun::opset {

/// The text, and "..." where it is longer: a hostile model may have names of megabytes. Cut between UTF-8
/// characters.
std::string shortened(std::string text, std::size_t longest);

/// A node's name, or "GRU#3" (its index) when it has none.
std::string node_name(const std::string& name, const std::string& op_type, std::size_t index);

/// "GRU-14", "ai.onnx.ml:Scaler-1"; "GRU" without a version.
std::string op_label(const std::string& domain, const std::string& op_type, std::optional<int> since_version);

/// "function ns.f", "function ns.f:overload".
std::string function_label(std::string_view domain, std::string_view name, std::string_view overload);

}  // namespace grurun::opset
