#include <array>

#include "onnx_io/models/proto_convert.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

using Proto = ::onnx::AttributeProto;

// One row for each field that can hold a value: its type, whether it is a list, and how many values it holds.
struct FieldRow {
  AttributeType type;
  bool list;
  int (*count)(const Proto&);
};

constexpr std::array<FieldRow, 14> fields = {{
    {AttributeType::float_, false, [](const Proto& p) { return static_cast<int>(p.has_f()); }},
    {AttributeType::int_, false, [](const Proto& p) { return static_cast<int>(p.has_i()); }},
    {AttributeType::string, false, [](const Proto& p) { return static_cast<int>(p.has_s()); }},
    {AttributeType::tensor, false, [](const Proto& p) { return static_cast<int>(p.has_t()); }},
    {AttributeType::graph, false, [](const Proto& p) { return static_cast<int>(p.has_g()); }},
    {AttributeType::sparse_tensor, false,
     [](const Proto& p) { return static_cast<int>(p.has_sparse_tensor()); }},
    {AttributeType::type_proto, false, [](const Proto& p) { return static_cast<int>(p.has_tp()); }},
    {AttributeType::floats, true, [](const Proto& p) { return p.floats_size(); }},
    {AttributeType::ints, true, [](const Proto& p) { return p.ints_size(); }},
    {AttributeType::strings, true, [](const Proto& p) { return p.strings_size(); }},
    {AttributeType::tensors, true, [](const Proto& p) { return p.tensors_size(); }},
    {AttributeType::graphs, true, [](const Proto& p) { return p.graphs_size(); }},
    {AttributeType::sparse_tensors, true, [](const Proto& p) { return p.sparse_tensors_size(); }},
    {AttributeType::type_protos, true, [](const Proto& p) { return p.type_protos_size(); }},
}};

// The one type whose field is used; AttributeProto.type must agree where it is given.
AttributeType checked_type(const Proto& proto) {
  const auto declared = static_cast<AttributeType>(proto.type());
  const FieldRow* used = nullptr;
  for (const FieldRow& field : fields) {
    if (field.count(proto) == 0) continue;
    if (used != nullptr) {
      fail_invalid("it has a value as {} and one as {}", attribute_type_name(used->type),
                   attribute_type_name(field.type));
    }
    used = &field;
  }
  if (!proto.ref_attr_name().empty()) {
    if (used != nullptr)
      fail_invalid("it refers to attribute '{}' and has a value too", proto.ref_attr_name());
    return declared;
  }
  if (declared == AttributeType::undefined) {
    if (used == nullptr) fail_invalid("it has neither a type nor a value");
    return used->type;
  }
  if (used != nullptr && used->type != declared) {
    fail_invalid("its type is {}, but its value is given as {}", attribute_type_name(declared),
                 attribute_type_name(used->type));
  }
  // What writes by the rules of proto3, as onnx.proto3 is, leaves out a value of 0 or "".
  const bool may_be_zero = declared == AttributeType::int_ || declared == AttributeType::float_ ||
                           declared == AttributeType::string;
  for (const FieldRow& field : fields) {
    if (field.type == declared && !field.list && used == nullptr && !may_be_zero) {
      fail_invalid("it is of type {} but has no value", attribute_type_name(declared));
    }
  }
  return declared;
}

template <typename Field>
auto copy_list(const Field& from) {
  return std::vector<typename Field::value_type>(from.begin(), from.end());
}

std::shared_ptr<const Graph> shared_graph(const ::onnx::GraphProto& proto, const TensorSource& source) {
  return std::make_shared<const Graph>(graph_from_proto(proto, source));
}

