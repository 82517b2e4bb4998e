// An operator that has a page, in a version of it, as a node with types that the schema admits, and
// attributes, shapes and elements of any kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/drawn.h"
#include "onnx_io/models/model.h"
#include "opset/pages/page.h"
#include "opset/schema/registry.h"
#include "tensor/dispatch.h"

namespace grurun::fuzz {

using onnx_io::AttributeType;

/// An operator with a page and a version that its domain's schemas have.
struct Operator {
  const opset::Page* page;
  const opset::SchemaInfo* schema;
};

/// The versions of each operator with a page, valid until the process ends. Versions that deprecate their
/// operator are left out: a run takes them, and a check reports them (docs/ambiguities.md).
inline const std::vector<std::vector<Operator>>& all_operators() {
  static const std::vector<std::vector<Operator>> operators = [] {
    std::vector<std::vector<Operator>> all;
    for (const opset::PageOfDomain& row : opset::all_pages()) {
      const std::string domain(row.domain);
      auto& versions = all.emplace_back();
      for (const opset::SchemaInfo* schema : opset::schema_versions(std::string(row.page->op_type), &domain))
        if (!schema->deprecated) versions.push_back({row.page, schema});
    }
    return all;
  }();
  return operators;
}

/// nullptr for a page of which no version has a schema.
inline const Operator* draw_operator(Drawn& drawn) {
  const std::vector<Operator>& versions = drawn.one_of(all_operators());
  return versions.empty() ? nullptr : &drawn.one_of(versions);
}

class NodeMaker {
 public:
  NodeMaker(Drawn& data, const Operator& of) : data_(data), page_(of.page), schema_(*of.schema) {}

  onnx_io::Model model() {
    onnx_io::Model made;
    made.ir_version = 10;
    made.opset_imports[schema_.domain] = schema_.since_version;
    if (!schema_.domain.empty()) made.opset_imports[""] = 21;
    made.graph.name = "graph";
    onnx_io::Node node;
    node.op_type = schema_.name;
    node.domain = schema_.domain;
    for (const opset::AttributeInfo& attribute : schema_.attributes)
      if (data_.coin()) node.attributes.push_back(make_attribute(attribute));
    add_inputs(node, made.graph);
    const int outputs = data_.in_range<int>(1, std::clamp(schema_.max_output, 1, 4));
    for (int i = 0; i < outputs; ++i) {
      node.outputs.push_back("out_" + std::to_string(i));
      made.graph.outputs.push_back({node.outputs.back(), ValueType{}});
    }
    made.graph.nodes.push_back(std::move(node));
    return made;
  }

  std::vector<Value> fed;  // for the graph's inputs

  void add_inputs(onnx_io::Node& node, onnx_io::Graph& graph) {
    const int most = std::clamp(schema_.max_input, 0, schema_.min_input + 6);
    const int count = data_.in_range<int>(std::min(schema_.min_input, most), most);
    for (int i = 0; i < count; ++i) {
      const auto* const parameter = opset::parameter_at(schema_.inputs, static_cast<std::size_t>(i));
      if (parameter == nullptr) break;
      const std::string name = "in_" + std::to_string(i);
      const bool optional = parameter->kind == opset::ParameterKind::optional;
      const Value value = optional && data_.coin() ? Value() : make_value(type_of(*parameter));
      node.inputs.push_back(value.empty() ? "" : name);
      if (value.empty()) continue;
      if (value.is_tensor() && data_.coin()) {
        graph.initializers.push_back({name, value.tensor()});
      } else {
        graph.inputs.push_back({name, value.type()});
        fed.push_back(value);
      }
    }
  }

  /// Inputs of one constraint mostly have one type.
  ValueType type_of(const opset::ParameterInfo& parameter) {
    auto& type = types_[parameter.type_str];
    const auto admitted = schema_.types_of(parameter);
    if (type.empty() || data_.in_range(0, 15) == 0) {
      if (admitted.empty()) return {};
      type = admitted[data_.below(admitted.size())];
    }
    return parse_value_type(type).value_or(ValueType{});
  }

  Shape shape() {
    // A shape that came before makes more inputs fit each other than a new one.
    if (!shapes_.empty() && data_.in_range(0, 2) == 0) return shapes_[data_.below(shapes_.size())];
    std::vector<std::int64_t> dims(data_.in_range<std::size_t>(0, 5));
    for (std::int64_t& dim : dims) dim = data_.in_range<std::int64_t>(0, 5);
    return shapes_.emplace_back(dims);
  }

