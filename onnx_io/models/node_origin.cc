#include "onnx_io/models/node_origin.h"

#include <algorithm>

#include "onnx/onnx_pb.h"

namespace grurun::onnx_io {
namespace {

constexpr const char* notes[] = {"pkg.torch.onnx.stack_trace", "pkg.torch.onnx.name_scopes",
                                 "pkg.torch.onnx.fx_node"};

std::string trimmed(const std::string& text) {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(blanks);
  return from == text.npos ? "" : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

const ::onnx::NodeProto* maker_in(const ::onnx::GraphProto& graph, const std::string& value) {
  for (const ::onnx::NodeProto& node : graph.node())
    if (std::ranges::count(node.output(), value) > 0) return &node;
  for (const ::onnx::NodeProto& node : graph.node()) {
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      if (const auto* made = attribute.has_g() ? maker_in(attribute.g(), value) : nullptr) return made;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> origin_of(const Model& model, const std::string& value) {
  std::vector<std::pair<std::string, std::string>> origin;
  const ::onnx::NodeProto* node = model.proto == nullptr ? nullptr : maker_in(model.proto->graph(), value);
  if (node == nullptr) return origin;
  const auto add = [&](const std::string& key, const std::string& text) {
    if (std::string note = trimmed(text); !note.empty()) origin.emplace_back(key, std::move(note));
  };
  for (const char* key : notes) {
    for (const ::onnx::StringStringEntryProto& prop : node->metadata_props())
      if (prop.key() == key) add(key, prop.value());
  }
  add("doc_string", node->doc_string());
  return origin;
}

}  // namespace grurun::onnx_io
