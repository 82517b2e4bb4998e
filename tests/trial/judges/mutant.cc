#include "tests/trial/judges/mutant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "onnx_io/models/proto_convert.h"
#include "onnx_io/values/proto_tensor.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"
#include "trial/data_set.h"

namespace grurun::trial::testing {

namespace {

namespace fs = std::filesystem;
using onnx::AttributeProto;

bool has_body(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const AttributeProto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
}

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

bool names_inputs_once(const onnx::ModelProto& model) {
  const onnx::NodeProto& node = model.graph().node(0);
  std::set<std::string> given;
  for (const std::string& name : node.input())
    if (!name.empty() && !given.insert(name).second) return false;
  return given.size() == static_cast<std::size_t>(model.graph().input_size());
}

std::size_t bytes_of(const std::vector<Value>& values) {
  std::size_t bytes = 0;
  for (const Value& value : values)
    if (value.is_tensor()) bytes += value.tensor().byte_size();
  return bytes;
}

class Draw {
 public:
  Draw(const OneNodeCase& from, std::mt19937& random)
      : random_(random), inputs_(from.inputs), graph_(*made_.model.mutable_graph()) {
    made_.model = from.model;
    for (const auto& input : graph_.input()) names_.push_back(input.name());
  }

  Mutant draw() {
    const int count = chance(4) ? 2 : 1;
    for (int i = 0, tries = 0; i < count && tries < 20; ++tries) {
      const std::string what = one();
      if (what.empty()) continue;
      made_.what += (i++ == 0 ? "" : ", ") + what;
    }
    finish();
    return std::move(made_);
  }

 private:
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <typename List>
  const auto& any_of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  onnx::NodeProto& node() { return *graph_.mutable_node(0); }

  std::string one() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return change_attribute();
      case 3:
        return chance(2) ? drop_attribute() : add_attribute();
      case 4:
        return chance(2) ? add_attribute() : retype_attribute();
      case 5:
        return change_arity();
      case 6:
        return retype_input();
      case 7:
      case 8:
        return reshape_input();
      case 9:
      case 10:
        return change_values();
      default:
        return change_version();
    }
  }

  AttributeProto* any_attribute() {
    const int count = node().attribute_size();
    return count == 0 ? nullptr : node().mutable_attribute(below(count));
  }

  std::int64_t number() {
    static constexpr std::array<std::int64_t, 14> numbers{0, 1, 2, 3, 4, 5, 7, 100, -1, -2, -3, -4, -5, -100};
    return any_of(numbers);
  }
  float real() {
    static constexpr std::array<float, 8> numbers{0, 1, 0.5F, 2, 100, -1, -0.5F, 1e-3F};
    return any_of(numbers);
  }
  std::string word() {
    static constexpr std::array<const char*, 12> words{"",       "bogus",  "VALID",    "SAME_UPPER",
                                                       "NOTSET", "linear", "constant", "edge",
                                                       "none",   "add",    "mul",      "i,j->ij"};
    return any_of(words);
  }

  template <typename List, typename Made>
  static void change_list(Draw& draw, List& list, Made make) {
    const int size = list.size();
    if (size == 0 || draw.chance(4)) {
      *list.Add() = make();
    } else if (draw.chance(3)) {
      list.RemoveLast();
    } else {
      list[draw.below(size)] = make();
    }
  }

  std::string change_attribute() {
    AttributeProto* attribute = any_attribute();
    if (attribute == nullptr) return "";
    switch (attribute->type()) {
      case AttributeProto::INT:
        attribute->set_i(number());
        break;
      case AttributeProto::FLOAT:
        attribute->set_f(real());
        break;
      case AttributeProto::STRING:
        attribute->set_s(word());
        break;
      case AttributeProto::INTS:
        change_list(*this, *attribute->mutable_ints(), [&] { return number(); });
        break;
      case AttributeProto::FLOATS:
        change_list(*this, *attribute->mutable_floats(), [&] { return real(); });
        break;
      case AttributeProto::STRINGS:
        change_list(*this, *attribute->mutable_strings(), [&] { return word(); });
        break;
      default:
        return "";
    }
    return "attribute " + text_of(*attribute);
  }

  std::string drop_attribute() {
    const int count = node().attribute_size();
    if (count == 0) return "";
    const int at = below(count);
    const std::string name = node().attribute(at).name();
    node().mutable_attribute()->DeleteSubrange(at, 1);
    return "without attribute " + name;
  }

