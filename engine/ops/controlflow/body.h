// What If, Loop, Scan and SequenceMap share about their body graphs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/body_source.h"
#include "engine/graph/plan.h"
#include "engine/graph/refusal.h"
#include "opset/findings/rule_error.h"
#include "opset/findings/rules.h"
#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// Throws RuleError unless the body has these numbers of inputs and outputs.
void require_body(const Plan& body, const char* op, std::size_t inputs, std::size_t outputs);

/// Throws RuleError where the body declares another type for a state that it returns than for the one that it
/// takes, whether it ever runs or not. first_input, first_output: where its states begin.
void require_declared_states(const Plan& body, std::size_t first_input, std::size_t first_output,
                             std::size_t count, bool with_shapes);

/// Calls a rule of bodies (body_rules.h) while a node is prepared: what it throws gets the code that a check
/// prints.
template <typename Judge>
void judge_declared(const Judge& judge) {
  try {
    judge();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_model) throw;
    throw opset::RuleError(error.message(), opset::rule_info(opset::Rule::inference).code);
  }
}

/// Throws Error(invalid_model) where the body declares another type for an input than it is given, or another
/// shape where they count.
void require_declared_inputs(const Plan& body, const Values& inputs, bool with_shapes);
/// The same for what a body that never runs would be given.
void require_declared_inputs(const Plan& body, const std::vector<ValueType>& inputs, bool with_shapes);

/// The states that a body takes first and returns, as they were before the first iteration.
class KeptStates {
 public:
  /// first_input and first_output: of the body, where its states begin. Shapes count where a state keeps
  /// them.
  KeptStates(const Plan& body, std::size_t first_input, std::size_t first_output,
             std::span<const Value> states, bool with_shapes);

  /// Throws Error(invalid_model) where the body has returned another type.
  void require_kept(std::span<const Value> returned) const;
  /// The same where a body that never runs would return these types.
  void require_kept(std::span<const ValueType> returned) const;

 private:
  const Plan& body_;
  std::size_t first_input_, first_output_;
  ScratchVector<ValueType> types_;
  bool with_shapes_;
};

/// A body of a node, and what is kept of it where it does not declare the types of its outputs.
struct Body {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const BodySource> source;

  const Plan& operator*() const { return *plan; }
  const Plan* operator->() const { return plan.get(); }

  /// As the body declares them; what it leaves open as inference finds it for inputs of these types.
  std::vector<ValueType> output_types(const std::vector<ValueType>& inputs, RunContext& run) const;
};
Body prepare_body(PrepareContext& node, const char* attribute);

/// "'rows' ('w' in the body)": each output of the node that is a scan output, for messages.
std::vector<std::string> scan_output_labels(PrepareContext& node, const Plan& body, std::size_t first_of_node,
                                            std::size_t first_of_body);

/// Throws Error(invalid_model) unless `later`, of this iteration, is a tensor of the type and shape of
/// `first`, of iteration 0.
void require_stackable(const std::string& label, const Value& first, const Value& later,
                       std::int64_t iteration);

/// The element of a tensor that the page of the operator wants to hold exactly one.
template <typename T>
T single_element(const Tensor& tensor) {
  if (tensor.size() != 1) refuse();
  return *tensor.data<T>();
}

/// A scalar as the body declares its input: shape [1] where it declares one dimension, else [].
template <typename T>
Tensor as_declared(T value, const ValueType& declared) {
  Tensor scalar = Tensor::scalar(value);
  return declared.shape && declared.shape->size() == 1 ? scalar.reshaped(Shape{1}) : scalar;
}

/// A scan output when no iteration made it, whose value in one would be of this type: length 0 along axis,
/// the other dimensions as far as they are known, else 0. label: as scan_output_labels.
Tensor empty_scan_output(const std::string& label, const ValueType& type, std::int64_t axis);

/// Values of one scan output from all iterations put along a new axis, counted in the result.
Tensor stack_scan_output(std::span<const Value> values, std::int64_t axis, bool reversed);

}  // namespace grurun::engine
