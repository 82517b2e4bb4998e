#include "opset/schema/parameter_types.h"

namespace grurun::opset {

namespace {

// An element type that nothing states contradicts nothing.
bool admits_element(DTypeSet admitted, const ValueType& element) {
  if (admitted.empty() || element.kind == ValueType::Kind::unknown) return !admitted.empty();
  if (element.kind != ValueType::Kind::tensor) return false;
  return element.elem == DType::undefined || admitted.contains(element.elem);
}

}  // namespace

bool ParameterTypes::admits(const Value& value) const {
  if (value.is_tensor()) return tensors.contains(value.tensor().dtype());
  if (value.is_sequence()) return admits_element(sequences, value.sequence().element);
  if (value.is_map()) return maps;
  const ValueType& inside = value.optional().element;
  if (inside.kind == ValueType::Kind::sequence)
    return admits_element(optional_sequences, inside.element ? *inside.element : ValueType());
  return admits_element(optionals, inside);
}

}  // namespace grurun::opset
