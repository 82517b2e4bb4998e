#include "tests/trial/judges/attribute_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "onnx_io/values/proto_tensor.h"
#include "opset/schema/registry.h"

namespace grurun::trial::testing {

namespace {

using onnx::AttributeProto;
using onnx::NodeProto;

std::string text_of(const AttributeProto& attribute) {
  std::string text = attribute.name() + " =";
  switch (attribute.type()) {
    case AttributeProto::INT:
      return fmt::format("{} {}", text, attribute.i());
    case AttributeProto::FLOAT:
      return fmt::format("{} {}", text, attribute.f());
    case AttributeProto::STRING:
      return fmt::format("{} '{}'", text, attribute.s());
    case AttributeProto::INTS:
      return fmt::format("{} [{}]", text, fmt::join(attribute.ints(), ","));
    case AttributeProto::FLOATS:
      return fmt::format("{} [{}] of floats", text, fmt::join(attribute.floats(), ","));
    case AttributeProto::STRINGS:
      return fmt::format("{} ['{}']", text, fmt::join(attribute.strings(), "','"));
    default:
      return text + " ...";
  }
}

AttributeProto* any_attribute(NodeProto& node, Draws& draws) {
  const int count = node.attribute_size();
  return count == 0 ? nullptr : node.mutable_attribute(draws.below(count));
}

template <typename List, typename Made>

void change_list(Draws& draws, List& list, Made make) {
  const int size = list.size();
  if (size == 0 || draws.chance(4)) {
    *list.Add() = make();
  } else if (draws.chance(3)) {
    list.RemoveLast();
  } else {
    list[draws.below(size)] = make();
  }
}

void fill(AttributeProto& attribute, Draws& draws) {
  const int count = draws.below(4);
  switch (attribute.type()) {
    case AttributeProto::INT:
      return attribute.set_i(draws.number());
    case AttributeProto::FLOAT:
      return attribute.set_f(draws.real());
    case AttributeProto::STRING:
      return attribute.set_s(draws.word());
    case AttributeProto::INTS:
      for (int i = 0; i < count; ++i) attribute.add_ints(draws.number());
      return;
    case AttributeProto::FLOATS:
      for (int i = 0; i < count; ++i) attribute.add_floats(draws.real());
      return;
    case AttributeProto::STRINGS:
      for (int i = 0; i < count; ++i) attribute.add_strings(draws.word());
      return;
    case AttributeProto::TENSOR:
      *attribute.mutable_t() =
          onnx_io::tensor_to_proto(Tensor::from(Shape{1}, std::vector<std::int64_t>{draws.number()}));
      return;
    default:  // a body cannot be drawn: another type
      attribute.set_type(AttributeProto::INT);
  }
}

}  // namespace

std::string change_attribute(NodeProto& node, Draws& draws) {
  AttributeProto* attribute = any_attribute(node, draws);
  if (attribute == nullptr) return "";
  switch (attribute->type()) {
    case AttributeProto::INT:
      attribute->set_i(draws.number());
      break;
    case AttributeProto::FLOAT:
      attribute->set_f(draws.real());
      break;
    case AttributeProto::STRING:
      attribute->set_s(draws.word());
      break;
    case AttributeProto::INTS:
      change_list(draws, *attribute->mutable_ints(), [&] { return draws.number(); });
      break;
    case AttributeProto::FLOATS:
      change_list(draws, *attribute->mutable_floats(), [&] { return draws.real(); });
      break;
    case AttributeProto::STRINGS:
      change_list(draws, *attribute->mutable_strings(), [&] { return draws.word(); });
      break;
    default:
      return "";
  }
  return "attribute " + text_of(*attribute);
}

std::string drop_attribute(NodeProto& node, Draws& draws) {
  const int count = node.attribute_size();
  if (count == 0) return "";
  const int at = draws.below(count);
  const std::string name = node.attribute(at).name();
  node.mutable_attribute()->DeleteSubrange(at, 1);
  return "without attribute " + name;
}

std::string add_attribute(NodeProto& node, Draws& draws) {
  AttributeProto attribute;
  const auto versions = opset::schema_versions(node.op_type(), &node.domain());
  if (versions.empty() || draws.chance(10)) {
    attribute.set_name("bogus");
    attribute.set_type(AttributeProto::INT);
  } else {
    const opset::SchemaInfo& schema = *draws.any_of(versions);
    if (schema.attributes.empty()) return "";
    const opset::AttributeInfo& info = draws.any_of(schema.attributes);
    const bool is_there =
        std::ranges::any_of(node.attribute(), [&](const auto& known) { return known.name() == info.name; });
    if (is_there && !draws.chance(10)) return "";
    attribute.set_name(info.name);
    attribute.set_type(static_cast<AttributeProto::AttributeType>(info.type));
  }
  fill(attribute, draws);
  *node.add_attribute() = attribute;
  return "with attribute " + text_of(attribute);
}

std::string retype_attribute(NodeProto& node, Draws& draws) {
  AttributeProto* attribute = any_attribute(node, draws);
  if (attribute == nullptr) return "";
  const std::string name = attribute->name();
  static constexpr std::array types{AttributeProto::INT,  AttributeProto::FLOAT,  AttributeProto::STRING,
                                    AttributeProto::INTS, AttributeProto::FLOATS, AttributeProto::STRINGS};
  const auto type = draws.any_of(types);
  attribute->Clear();
  attribute->set_name(name);
  attribute->set_type(type);
  fill(*attribute, draws);
  return "attribute " + text_of(*attribute);
}

}  // namespace grurun::trial::testing
