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

Origin origin_at(const ::onnx::NodeProto& node) {
  Origin origin;
  const auto add = [&](const std::string& key, const std::string& text) {
    if (std::string note = trimmed(text); !note.empty()) origin.emplace_back(key, std::move(note));
  };
  for (const char* key : notes) {
    for (const ::onnx::StringStringEntryProto& prop : node.metadata_props())
      if (prop.key() == key) add(key, prop.value());
  }
  add("doc_string", node.doc_string());
  return origin;
}

}  // namespace

Origin origin_of(const Model& model, const std::string& value) {
  const ::onnx::NodeProto* node = model.proto == nullptr ? nullptr : maker_in(model.proto->graph(), value);
  return node == nullptr ? Origin() : origin_at(*node);
}

std::vector<Origin> origins_of(const Model& model) {
  std::vector<Origin> origins(model.graph.nodes.size());
  if (model.proto == nullptr) return origins;
  const ::onnx::GraphProto& graph = model.proto->graph();
  for (int i = 0; i < graph.node_size() && static_cast<std::size_t>(i) < origins.size(); ++i)
    origins[static_cast<std::size_t>(i)] = origin_at(graph.node(i));
  return origins;
}

}  // namespace grurun::onnx_io
