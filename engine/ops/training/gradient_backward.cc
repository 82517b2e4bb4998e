#include "engine/ops/shared/cast.h"
#include "engine/ops/training/gradient_tape.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using Id = Tape::Id;

Attribute int_attr(const char* name, std::int64_t value) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = AttributeType::int_;
  attribute.i = value;
  return attribute;
}

Attribute ints_attr(const char* name, std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = AttributeType::ints;
  attribute.ints = std::move(values);
  return attribute;
}

std::int64_t Backward::int_attribute(const char* name, std::int64_t fallback) const {
  const Attribute* found = entry_.node.find_attribute(name);
  return found != nullptr ? found->i : fallback;
}

double Backward::float_attribute(const char* name, float fallback) const {
  const Attribute* found = entry_.node.find_attribute(name);
  return static_cast<double>(found != nullptr ? found->f : fallback);
}

std::string Backward::string_attribute(const char* name, const char* fallback) const {
  const Attribute* found = entry_.node.find_attribute(name);
  return found != nullptr ? found->s : fallback;
}

std::vector<std::int64_t> Backward::ints_attribute(const char* name) const {
  const Attribute* found = entry_.node.find_attribute(name);
  return found != nullptr ? found->ints : std::vector<std::int64_t>();
}

void Backward::refuse(const std::string& why) const {
  fail_unsupported("Gradient through {}-{} {}", entry_.node.op_type, entry_.since_version, why);
}

void Backward::require_version(int since_version) const {
  if (entry_.since_version < since_version) {
    fail_unsupported("Gradient through {}-{}, only through versions from {} on", entry_.node.op_type,
                     entry_.since_version, since_version);
  }
}

void Backward::give(std::size_t i, Id gradient) {
  const Shape& to = shape(x(i));
  const Shape& from = shape(gradient);
  if (!(from == to)) {
    std::vector<std::int64_t> axes;
    const std::size_t leading = from.rank() - to.rank();
    for (std::size_t d = 0; d < from.rank(); ++d) {
      if (d < leading || to[d - leading] != from[d]) axes.push_back(static_cast<std::int64_t>(d));
    }
    gradient = reshape(reduce_sum(gradient, axes, true), to);
  }
  given_.at(i) = given_.at(i) == Tape::none ? gradient : add(given_.at(i), gradient);
}

Id Backward::number(double value, Id like) {
  return tape_.add(cast_tensor(Tensor::scalar(value), tensor(like).dtype()));
}

Id Backward::ints(const std::vector<std::int64_t>& values) {
  return tape_.add(Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values));
}

Id Backward::zeros(Id like) {
  return tape_.add(Tensor::zeros(tensor(like).dtype(), shape(like)));
}

Id Backward::reshape(Id a, const Shape& to) {
  if (shape(a) == to) return a;
  return op("Reshape", {a, ints(to.to_vector())}, {int_attr("allowzero", 1)});
}

Id Backward::transpose(Id a, const std::vector<std::int64_t>& perm) {
  return op("Transpose", {a}, {ints_attr("perm", perm)});
}

Id Backward::reduce_sum(Id a, const std::vector<std::int64_t>& axes, bool keepdims) {
  if (axes.empty()) return a;
  return op("ReduceSum", {a, ints(axes)}, {int_attr("keepdims", keepdims ? 1 : 0)});
}

Id Backward::expand(Id a, const Shape& to) {
  return op("Expand", {a, ints(to.to_vector())});
}

}  // namespace grurun::engine