  std::string add_attribute() {
    AttributeProto attribute;
    const auto versions = opset::schema_versions(node().op_type(), &node().domain());
    if (versions.empty() || chance(10)) {
      attribute.set_name("bogus");
      attribute.set_type(AttributeProto::INT);
    } else {
      const opset::SchemaInfo& schema = *any_of(versions);
      if (schema.attributes.empty()) return "";
      const opset::AttributeInfo& info = any_of(schema.attributes);
      const bool is_there = std::ranges::any_of(node().attribute(),
                                                [&](const auto& known) { return known.name() == info.name; });
      if (is_there && !chance(10)) return "";
      attribute.set_name(info.name);
      attribute.set_type(static_cast<AttributeProto::AttributeType>(info.type));
    }
    fill(attribute);
    *node().add_attribute() = attribute;
    return "with attribute " + text_of(attribute);
  }

  void fill(AttributeProto& attribute) {
    const int count = below(4);
    switch (attribute.type()) {
      case AttributeProto::INT:
        return attribute.set_i(number());
      case AttributeProto::FLOAT:
        return attribute.set_f(real());
      case AttributeProto::STRING:
        return attribute.set_s(word());
      case AttributeProto::INTS:
        for (int i = 0; i < count; ++i) attribute.add_ints(number());
        return;
      case AttributeProto::FLOATS:
        for (int i = 0; i < count; ++i) attribute.add_floats(real());
        return;
      case AttributeProto::STRINGS:
        for (int i = 0; i < count; ++i) attribute.add_strings(word());
        return;
      case AttributeProto::TENSOR:
        *attribute.mutable_t() =
            onnx_io::tensor_to_proto(Tensor::from(Shape{1}, std::vector<std::int64_t>{number()}));
        return;
      default:  // a body cannot be drawn: another type
        attribute.set_type(AttributeProto::INT);
    }
  }

  std::string retype_attribute() {
    AttributeProto* attribute = any_attribute();
    if (attribute == nullptr) return "";
    const std::string name = attribute->name();
    static constexpr std::array types{AttributeProto::INT,  AttributeProto::FLOAT,  AttributeProto::STRING,
                                      AttributeProto::INTS, AttributeProto::FLOATS, AttributeProto::STRINGS};
    const auto type = any_of(types);
    attribute->Clear();
    attribute->set_name(name);
    attribute->set_type(type);
    fill(*attribute);
    return "attribute " + text_of(*attribute);
  }

  std::string change_arity() {
    const int count = node().input_size();
    switch (below(5)) {
      case 0:
        if (count == 0) return "";
        node().mutable_input()->RemoveLast();
        return "without the last input";
      case 1: {
        if (count == 0) return "";
        const int at = below(count);
        node().set_input(at, "");
        return fmt::format("without input {}", at);
      }
      case 2:
        if (count == 0) return "";
        node().add_input(node().input(below(count)));
        return "with another input";
      case 3:
        node().add_output("another_output");
        return "with another output";
      default:
        if (node().output_size() < 2) return "";
        node().mutable_output()->RemoveLast();
        return "without the last output";
    }
  }

  // The input of the graph at this place, where it is a tensor.
  Tensor* any_tensor(int& at) {
    if (inputs_.empty()) return nullptr;
    at = below(static_cast<int>(inputs_.size()));
    Value& value = inputs_[static_cast<std::size_t>(at)];
    return value.is_tensor() ? &value.mutable_tensor() : nullptr;
  }

  std::string retype_input() {
    static constexpr std::array types{DType::float32, DType::float64, DType::int64,   DType::int32,
                                      DType::uint8,   DType::boolean, DType::float16, DType::string};
    int at = 0;
    Tensor* tensor = any_tensor(at);
    if (tensor == nullptr) return "";
    Tensor made(any_of(types), tensor->shape());
    if (made.dtype() != DType::string) std::memset(made.mutable_raw(), 0, made.byte_size());
    *tensor = std::move(made);
    return fmt::format("input {} of {}", at, dtype_name(tensor->dtype()));
  }

  // As many of the elements as there are, again and again.
  static Tensor refilled(const Tensor& from, const Shape& shape) {
    Tensor made(from.dtype(), shape);
    const auto count = static_cast<std::size_t>(made.size()), given = static_cast<std::size_t>(from.size());
    if (from.dtype() == DType::string) return made;
    const std::size_t size = dtype_size(from.dtype());
    auto* to = static_cast<char*>(made.mutable_raw());
    if (count > 0) std::memset(to, 0, made.byte_size());
    for (std::size_t i = 0; i < count && given > 0; ++i)
      std::memcpy(to + i * size, static_cast<const char*>(from.raw()) + i % given * size, size);
    return made;
  }

