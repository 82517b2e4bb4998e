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

std::string to_string(const SymbolicShape& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    out += shape[i].value ? fmt::format("{}", *shape[i].value) : shape[i].name.empty() ? "?" : shape[i].name;
  }
  return out + "]";
}

}  // namespace grurun
