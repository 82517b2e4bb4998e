#include "opset/pages/joined_inputs.h"
#include "opset/pages/microsoft_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

void check_quantized_planes(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr) return;
  const bool last = facts.int_attribute("channels_last", 0) != 0;
  for (int axis = last ? 1 : 2; axis < rank_of(*X) - (last ? 1 : 0); ++axis)
    if (size_of(X, axis) == 0) fail_invalid("X is {}: its planes have no element", to_string(*X));
}

void check_column_scales(const NodeFacts& facts) {
  const SymbolicShape *scale = facts.shape(4), *zero = facts.shape(5);
  const Size columns = size_of(facts.shape(3), facts.int_attribute("transB", 0) != 0 ? 0 : 1);
  for (const std::size_t i : {4, 5}) {
    const SymbolicShape* shape = facts.shape(i);
    if (shape == nullptr || shape->empty()) continue;
    const Sizes sizes = sizes_of(*shape);
    if (!may_be(sizes, {1}) && !may_be(sizes, {columns}))
      fail_invalid("{} is {}, but must hold one number, or one for each column of B", input_name(facts, i),
                   to_string(*shape));
  }
  if (scale != nullptr && zero != nullptr && !may_be(sizes_of(*scale), sizes_of(*zero)))
    fail_invalid("b_scale is {}, but b_zero_point is {}: give both one shape", to_string(*scale),
                 to_string(*zero));
}

void check_quantized_parts(const NodeFacts& facts) {
  constexpr std::size_t first = 2, inputs_of_each = 3;
  const std::size_t count = facts.input_count();
  if (count < first + inputs_of_each || (count - first) % inputs_of_each != 0)
    fail_invalid("{} inputs follow Y_zero_point: each input to join, its scale and its zero point are wanted",
                 count < first ? 0 : count - first);
  for (std::size_t i = first; i < count; i += inputs_of_each) {
    const DType type = facts.dtype(i), zero_type = facts.dtype(i + 2), scale_type = facts.dtype(i + 1);
    if (type == DType::float32) fail_invalid("input {} is float; QLinearConcat joins int8 and uint8", i);
    if (scale_type != DType::undefined && scale_type != DType::float32)
      fail_invalid("input {} is {}, but must be float: a scale", i + 1, dtype_name(scale_type));
    if (type != DType::undefined && zero_type != DType::undefined && zero_type != type)
      fail_invalid("input {} is {}, but must be {} as input {}: its zero point", i + 2, dtype_name(zero_type),
                   dtype_name(type), i);
    for (const std::size_t one : {i + 1, i + 2}) {
      const SymbolicShape* shape = facts.shape(one);
      const Size elements = shape == nullptr ? std::nullopt : count_of(sizes_of(*shape));
      if (elements && *elements != 1)
        fail_invalid("input {} is {}, but must hold one number", one, to_string(*shape));
    }
  }
  const SymbolicShape* part = facts.shape(first);
  const std::int64_t axis = facts.int_attribute("axis", 0), rank = part == nullptr ? 0 : rank_of(*part);
  if (part != nullptr && (axis < -rank || axis >= rank))
    fail_invalid("attribute axis is {}, but must be in [{}, {}): input {} is {}", axis, -rank, rank, first,
                 to_string(*part));
  require_joined(facts, axis, first, inputs_of_each);
}

}  // namespace grurun::opset
