// Lists that attributes hold: the little language of Page::lists, and what rules read of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opset/pages/page.h"

namespace grurun::opset {

/// By the name of an attribute; empty where the node does not state it.
const std::vector<std::int64_t>& ints_of(const onnx_io::Node& node, std::string_view name);
const std::vector<float>& floats_of(const onnx_io::Node& node, std::string_view name);
const std::vector<std::string>& strings_of(const onnx_io::Node& node, std::string_view name);
const std::string& string_of(const onnx_io::Node& node, std::string_view name);
/// 0 where the node does not state it.
std::int64_t int_of(const onnx_io::Node& node, std::string_view name);
float float_of(const onnx_io::Node& node, std::string_view name);
/// nullptr where it states none.
const Tensor* tensor_of(const onnx_io::Node& node, std::string_view name);

/// Of a list of any kind, or of its twin with _as_tensor.
std::int64_t length_of(const onnx_io::Node& node, std::string_view name);

/// Whether an attribute refers to one of the function around the node.
bool refers_to_others(const onnx_io::Node& node);

/// What the lists break of those of the page.
std::optional<std::string> attribute_list_fault(const Page& page, const onnx_io::Node& node);

}  // namespace grurun::opset