  std::string reshape_input() {
    int at = 0;
    Tensor* tensor = any_tensor(at);
    if (tensor == nullptr) return "";
    std::vector<std::int64_t> dims(tensor->shape().begin(), tensor->shape().end());
    const int rank = static_cast<int>(dims.size());
    const auto axis = static_cast<std::size_t>(rank == 0 ? 0 : below(rank));
    switch (below(6)) {
      case 0:
        dims.insert(dims.begin() + below(rank + 1), chance(3) ? 2 : 1);
        break;
      case 1:
        if (rank == 0) return "";
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
        break;
      case 2:
        if (rank == 0) return "";
        dims[axis] = dims[axis] + 1;
        break;
      case 3:
        if (rank == 0 || dims[axis] == 0) return "";
        dims[axis] = dims[axis] - 1;
        break;
      case 4:
        if (rank == 0) return "";
        dims[axis] = 1;
        break;
      default:
        dims.clear();
        break;
    }
    *tensor = refilled(*tensor, Shape(dims));
    return fmt::format("input {} of shape {}", at, tensor->shape().to_string());
  }

  std::string change_values() {
    int at = 0;
    Tensor* tensor = any_tensor(at);
    if (tensor == nullptr || tensor->size() == 0) return "";
    const auto place =
        static_cast<std::size_t>(below(static_cast<int>(std::min<std::int64_t>(tensor->size(), 64))));
    const bool all = chance(4);
    const auto set = [&](auto value) {
      auto* data = tensor->template mutable_data<decltype(value)>();
      if (all)
        std::fill(data, data + tensor->size(), value);
      else
        data[place] = value;
    };
    const std::int64_t value = number();
    switch (tensor->dtype()) {
      case DType::int64:
        set(value);
        break;
      case DType::int32:
        set(static_cast<std::int32_t>(value));
        break;
      case DType::float32:
        set(chance(2) ? real() : static_cast<float>(value));
        break;
      case DType::uint8:
        set(static_cast<std::uint8_t>(value));
        break;
      case DType::int8:
        set(static_cast<std::int8_t>(value));
        break;
      default:
        return "";
    }
    return fmt::format("input {}[{}] = {}", at, all ? "all" : std::to_string(place), value);
  }

  std::string change_version() {
    for (auto& import : *made_.model.mutable_opset_import()) {
      if (onnx_io::canonical_domain(import.domain()) != onnx_io::canonical_domain(node().domain())) continue;
      const std::optional<std::int64_t> newest = opset::newest_opset(import.domain());
      if (!newest) return "";
      import.set_version(1 + below(static_cast<int>(*newest)));
      return fmt::format("opset {}", import.version());
    }
    return "";
  }

  // The graph's inputs and initializers after all changes, and outputs of any type.
  void finish() {
    made_.all_known = !chance(3);
    made_.model.set_ir_version(10);
    graph_.clear_input();
    graph_.clear_output();
    graph_.clear_value_info();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (std::ranges::find(node().input(), names_[i]) == node().input().end()) continue;
      const Value& value = inputs_[i];
      if (value.is_tensor() && (made_.all_known || chance(3))) {
        *graph_.add_initializer() = onnx_io::tensor_to_proto(value.tensor(), names_[i]);
        continue;
      }
      made_.all_known = false;
      onnx::ValueInfoProto& input = *graph_.add_input();
      input.set_name(names_[i]);
      *input.mutable_type() = onnx_io::type_to_proto(value.type());
      made_.inputs.push_back(value);
    }
    for (const std::string& name : node().output())
      if (!name.empty()) graph_.add_output()->set_name(name);
  }

  std::mt19937& random_;
  Mutant made_;
  std::vector<std::string> names_;  // of inputs_
  std::vector<Value> inputs_;
  onnx::GraphProto& graph_;
};

}  // namespace

std::vector<OneNodeCase> one_node_cases(const std::string& folder) {
  std::vector<OneNodeCase> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path file = entry.path() / "model.onnx", set = entry.path() / "test_data_set_0";
    if (!fs::exists(file) || !fs::exists(set)) continue;
    OneNodeCase made;
    made.name = entry.path().filename().string();
    std::ifstream stream(file, std::ios::binary);
    if (!made.model.ParseFromIstream(&stream)) continue;
    const onnx::GraphProto& graph = made.model.graph();
    if (graph.node_size() != 1 || graph.initializer_size() + graph.sparse_initializer_size() > 0 ||
        made.model.functions_size() > 0 || has_body(graph.node(0)) || !names_inputs_once(made.model))
      continue;
    try {
      const onnx_io::Model model = onnx_io::load_model(file.string());
      made.inputs = trial::read_data_set(set.string(), model.graph).inputs;
    } catch (const Error&) {
      continue;  // of types that are not read
    }
    constexpr std::size_t small = 100'000;
    const bool complete = std::ranges::none_of(made.inputs, &Value::empty);
    if (complete && bytes_of(made.inputs) <= small) cases.push_back(std::move(made));
  }
  std::ranges::sort(cases, {}, &OneNodeCase::name);
  return cases;
}

Mutant mutate(const OneNodeCase& from, std::mt19937& random) {
  return Draw(from, random).draw();
}

}  // namespace grurun::trial::testing
