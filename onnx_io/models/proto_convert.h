// ONNX's messages to the plain types of model.h and back. For onnx_io and opset only: it shows ONNX's
// messages. All throw Error(invalid_model) for a message that breaks its format, with the place as context.
// Nesting needs no bound of its own: protobuf refuses files nested deeper than 100 messages.
#pragma once

#include "onnx/onnx_pb.h"
#include "onnx_io/models/model.h"
#include "onnx_io/values/proto_tensor.h"

namespace grurun::onnx_io {

/// A dimension that is negative is unknown, as other runtimes read it; a type without a kind, or opaque, is
/// unknown.
ValueType type_from_proto(const ::onnx::TypeProto& proto);
::onnx::TypeProto type_to_proto(const ValueType& type);

/// The value must be in the field that type names, and in no other. A message without a type (IR version 1)
/// has the type of the one field that is used.
Attribute attribute_from_proto(const ::onnx::AttributeProto& proto, const TensorSource& source = {});
::onnx::AttributeProto attribute_to_proto(const Attribute& attribute);

Node node_from_proto(const ::onnx::NodeProto& proto, const TensorSource& source = {});
::onnx::NodeProto node_to_proto(const Node& node);

Graph graph_from_proto(const ::onnx::GraphProto& proto, const TensorSource& source = {});
::onnx::GraphProto graph_to_proto(const Graph& graph);

Function function_from_proto(const ::onnx::FunctionProto& proto, const TensorSource& source = {});

/// What is done about versions that break a rule of the standard, or are newer than what is known here.
enum class Versions { refused, kept };

/// Versions must be 1 to 2^31-1 (kept: at least -2^31), and a domain may not be imported at two versions.
OpsetImports imports_from_proto(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports,
                                Versions bad = Versions::refused);

/// The whole model. keep is stored as Model::proto and keeps borrowed tensors alive.
Model model_from_proto(std::shared_ptr<const ::onnx::ModelProto> keep, ExternalData* external,
                       Versions bad = Versions::refused);

}  // namespace grurun::onnx_io
