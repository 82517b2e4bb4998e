#include "onnx_io/models/proto_convert.h"
#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::onnx_io {

namespace {

std::vector<std::string> copy_names(const google::protobuf::RepeatedPtrField<std::string>& from) {
  return {from.begin(), from.end()};
}

ValueInfo value_info_from_proto(const ::onnx::ValueInfoProto& proto) {
  return with_context([&] { return fmt::format("value '{}'", proto.name()); },
                      [&] {
                        return ValueInfo{proto.name(), type_from_proto(proto.type())};
                      });
}

std::vector<ValueInfo> copy_infos(const google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>& from) {
  std::vector<ValueInfo> out;
  out.reserve(static_cast<std::size_t>(from.size()));
  for (const auto& proto : from) out.push_back(value_info_from_proto(proto));
  return out;
}

void infos_to_proto(const std::vector<ValueInfo>& from,
                    google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>* to) {
  for (const ValueInfo& info : from) {
    auto* const proto = to->Add();
    proto->set_name(info.name);
    *proto->mutable_type() = type_to_proto(info.type);
  }
}

template <typename Read>
Initializer read_initializer(const std::string& name, Read&& read) {
  look_for_interruption();
  if (name.empty()) fail_invalid("an initializer has no name");
  return with_context([&] { return fmt::format("initializer '{}'", name); },
                      [&] {
                        return Initializer{name, read()};
                      });
}

std::string node_context(const ::onnx::NodeProto& proto) {
  return fmt::format("node '{}' ({})", proto.name(), proto.op_type());
}

}  // namespace

Node node_from_proto(const ::onnx::NodeProto& proto, const TensorSource& source) {
  look_for_interruption();
  return with_context([&] { return node_context(proto); },
                      [&] {
                        Node node;
                        node.op_type = proto.op_type();
                        node.domain = canonical_domain(proto.domain());
                        node.overload = proto.overload();
                        node.name = proto.name();
                        node.inputs = copy_names(proto.input());
                        node.outputs = copy_names(proto.output());
                        node.attributes.reserve(static_cast<std::size_t>(proto.attribute_size()));
                        for (const auto& attribute : proto.attribute()) {
                          node.attributes.push_back(attribute_from_proto(attribute, source));
                        }
                        return node;
                      });
}

::onnx::NodeProto node_to_proto(const Node& node) {
  ::onnx::NodeProto proto;
  proto.set_op_type(node.op_type);
  proto.set_domain(node.domain);
  if (!node.overload.empty()) proto.set_overload(node.overload);
  proto.set_name(node.name);
  for (const std::string& name : node.inputs) proto.add_input(name);
  for (const std::string& name : node.outputs) proto.add_output(name);
  for (const Attribute& attribute : node.attributes) *proto.add_attribute() = attribute_to_proto(attribute);
  return proto;
}

Graph graph_from_proto(const ::onnx::GraphProto& proto, const TensorSource& source) {
  Graph graph;
  graph.name = proto.name();
  graph.inputs = copy_infos(proto.input());
  graph.outputs = copy_infos(proto.output());
  graph.value_info = copy_infos(proto.value_info());
  graph.initializers.reserve(
      static_cast<std::size_t>(proto.initializer_size() + proto.sparse_initializer_size()));
  for (const auto& tensor : proto.initializer()) {
    graph.initializers.push_back(
        read_initializer(tensor.name(), [&] { return tensor_from_proto(tensor, source); }));
  }
  for (const auto& sparse : proto.sparse_initializer()) {
    // A sparse initializer is named by its values.
    graph.initializers.push_back(
        read_initializer(sparse.values().name(), [&] { return dense_from_proto(sparse, source); }));
  }
  graph.nodes.reserve(static_cast<std::size_t>(proto.node_size()));
  for (const auto& node : proto.node()) graph.nodes.push_back(node_from_proto(node, source));
  return graph;
}

::onnx::GraphProto graph_to_proto(const Graph& graph) {
  ::onnx::GraphProto proto;
  proto.set_name(graph.name);
  infos_to_proto(graph.inputs, proto.mutable_input());
  infos_to_proto(graph.outputs, proto.mutable_output());
  infos_to_proto(graph.value_info, proto.mutable_value_info());
  for (const Initializer& initializer : graph.initializers) {
    *proto.add_initializer() = tensor_to_proto(initializer.tensor, initializer.name);
  }
  for (const Node& node : graph.nodes) *proto.add_node() = node_to_proto(node);
  return proto;
}

Function function_from_proto(const ::onnx::FunctionProto& proto, const TensorSource& source) {
  return with_context([&] { return fmt::format("function '{}'", proto.name()); },
                      [&] {
                        Function function;
                        function.domain = canonical_domain(proto.domain());
                        function.name = proto.name();
                        function.overload = proto.overload();
                        function.inputs = copy_names(proto.input());
                        function.outputs = copy_names(proto.output());
                        function.attributes = copy_names(proto.attribute());
                        for (const auto& attribute : proto.attribute_proto()) {
                          function.attribute_defaults.push_back(attribute_from_proto(attribute, source));
                        }
                        function.opset_imports = imports_from_proto(proto.opset_import());
                        for (const auto& node : proto.node()) {
                          function.nodes.push_back(node_from_proto(node, source));
                        }
                        return function;
                      });
}

}  // namespace grurun::onnx_io
