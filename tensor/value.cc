#include "tensor/value.h"

#include <utility>

#include "tensor/error.h"

namespace grurun {

void Value::fail_no_tensor() const {
  fail_invalid("a tensor is needed here, but the value is {}", describe());
}

const Sequence& Value::sequence() const {
  if (const auto* held = std::get_if<std::shared_ptr<Sequence>>(&held_)) return **held;
  fail_invalid("a sequence is needed here, but the value is {}", describe());
}

const Optional& Value::optional() const {
  if (const auto* held = std::get_if<std::shared_ptr<const Optional>>(&held_)) return **held;
  fail_invalid("an optional is needed here, but the value is {}", describe());
}

const Map& Value::map() const {
  if (const auto* held = std::get_if<std::shared_ptr<const Map>>(&held_)) return **held;
  fail_invalid("a map is needed here, but the value is {}", describe());
}

Tensor Value::take_tensor() {
  Tensor out = std::move(mutable_tensor());
  clear();
  return out;
}

Sequence Value::take_sequence() {
  sequence();
  const auto held = std::get<std::shared_ptr<Sequence>>(std::exchange(held_, std::monostate()));
  if (held.use_count() > 1) return *held;
  return std::move(*held);
}

ValueType Value::type() const {
  if (is_tensor()) return ValueType::tensor(tensor().dtype(), symbolic(tensor().shape()));
  if (is_sequence()) return ValueType::sequence(sequence().element);
  if (is_optional()) return ValueType::optional(optional().element);
  if (is_map()) return ValueType::map(map().keys.dtype(), map().value_type);
  return {};
}

std::string Value::describe() const {
  if (empty()) return "nothing";
  const std::string type_name = type().to_string();
  if (is_tensor()) return type_name + " " + tensor().shape().to_string();
  if (is_sequence()) return fmt::format("{} of {}", type_name, sequence().items.size());
  if (is_optional())
    return fmt::format("{} {}", type_name, optional().item ? "with a value" : "without a value");
  return fmt::format("{} of {}", type_name, map().values.size());
}

SymbolicShape symbolic(const Shape& shape) {
  SymbolicShape out;
  for (const std::int64_t dim : shape) out.push_back({dim, {}});
  return out;
}

}  // namespace grurun
