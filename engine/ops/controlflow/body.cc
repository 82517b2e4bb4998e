#include "engine/ops/controlflow/body.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/ops/shared/copy_elements.h"
#include "opset/pages/body_rules.h"

namespace grurun::engine {

namespace {

bool fits_shape(const Tensor& tensor, const SymbolicShape& shape) {
  if (tensor.rank() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i].value && *shape[i].value != tensor.dim(i)) return false;
  return true;
}

// Whether the value plainly is of that type, without a description of its own.
bool is_plainly(const Value& value, const ValueType& type, bool with_shapes) {
  if (!value.is_tensor() || type.kind != ValueType::Kind::tensor) return false;
  const Tensor& tensor = value.tensor();
  return tensor.dtype() == type.elem && (!with_shapes || !type.shape || fits_shape(tensor, *type.shape));
}

}  // namespace

void require_body(const Plan& body, const char* op, std::size_t inputs, std::size_t outputs) {
  judge_declared([&] {
    opset::require_counts(body.name, op, {inputs, outputs}, {body.inputs.size(), body.outputs.size()});
  });
}

void require_declared_states(const Plan& body, std::size_t first_input, std::size_t first_output,
                             std::size_t count, bool with_shapes) {
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t in = first_input + k, out = first_output + k;
    judge_declared([&] {
      opset::require_state_kept(
          {body.input_names[in], body.input_types[in], body.output_names[out], body.output_types[out]},
          with_shapes);
    });
  }
}

void require_declared_inputs(const Plan& body, const Values& inputs, bool with_shapes) {
  for (std::size_t i = 0; i < inputs.size() && i < body.input_types.size(); ++i) {
    const ValueType& declared = body.input_types[i];
    if (declared.kind == ValueType::Kind::unknown || is_plainly(inputs[i], declared, with_shapes)) continue;
    opset::require_declared(body.input_names[i], declared, inputs[i].type(), with_shapes);
  }
}

void require_declared_inputs(const Plan& body, const std::vector<ValueType>& inputs, bool with_shapes) {
  for (std::size_t i = 0; i < inputs.size() && i < body.input_types.size(); ++i)
    opset::require_declared(body.input_names[i], body.input_types[i], inputs[i], with_shapes);
}

KeptStates::KeptStates(const Plan& body, std::size_t first_input, std::size_t first_output,
                       std::span<const Value> states, bool with_shapes)
    : body_(body), first_input_(first_input), first_output_(first_output), with_shapes_(with_shapes) {
  types_.reserve(states.size());
  for (const Value& state : states)
    types_.push_back(with_shapes || !state.is_tensor() ? state.type()
                                                       : ValueType::tensor(state.tensor().dtype()));
}

void KeptStates::require_kept(std::span<const Value> returned) const {
  for (std::size_t k = 0; k < types_.size(); ++k) {
    if (is_plainly(returned[k], types_[k], with_shapes_)) continue;
    const ValueType after = returned[k].type();
    opset::require_state_kept(
        {body_.input_names[first_input_ + k], types_[k], body_.output_names[first_output_ + k], after},
        with_shapes_);
  }
}

Body prepare_body(PrepareContext& node, const char* attribute) {
  return {node.subgraph(attribute), dynamic_cast<BodyScope&>(node).source_of(attribute)};
}

std::vector<ValueType> Body::output_types(const std::vector<ValueType>& inputs, RunContext& run) const {
  return source == nullptr ? plan->output_types : source->output_types(inputs, run);
}

void KeptStates::require_kept(std::span<const ValueType> returned) const {
  for (std::size_t k = 0; k < types_.size(); ++k)
    opset::require_state_kept(
        {body_.input_names[first_input_ + k], types_[k], body_.output_names[first_output_ + k], returned[k]},
        with_shapes_);
}

std::vector<std::string> scan_output_labels(PrepareContext& node, const Plan& body, std::size_t first_of_node,
                                            std::size_t first_of_body) {
  std::vector<std::string> labels;
  for (std::size_t k = first_of_body; k < body.output_names.size(); ++k) {
    const std::string name = dynamic_cast<BodyScope&>(node).output_name(first_of_node + k - first_of_body);
    const std::string& inner = body.output_names[k];
    labels.push_back(name.empty() || name == inner ? fmt::format("'{}'", inner)
                                                   : fmt::format("'{}' ('{}' in the body)", name, inner));
  }
  return labels;
}

void require_stackable(const std::string& label, const Value& first, const Value& later,
                       std::int64_t iteration) {
  if (!later.is_tensor()) return opset::require_tensor_output(label, later.type());
  if (!first.is_tensor()) return;
  const Tensor &a = first.tensor(), &b = later.tensor();
  if (a.dtype() == b.dtype() && a.shape() == b.shape()) return;
  const ValueType first_type = first.type(), later_type = later.type();
  opset::require_scan_output_kept({label, first_type, iteration, later_type});
}

Tensor empty_scan_output(const std::string& label, const ValueType& type, std::int64_t axis) {
  opset::require_tensor_output(label, type);
  if (type.elem == DType::undefined) {
    fail_unsupported(
        "scan output {} of a body that never ran: its element type is neither declared nor found "
        "by inference; declare it in the body",
        label);
  }
  if (!type.shape) return Tensor(type.elem, Shape{0});
  Shape shape;
  for (const Dim& dim : *type.shape) shape.push_back(dim.value.value_or(0));
  shape.insert(static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(shape.rank()) + 1)),
               0);
  return Tensor(type.elem, shape);
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
