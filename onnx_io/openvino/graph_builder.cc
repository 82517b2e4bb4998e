#include "onnx_io/openvino/graph_builder.h"

#include <cstring>
#include <utility>

#include "onnx_io/models/proto_convert.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

Attribute named(const std::string& name, AttributeType type) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  return attribute;
}

void fill(const Value& value, ::onnx::ValueInfoProto* info) {
  info->set_name(value.name);
  auto* const type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(value.dtype));
  if (!value.dims) return;
  auto* const shape = type->mutable_shape();
  for (const std::int64_t size : *value.dims) {
    auto* const dim = shape->add_dim();
    if (size >= 0) dim->set_dim_value(size);
  }
}

}  // namespace

Attribute make_attribute(const std::string& name, std::int64_t value) {
  Attribute attribute = named(name, AttributeType::int_);
  attribute.i = value;
  return attribute;
}

Attribute make_attribute(const std::string& name, float value) {
  Attribute attribute = named(name, AttributeType::float_);
  attribute.f = value;
  return attribute;
}

Attribute make_attribute(const std::string& name, const std::string& value) {
  Attribute attribute = named(name, AttributeType::string);
  attribute.s = value;
  return attribute;
}

Attribute make_attribute(const std::string& name, std::vector<std::int64_t> values) {
  Attribute attribute = named(name, AttributeType::ints);
  attribute.ints = std::move(values);
  return attribute;
}

Attribute make_attribute(const std::string& name, std::vector<std::string> values) {
  Attribute attribute = named(name, AttributeType::strings);
  attribute.strings = std::move(values);
  return attribute;
}

std::string GraphBuilder::unique_name(const std::string& wanted) {
  const std::string base = wanted.empty() ? "unnamed" : wanted;
  if (names_.emplace(base, 2).second) return base;
  std::string name;
  do {
    name = fmt::format("{}#{}", base, names_.at(base)++);
  } while (!names_.emplace(name, 2).second);
  return name;
}

void GraphBuilder::add_node(const NodeDraft& draft) {
  ::onnx::NodeProto* const node = graph().add_node();
  node->set_op_type(draft.op_type);
  node->set_name(draft.name);
  node->set_domain(draft.domain);
  domains_.insert(draft.domain);
  std::size_t count = draft.inputs.size();
  while (count > 0 && draft.inputs[count - 1].omitted()) --count;
  for (std::size_t i = 0; i < count; ++i) node->add_input(use(draft.inputs[i]));
  for (const std::string& output : draft.outputs) node->add_output(output);
  for (const Attribute& attribute : draft.attributes) *node->add_attribute() = attribute_to_proto(attribute);
}

Value GraphBuilder::add_helper(NodeDraft node, DType dtype, std::optional<Dims> dims) {
  Value out{.name = unique_name(node.name), .dtype = dtype, .dims = std::move(dims), .constant = nullptr};
  node.name = out.name;
  node.outputs = {out.name};
  add_node(node);
  return out;
}

void GraphBuilder::add_input(const Value& value) {
  fill(value, graph().add_input());
}

void GraphBuilder::add_output(const Value& value) {
  fill(value, graph().add_output());
}

void GraphBuilder::declare(const Value& value) {
  fill(value, graph().add_value_info());
}

Value GraphBuilder::make_constant(const std::string& name, DType dtype, Dims dims, std::string bytes) {
  if (bytes.size() > made_bytes_left_) {
    fail(ErrorKind::limit,
         "constants that the model's layers need rearranged take far more than its weights");
  }
  made_bytes_left_ -= bytes.size();
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto* const data = reinterpret_cast<const std::byte*>(owner->data());
  Constant constant{dtype, dims, {data, owner->size(), owner}, std::nullopt};
  return {.name = name,
          .dtype = dtype,
          .dims = std::move(dims),
          .constant = std::make_shared<const Constant>(std::move(constant))};
}

Value GraphBuilder::make_integers(const std::vector<std::int64_t>& values) {
  std::string bytes(values.size() * sizeof(std::int64_t), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_constant("integers", DType::int64, {static_cast<std::int64_t>(values.size())},
                       std::move(bytes));
}

std::shared_ptr<::onnx::ModelProto> GraphBuilder::finish() {
  for (const std::string& domain : domains_) {
    auto* const import = model_.add_opset_import();
    import->set_domain(domain);
    import->set_version(domain == openvino_domain ? openvino_opset : onnx_opset);
  }
  return std::make_shared<::onnx::ModelProto>(std::move(model_));
}

std::string GraphBuilder::use(const Value& value) {
  if (value.omitted()) return {};
  if (value.constant == nullptr) return value.name;
  const auto [known, added] = initializers_.try_emplace(value.constant.get());
  if (!added) return known->second;
  known->second = unique_name(value.name);
  used_.push_back(value.constant);
  ::onnx::TensorProto& tensor = *graph().add_initializer();
  tensor.set_name(known->second);
  const Constant& constant = *value.constant;
  tensor.set_data_type(static_cast<int>(constant.dtype));
  for (const std::int64_t dim : constant.dims) tensor.add_dims(dim);
  if (!constant.offset) {
    tensor.set_raw_data(constant.bytes.data, constant.bytes.size);
    return known->second;
  }
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& text) {
    auto* const added_entry = tensor.add_external_data();
    added_entry->set_key(key);
    added_entry->set_value(text);
  };
  entry("location", weights_);
  entry("offset", std::to_string(*constant.offset));
  entry("length", std::to_string(constant.bytes.size));
  return known->second;
}

}  // namespace grurun::onnx_io::openvino
