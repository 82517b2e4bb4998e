// Reverse-mode differentiation by a tape: operators run one at a time and are written down with their values;
// what the gradients are computed by is written down too, so that gradients can be differentiated again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/graph/gradient_path.h"
#include "engine/graph/op_context.h"
#include "onnx_io/models/model.h"

namespace grurun::engine {

class Tape {
 public:
  /// A value on the tape.
  using Id = int;
  static constexpr Id none = -1;

  /// An operator that ran.
  struct Entry {
    onnx_io::Node node;
    std::int64_t opset_version;
    int since_version;
    std::vector<Id> inputs;   // none: omitted
    std::vector<Id> outputs;  // none: not named
  };

  explicit Tape(RunContext& run) : run_(run) {}

  Id add(Value value);
  const Value& value(Id id) const { return values_.at(static_cast<std::size_t>(id)); }
  const Tensor& tensor(Id id) const { return value(id).tensor(); }

  /// Runs a node and returns its outputs, none for those that it does not name. A node whose operator has a
  /// function body in its schema and no rule of its own is run through that body. Random operators throw
  /// Error(unsupported).
  std::vector<Id> apply(const onnx_io::Node& node, std::int64_t opset_version, const std::vector<Id>& inputs);

  /// The only output of an ai.onnx operator of opset 18, for rules.
  Id op(const char* type, const std::vector<Id>& inputs, std::vector<onnx_io::Attribute> attributes = {});

  /// The gradients of path.y, all its elements added up, with respect to path.xs, where xs and zs have the
  /// values inputs; outside finds the values of path.outside.
  std::vector<Id> differentiate(const GradientPath& path, const std::vector<Id>& inputs,
                                const std::function<Id(const std::string&)>& outside);

 private:
  std::vector<Id> gradients(Id y, const std::vector<Id>& xs);
  std::vector<bool> dependent_values(const std::vector<Id>& xs, std::size_t entries) const;
  bool apply_body(const onnx_io::Node& node, std::int64_t opset_version, const std::vector<Id>& inputs,
                  std::vector<Id>& outputs);
  std::vector<Id> run_node(const onnx_io::Node& node, std::int64_t opset_version,
                           const std::vector<Id>& inputs);

  RunContext& run_;
  std::deque<Value> values_;  // references stay valid
  std::deque<Entry> entries_;
  int depth_ = 0;
};

/// What a rule works with: one entry of the tape, the gradients of its outputs, and what it gives for its
/// inputs.
class Backward {
 public:
  using Id = Tape::Id;

  Backward(Tape& tape, const Tape::Entry& entry, std::vector<Id> output_gradients, std::vector<bool> wanted)
      : tape_(tape),
        entry_(entry),
        dy_(std::move(output_gradients)),
        wanted_(std::move(wanted)),
        given_(entry.inputs.size(), Tape::none) {}

  Tape& tape() { return tape_; }
  const Tape::Entry& entry() const { return entry_; }

  std::size_t input_count() const { return entry_.inputs.size(); }
  bool has_input(std::size_t i) const { return i < entry_.inputs.size() && entry_.inputs[i] != Tape::none; }
  Id x(std::size_t i = 0) const { return entry_.inputs.at(i); }
  Id y(std::size_t i = 0) const { return entry_.outputs.at(i); }
  /// The gradient of output i; none where nothing depends on it.
  Id dy(std::size_t i = 0) const { return dy_.at(i); }
  /// True when the gradient of input i is needed.
  bool wants(std::size_t i) const { return i < wanted_.size() && wanted_[i]; }
  const Tensor& tensor(Id id) const { return tape_.tensor(id); }
  const Shape& shape(Id id) const { return tape_.tensor(id).shape(); }

  std::int64_t int_attribute(const char* name, std::int64_t fallback) const;
  double float_attribute(const char* name, float fallback) const;
  std::string string_attribute(const char* name, const char* fallback) const;
  std::vector<std::int64_t> ints_attribute(const char* name) const;

  /// Error(unsupported) for versions before this one, whose broadcasting or axes differ.
  void require_version(int since_version) const;
  [[noreturn]] void refuse(const std::string& why) const;

  /// gradient, added up where input i was broadcast, is one for input i.
  void give(std::size_t i, Id gradient);
  const std::vector<Id>& given() const { return given_; }

  Id op(const char* type, const std::vector<Id>& inputs, std::vector<onnx_io::Attribute> attributes = {}) {
    return tape_.op(type, inputs, std::move(attributes));
  }
  /// A scalar of the element type of id.
  Id number(double value, Id like);
  Id ints(const std::vector<std::int64_t>& values);
  Id zeros(Id like);
  Id add(Id a, Id b) { return op("Add", {a, b}); }
  Id sub(Id a, Id b) { return op("Sub", {a, b}); }
  Id mul(Id a, Id b) { return op("Mul", {a, b}); }
  Id div(Id a, Id b) { return op("Div", {a, b}); }
  Id neg(Id a) { return op("Neg", {a}); }
  Id where(Id condition, Id a, Id b) { return op("Where", {condition, a, b}); }
  Id reshape(Id a, const Shape& shape);
  Id transpose(Id a, const std::vector<std::int64_t>& perm);
  Id reduce_sum(Id a, const std::vector<std::int64_t>& axes, bool keepdims);
  Id expand(Id a, const Shape& shape);

 private:
  Tape& tape_;
  const Tape::Entry& entry_;
  std::vector<Id> dy_;
  std::vector<bool> wanted_;
  std::vector<Id> given_;
};

using GradientRule = std::function<void(Backward&)>;
using GradientRules = std::map<std::string, GradientRule>;

/// The rule for an operator of ai.onnx, or nullptr.
const GradientRule* find_gradient_rule(const onnx_io::Node& node);

void add_elementwise_rules(GradientRules& rules);
void add_matrix_rules(GradientRules& rules);
void add_movement_rules(GradientRules& rules);
void add_convolution_rules(GradientRules& rules);

onnx_io::Attribute int_attr(const char* name, std::int64_t value);
onnx_io::Attribute ints_attr(const char* name, std::vector<std::int64_t> values);

}  // namespace grurun::engine
