// What an operator sees: the node while it is prepared, the values while it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/arrangements.h"
#include "engine/graph/op_registry.h"
#include "engine/graph/refusal.h"
#include "onnx_io/models/model.h"
#include "tensor/error.h"
#include "tensor/memory/scratch.h"
#include "tensor/value.h"

namespace grurun::engine {

/// Values that a run hands on; the thread keeps the memory of the list.
using Values = ScratchVector<Value>;

struct Plan;
struct RunOptions;

/// The node, while its operator is prepared. Every attribute read here is marked; one that stays unmarked on
/// a node is reported as unsupported, so that no attribute is ever ignored in silence.
class PrepareContext {
 public:
  virtual ~PrepareContext() = default;

  virtual const std::string& domain() const = 0;
  virtual const std::string& op_type() const = 0;
  virtual int since_version() const = 0;
  /// The opset version that the node's scope imports for its domain.
  virtual std::int64_t opset_version() const = 0;

  /// Number of inputs and outputs named on the node, omitted ones ("") between others counted.
  virtual std::size_t input_count() const = 0;
  virtual std::size_t output_count() const = 0;
  virtual bool has_input(std::size_t index) const = 0;
  virtual bool has_output(std::size_t index) const = 0;

  /// The input's value when it is known before the run (initializer that cannot be fed, Constant), else
  /// nullptr.
  virtual const Tensor* constant_input(std::size_t index) const = 0;

  /// What is made of constant inputs, shared by all nodes of the plan that make the same of them.
  virtual Arrangements& arrangements() = 0;

  /// The attribute, or nullptr; marks it as read. A wrong type throws Error(invalid_model).
  virtual const onnx_io::Attribute* attribute(const char* name, onnx_io::AttributeType type) = 0;
  bool has_attribute(const char* name);

  /// Typed access. Without a fallback the attribute is required: missing throws Error(invalid_model) naming
  /// it.
  std::int64_t int_attribute(const char* name);
  std::int64_t int_attribute(const char* name, std::int64_t fallback);
  /// An attribute that must be 0 or 1: any other number throws Error(invalid_model).
  bool flag_attribute(const char* name, bool fallback);
  float float_attribute(const char* name);
  float float_attribute(const char* name, float fallback);
  std::string string_attribute(const char* name);
  std::string string_attribute(const char* name, const std::string& fallback);
  std::vector<std::int64_t> ints_attribute(const char* name, const std::vector<std::int64_t>& fallback = {});
  std::vector<float> floats_attribute(const char* name, const std::vector<float>& fallback = {});
  std::vector<std::string> strings_attribute(const char* name, const std::vector<std::string>& fallback = {});
  std::optional<Tensor> tensor_attribute(const char* name);
  std::optional<std::int64_t> optional_int(const char* name);
  std::optional<float> optional_float(const char* name);

  /// Marks an attribute as read although its value has no effect here; why belongs in a comment at the call.
  void accept_attribute(const char* name);

  /// Says that output 0, the only one, is this value in every run: the plan keeps it as a constant, which
  /// operators after this one may read while they are prepared. The run step is then not needed and may be
  /// empty.
  virtual void make_constant(Value value) = 0;

  /// The body graph under this attribute, planned within the scope of the node: outer names resolve.
  /// Required.
  virtual std::shared_ptr<const Plan> subgraph(const char* name) = 0;

 protected:
  virtual const onnx_io::Attribute* find(const char* name) = 0;  // marks it
};

/// Values of one run of one node. Every present input must be looked at (input, tensor, take_tensor,
/// take_sequence, accept_input); the executor reports one that never was as an internal error.
class RunContext {
 public:
  virtual ~RunContext() = default;

  virtual std::size_t input_count() const = 0;
  virtual std::size_t output_count() const = 0;
  /// False for an omitted input ("", or beyond the last).
  virtual bool has_input(std::size_t index) const = 0;
  /// False for an output that nobody named; computing it is wasted, setting it is harmless.
  virtual bool has_output(std::size_t index) const = 0;

  /// The input; nullptr for an omitted one.
  virtual const Value* optional_input(std::size_t index) = 0;
  /// The input; an omitted one throws Error(invalid_model) naming its number.
  const Value& input(std::size_t index) {
    if (const Value* value = optional_input(index)) return *value;
    fail_omitted(index);
  }
  const Tensor& tensor(std::size_t index) { return input(index).tensor(); }
  /// The tensor, or nullptr when omitted.
  const Tensor* optional_tensor(std::size_t index) {
    const Value* value = optional_input(index);
    return value == nullptr ? nullptr : &value->tensor();
  }
  /// The input as one to overwrite: its buffer is unique() when nothing else needs it any more.
  virtual Tensor take_tensor(std::size_t index) = 0;
  /// The sequence as one to change: its list is copied only where something else needs it.
  virtual Sequence take_sequence(std::size_t index) = 0;
  /// Marks an input as looked at although its value has no effect here.
  virtual void accept_input(std::size_t index) = 0;

  /// Allocates output index and returns it to be filled (uninitialised). The reference is valid until the
  /// node's run ends.
  virtual Tensor& output(std::size_t index, DType dtype, const Shape& shape) = 0;
  virtual void set_output(std::size_t index, Value value) = 0;

  /// Runs a body planned by PrepareContext::subgraph; inputs in the body's order. Names from outer scopes are
  /// bound to their values of this run.
  virtual Values run_subgraph(const Plan& body, Values inputs) = 0;

  /// Call in every loop whose trip count a model decides: throws Error(limit) when the time or iteration
  /// limit is reached.
  virtual void check_limits() = 0;
  /// The same without counting, for loops beside one that counts.
  virtual void check_limits_uncounted() = 0;

  virtual const RunOptions& options() const = 0;

  /// A seed for this node in this run: differs between nodes and between runs of a body, the same for the
  /// same --seed.
  virtual std::uint64_t random_seed() = 0;

 private:
  [[noreturn]] static void fail_omitted(std::size_t index);
};

}  // namespace grurun::engine