  std::int64_t number() {
    constexpr std::int64_t edges[] = {0,  1,    2,         -1,        3,         -2,       8,
                                      64, 1000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    return data_.in_range(0, 3) == 0 ? data_.one_of(edges) : data_.in_range<std::int64_t>(-2, 5);
  }

  float real() {
    constexpr float edges[] = {
        0.F, -0.F, 1.F, 0.5F, -1.F, 1e30F, 1e-40F, __builtin_inff(), __builtin_nanf("")};
    return data_.coin() ? data_.one_of(edges)
                        : static_cast<float>(data_.in_range<std::int16_t>(INT16_MIN, INT16_MAX)) / 256;
  }

  std::string text() { return data_.text(12); }

  /// One of the words of the page, where it lists what the attribute may be.
  std::string word(const std::string& name) {
    std::vector<std::string_view> words;
    for (const std::string_view entry : opset::split_words(page_->attributes, "; "))
      if (const auto colon = entry.find(": "); entry.starts_with(name) && colon != entry.npos)
        for (const std::string_view one : opset::split_words(entry.substr(colon + 2), ", "))
          words.push_back(one);
    if (words.empty() || data_.in_range(0, 7) == 0) return text();
    return std::string(words[data_.below(words.size())]);
  }

  Tensor make_tensor(DType type) { return make_tensor(type, shape()); }

  Tensor make_tensor(DType type, const Shape& shape) {
    Tensor tensor = Tensor::zeros(type, shape);
    if (type == DType::string) {
      for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<std::string>()[i] = text();
      return tensor;
    }
    // Small numbers, of which indices, sizes and axes are made; else any bits.
    const bool small = data_.in_range(0, 3) != 0;
    const std::size_t width = dtype_size(type);
    auto* bytes = static_cast<std::uint8_t*>(tensor.mutable_raw());
    for (std::int64_t i = 0; i < tensor.size(); ++i, bytes += width) {
      if (type == DType::int64 || type == DType::int32) {
        const std::int64_t value = number();
        std::memcpy(bytes, &value, width);
      } else if (type == DType::float32) {
        const float value = real();
        std::memcpy(bytes, &value, width);
      } else if (type == DType::boolean) {
        *bytes = data_.coin() ? 1 : 0;
      } else if (const int bits = dtype_file_bits(type); bits < 8) {
        *bytes = narrow(type, bits);
      } else if (small && is_integer(type)) {
        *bytes = data_.in_range<std::uint8_t>(0, 5);
      } else {
        const auto random = data_.bytes(width);
        std::ranges::copy(random, bytes);
      }
    }
    return tensor;
  }

  /// A byte as a type that takes less of it is held: signed ones with their sign.
  std::uint8_t narrow(DType type, int bits) {
    const auto value = data_.in_range<std::uint8_t>(0, static_cast<std::uint8_t>((1 << bits) - 1));
    const bool is_signed = type == DType::int4 || type == DType::int2;
    return is_signed && value >> (bits - 1) != 0 ? static_cast<std::uint8_t>(value | (0xff << bits)) : value;
  }

  Value make_value(const ValueType& type) {
    switch (type.kind) {
      case ValueType::Kind::tensor:
        return make_tensor(type.elem);
      case ValueType::Kind::sequence: {
        Sequence sequence{*type.element, {}};
        const int items = data_.in_range(0, 3);
        for (int i = 0; i < items; ++i)
          if (Value item = make_value(*type.element); !item.empty())
            sequence.items.push_back(std::move(item));
        return sequence;
      }
      case ValueType::Kind::optional: {
        Optional optional{*type.element, nullptr};
        if (data_.coin())
          if (Value item = make_value(*type.element); !item.empty())
            optional.item = std::make_shared<const Value>(std::move(item));
        return optional;
      }
      default:
        return {};
    }
  }

  onnx_io::Attribute make_attribute(const opset::AttributeInfo& info) {
    onnx_io::Attribute made;
    made.name = info.name;
    made.type = info.type;
    const auto count = data_.in_range<std::size_t>(0, 6);
    switch (info.type) {
      case AttributeType::int_:
        made.i = number();
        break;
      case AttributeType::float_:
        made.f = real();
        break;
      case AttributeType::string:
        made.s = word(info.name);
        break;
      case AttributeType::ints:
        for (std::size_t i = 0; i < count; ++i) made.ints.push_back(number());
        break;
      case AttributeType::floats:
        for (std::size_t i = 0; i < count; ++i) made.floats.push_back(real());
        break;
      case AttributeType::strings:
        for (std::size_t i = 0; i < count; ++i) made.strings.push_back(word(info.name));
        break;
      case AttributeType::tensor:
      case AttributeType::sparse_tensor:  // held dense
        made.tensors.push_back(make_tensor(static_cast<DType>(data_.in_range(1, dtype_count - 1))));
        break;
      case AttributeType::graph:
        made.graphs.push_back(std::make_shared<const onnx_io::Graph>(identity_body()));
        break;
      case AttributeType::type_proto:
        made.types.push_back(ValueType::tensor(DType::float32));
        break;
      default:  // no schema asks for lists of these
        made.type = AttributeType::undefined;
        break;
    }
    return made;
  }

  /// Its outputs are its inputs.
  onnx_io::Graph identity_body() {
    onnx_io::Graph body;
    body.name = "body";
    const int count = data_.in_range(0, 4);
    for (int i = 0; i < count; ++i) {
      const std::string from = "b_in_" + std::to_string(i), to = "b_out_" + std::to_string(i);
      body.inputs.push_back({from, ValueType{}});
      onnx_io::Node node;
      node.op_type = "Identity";
      node.inputs = {from};
      node.outputs = {to};
      body.nodes.push_back(std::move(node));
      body.outputs.push_back({to, ValueType{}});
    }
    return body;
  }

 private:
  Drawn& data_;
  const opset::Page* page_;
  const opset::SchemaInfo& schema_;
  std::map<std::string, std::string> types_;  // by constraint
  std::vector<Shape> shapes_;
};

}  // namespace grurun::fuzz
