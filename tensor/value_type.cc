#include "tensor/value_type.h"

#include <fmt/format.h>

namespace grurun {

ValueType ValueType::tensor(DType elem, std::optional<SymbolicShape> shape) {
  ValueType type;
  type.kind = Kind::tensor;
  type.elem = elem;
  type.shape = std::move(shape);
  return type;
}

ValueType ValueType::sequence(ValueType element) {
  ValueType type;
  type.kind = Kind::sequence;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}

ValueType ValueType::optional(ValueType element) {
  ValueType type = sequence(std::move(element));
  type.kind = Kind::optional;
  return type;
}

ValueType ValueType::map(DType key, ValueType element) {
  ValueType type = sequence(std::move(element));
  type.kind = Kind::map;
  type.elem = key;
  return type;
}

std::string ValueType::to_string() const {
  const std::string inner = element ? element->to_string() : "?";
  switch (kind) {
    case Kind::unknown:
      return "?";
    case Kind::tensor:
      return fmt::format("tensor({})", dtype_name(elem));
    case Kind::sparse_tensor:
      return fmt::format("sparse_tensor({})", dtype_name(elem));
    case Kind::sequence:
      return fmt::format("seq({})", inner);
    case Kind::optional:
      return fmt::format("optional({})", inner);
    case Kind::map:
      return fmt::format("map({},{})", dtype_name(elem), inner);
  }
  return "?";
}

std::optional<ValueType> parse_value_type(std::string_view text) {
  // Deeper types do not occur, and texts come out of files.
  constexpr std::size_t longest = 256;
  const std::size_t open = text.find('(');
  if (text == "?") return ValueType{};
  if (text.size() > longest || open == std::string_view::npos || text.back() != ')') return std::nullopt;
  const std::string_view word = text.substr(0, open);
  const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  if (word == "tensor" || word == "sparse_tensor") {
    const DType elem = parse_dtype(inner);
    if (elem == DType::undefined && inner != dtype_name(DType::undefined)) return std::nullopt;
    ValueType type = ValueType::tensor(elem);
    if (word == "sparse_tensor") type.kind = ValueType::Kind::sparse_tensor;
    return type;
  }
  const std::size_t comma = word == "map" ? inner.find(',') : 0;
  if (comma == std::string_view::npos) return std::nullopt;
  const std::optional<ValueType> element = parse_value_type(word == "map" ? inner.substr(comma + 1) : inner);
  if (!element) return std::nullopt;
  if (word == "seq") return ValueType::sequence(*element);
  if (word == "optional") return ValueType::optional(*element);
  if (word == "map") return ValueType::map(parse_dtype(inner.substr(0, comma)), *element);
  return std::nullopt;
}

std::string ValueType::describe() const {
  return shape ? to_string() + " " + grurun::to_string(*shape) : to_string();
}

bool may_be_one(const ValueType& a, const ValueType& b) {
  using Kind = ValueType::Kind;
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return true;
  if (a.kind != b.kind) return false;
  if (a.elem != DType::undefined && b.elem != DType::undefined && a.elem != b.elem) return false;
  return !a.element || !b.element || may_be_one(*a.element, *b.element);
}

SymbolicShape symbolic_shape(const Shape& shape) {
  SymbolicShape out;
  for (const std::int64_t dim : shape) out.push_back({dim, ""});
  return out;
}

std::string to_string(const SymbolicShape& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    out += shape[i].value ? fmt::format("{}", *shape[i].value) : shape[i].name.empty() ? "?" : shape[i].name;
  }
  return out + "]";
}

}  // namespace grurun
