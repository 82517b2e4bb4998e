#include "engine/ops/controlflow/body.h"

#include <algorithm>

#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

void require_body(const Plan& body, const char* op, std::size_t inputs, std::size_t outputs) {
  if (body.inputs.size() == inputs && body.outputs.size() == outputs) return;
  fail_invalid("the body '{}' of {} must have {} inputs and {} outputs, but has {} and {}", body.name, op,
               inputs, outputs, body.inputs.size(), body.outputs.size());
}

Tensor empty_scan_output(const Plan& body, std::size_t index, std::int64_t axis) {
  const ValueType& declared = body.output_types[index];
  if (declared.elem == DType::undefined) {
    fail_unsupported("scan output '{}' of a body that never ran: the body does not declare its element type",
                     body.output_names[index]);
  }
  Shape shape;
  if (declared.shape) {
    for (const Dim& dim : *declared.shape) shape.push_back(dim.value.value_or(0));
  }
  shape.insert(static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(shape.rank()) + 1)),
               0);
  return Tensor(declared.elem, shape);
}

Tensor stack_scan_output(std::span<const Value> values, std::int64_t axis, bool reversed) {
  std::vector<Tensor> tensors;
  tensors.reserve(values.size());
  for (const Value& value : values) tensors.push_back(value.tensor());
  if (reversed) std::ranges::reverse(tensors);
  const auto rank = static_cast<std::int64_t>(tensors.front().rank()) + 1;
  if (axis < -rank || axis >= rank)
    fail_invalid("scan_output_axes names axis {}, but must lie in [{}, {})", axis, -rank, rank);
  return stack(tensors, static_cast<std::size_t>(normalized_axis(axis, rank)));
}

}  // namespace grurun::engine
