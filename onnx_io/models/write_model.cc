#include "onnx_io/models/write_model.h"

#include <limits>

#include "onnx_io/bytes.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/models/proto_convert.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

void imports_to_proto(const OpsetImports& imports,
                      google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>* to) {
  for (const auto& [domain, version] : imports) {
    auto* const proto = to->Add();
    proto->set_domain(domain);
    proto->set_version(version);
  }
}

::onnx::FunctionProto function_to_proto(const Function& function) {
  ::onnx::FunctionProto proto;
  proto.set_domain(function.domain);
  proto.set_name(function.name);
  if (!function.overload.empty()) proto.set_overload(function.overload);
  for (const std::string& name : function.inputs) proto.add_input(name);
  for (const std::string& name : function.outputs) proto.add_output(name);
  for (const std::string& name : function.attributes) proto.add_attribute(name);
  for (const Attribute& attribute : function.attribute_defaults)
    *proto.add_attribute_proto() = attribute_to_proto(attribute);
  imports_to_proto(function.opset_imports, proto.mutable_opset_import());
  for (const Node& node : function.nodes) *proto.add_node() = node_to_proto(node);
  return proto;
}

}  // namespace

std::string model_bytes(const Model& model) {
  ::onnx::ModelProto proto;
  proto.set_ir_version(model.ir_version);
  if (!model.producer_name.empty()) proto.set_producer_name(model.producer_name);
  if (!model.producer_version.empty()) proto.set_producer_version(model.producer_version);
  imports_to_proto(model.opset_imports, proto.mutable_opset_import());
  *proto.mutable_graph() = graph_to_proto(model.graph);
  for (const Function& function : model.functions) *proto.add_functions() = function_to_proto(function);
  if (proto.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail_unsupported("a model of more than 2 GiB cannot be one file, and no weights are written beside it");
  return proto.SerializeAsString();
}

void write_model(const std::string& path, const Model& model) {
  write_file(path, {model_bytes(model)});
}

Model reread(const Model& model) {
  const std::string bytes = model_bytes(model);
  return parse_model_to_run(bytes.data(), bytes.size(), "").model;
}

}  // namespace grurun::onnx_io