// The fields are disjoint, so all can be read; those not in use are empty.
void read_values(const Proto& proto, const TensorSource& source, Attribute* out) {
  out->f = proto.f();
  out->i = proto.i();
  out->s = proto.s();
  out->floats = copy_list(proto.floats());
  out->ints = copy_list(proto.ints());
  out->strings = copy_list(proto.strings());
  if (proto.has_t()) out->tensors.push_back(tensor_from_proto(proto.t(), source));
  if (proto.has_sparse_tensor()) out->tensors.push_back(dense_from_proto(proto.sparse_tensor(), source));
  for (const auto& tensor : proto.tensors()) out->tensors.push_back(tensor_from_proto(tensor, source));
  for (const auto& tensor : proto.sparse_tensors()) out->tensors.push_back(dense_from_proto(tensor, source));
  if (proto.has_g()) out->graphs.push_back(shared_graph(proto.g(), source));
  for (const auto& graph : proto.graphs()) out->graphs.push_back(shared_graph(graph, source));
  if (proto.has_tp()) out->types.push_back(type_from_proto(proto.tp()));
  for (const auto& type : proto.type_protos()) out->types.push_back(type_from_proto(type));
}

template <typename List>
const typename List::value_type& only(const List& list) {
  if (list.size() != 1) fail_internal("an attribute of a single value holds {}", list.size());
  return list.front();
}

void write_values(const Attribute& from, Proto* proto) {
  switch (from.type) {
    case AttributeType::undefined:
      break;
    case AttributeType::float_:
      proto->set_f(from.f);
      break;
    case AttributeType::int_:
      proto->set_i(from.i);
      break;
    case AttributeType::string:
      proto->set_s(from.s);
      break;
    case AttributeType::tensor:
      *proto->mutable_t() = tensor_to_proto(only(from.tensors));
      break;
    case AttributeType::graph:
      *proto->mutable_g() = graph_to_proto(*only(from.graphs));
      break;
    case AttributeType::sparse_tensor:
      *proto->mutable_sparse_tensor() = sparse_to_proto(only(from.tensors));
      break;
    case AttributeType::type_proto:
      *proto->mutable_tp() = type_to_proto(only(from.types));
      break;
    case AttributeType::floats:
      proto->mutable_floats()->Add(from.floats.begin(), from.floats.end());
      break;
    case AttributeType::ints:
      proto->mutable_ints()->Add(from.ints.begin(), from.ints.end());
      break;
    case AttributeType::strings:
      for (const std::string& s : from.strings) proto->add_strings(s);
      break;
    case AttributeType::tensors:
      for (const Tensor& tensor : from.tensors) *proto->add_tensors() = tensor_to_proto(tensor);
      break;
    case AttributeType::sparse_tensors:
      for (const Tensor& tensor : from.tensors) *proto->add_sparse_tensors() = sparse_to_proto(tensor);
      break;
    case AttributeType::graphs:
      for (const auto& graph : from.graphs) *proto->add_graphs() = graph_to_proto(*graph);
      break;
    case AttributeType::type_protos:
      for (const ValueType& type : from.types) *proto->add_type_protos() = type_to_proto(type);
      break;
  }
}

}  // namespace

const char* attribute_type_name(AttributeType type) {
  constexpr std::array names = {
      "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
      "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names[index] : names[0];
}

Attribute attribute_from_proto(const ::onnx::AttributeProto& proto, const TensorSource& source) {
  return with_context([&] { return fmt::format("attribute '{}'", proto.name()); },
                      [&] {
                        Attribute out;
                        out.name = proto.name();
                        out.ref_attr_name = proto.ref_attr_name();
                        out.type = checked_type(proto);
                        read_values(proto, source, &out);
                        return out;
                      });
}

::onnx::AttributeProto attribute_to_proto(const Attribute& attribute) {
  ::onnx::AttributeProto proto;
  proto.set_name(attribute.name);
  proto.set_type(static_cast<::onnx::AttributeProto::AttributeType>(attribute.type));
  if (!attribute.ref_attr_name.empty()) {
    proto.set_ref_attr_name(attribute.ref_attr_name);
  } else {
    write_values(attribute, &proto);
  }
  return proto;
}

}  // namespace grurun::onnx_io
