// The table behind function_bodies_test.cc: for every operator that has both a kernel here and a function
// body in the standard, how to make nodes whose kernel and body can be compared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "opset/schema/registry.h"
#include "tests/engine/one_node.h"

namespace grurun::engine::testing {

/// One node to run both ways.
struct BodyCase {
  std::string note = {};
  Attributes attributes = {};
  std::vector<Value> inputs = {};
  std::vector<bool> outputs = {true};  // which are named
  /// The coarsest type that the body computes in, where it is coarser than an output's own.
  DType precision = DType::undefined;
  /// Where kernel and body do not agree, by the standard's own looseness: why. The test then requires that
  /// they do differ or that the body does not run, so that no reason outlives its cause.
  std::string differs = {};
};

/// What the cases of an operator are made for: one version, one choice of element types; and random values,
/// the same in every run.
class BodyInputs {
 public:
  BodyInputs(const opset::SchemaInfo& schema, std::int64_t opset, std::map<std::string, std::string> types);

  int since_version() const { return schema_.since_version; }
  std::int64_t opset() const { return opset_; }
  const opset::SchemaInfo& schema() const { return schema_; }

  /// The type chosen for a constraint of the schema: "tensor(float)".
  const std::string& type(const std::string& constraint) const;
  /// Its element type; of a sequence, the items'.
  DType dtype(const std::string& constraint) const;

  /// Uniform in [low, high], integers both ends included; rounded to dtype, which must be a number or bool.
  Tensor uniform(DType dtype, const Shape& shape, double low = -3, double high = 3);
  /// The same, with infinities, NaN and zeros of both signs at the front where dtype has them.
  Tensor with_specials(DType dtype, const Shape& shape, double low = -3, double high = 3);
  /// Elements of any type, strings and complex numbers included, all bits of integers used.
  Tensor any(DType dtype, const Shape& shape);

  std::uint64_t bits();

 private:
  double unit();

  const opset::SchemaInfo& schema_;
  std::int64_t opset_;
  std::map<std::string, std::string> types_;
  std::uint64_t state_;
};

struct BodyRow {
  const char* op;  // with its domain before it, if it has one
  /// Roundings to the element type that the body's chain of operators makes at most where the kernel makes
  /// one at its end; what the two may differ by, in units of the type's precision, relative to the result or,
  /// below 1, absolute, since the terms of a cancelled sum are of order 1. Integers, bool and strings are
  /// exact.
  double roundings;
  std::vector<BodyCase> (*cases)(BodyInputs& in);
  /// A body that holds graphs, which the plan does not inline: it is planned as a function of its own.
  bool planned_apart = false;
};

std::vector<BodyRow> activation_body_rows();
std::vector<BodyRow> attention_body_rows();
std::vector<BodyRow> loss_body_rows();
std::vector<BodyRow> normalization_body_rows();
std::vector<BodyRow> quantized_body_rows();
std::vector<BodyRow> reduction_body_rows();
std::vector<BodyRow> sequence_body_rows();
std::vector<BodyRow> generator_body_rows();
std::vector<BodyRow> tensor_body_rows();

/// The cases with `differs` set where `applies`.
inline std::vector<BodyCase> differing(std::vector<BodyCase> cases, bool applies, const char* reason) {
  for (BodyCase& made : cases) {
    if (applies) made.differs = reason;
  }
  return cases;
}

/// The cases, whose bodies compute in `type` where that is coarser than what they are asked for.
inline std::vector<BodyCase> computed_in(std::vector<BodyCase> cases, DType type) {
  for (BodyCase& made : cases) made.precision = type;
  return cases;
}

inline Tensor ints(const std::vector<std::int64_t>& values) {
  return Tensor::from<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace grurun::engine::testing
