// One run of a plan while it goes on: the frame of values, the limits, and the RunContext of the step at
// hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/graph/executor.h"
#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"

namespace grurun::engine {

/// Shared by the main graph and all bodies of one run.
struct RunState {
  const RunOptions& options;
  std::atomic<std::int64_t> iterations = 0;  // an operator may count on several threads
  std::uint64_t seeds_given = 0;
  std::string body_path{};   // of RunOptions::observe_body, where the steps that run now stand
  bool in_function = false;  // these steps are of the body of a function, which is not observed

  /// Throws Error(limit) once the deadline has passed, and what RunOptions::poll throws.
  void check_deadline() const;
};

/// Runs the steps of a plan over a frame whose inputs, constants and captures are in place.
/// observe is called for each value made, memory told of each step; both may be null.
void run_steps(const Plan& plan, Values& frame, RunState& state,
               const std::function<void(const Step&, std::size_t, const Value&)>* observe,
               memory::RunMemory* memory = nullptr);

/// A frame for the plan with its constants in place.
Values new_frame(const Plan& plan);

/// A step that runs. Its outputs are made in their slots of the frame; a tensor that still lies there from a
/// run before is used again when it has the type and shape and is nobody else's.
class StepContext final : public RunContext {
 public:
  StepContext(const Step& step, Values& frame, RunState& state);

  std::size_t input_count() const override { return step_.inputs.size(); }
  std::size_t output_count() const override { return step_.outputs.size(); }
  bool has_input(std::size_t index) const override {
    if (index >= step_.inputs.size() || step_.inputs[index] == no_slot) return false;
    return !frame_[static_cast<std::size_t>(step_.inputs[index])].empty();
  }
  bool has_output(std::size_t index) const override {
    return index < step_.outputs.size() && step_.outputs[index] != no_slot;
  }
  const Value* optional_input(std::size_t index) override;
  Tensor take_tensor(std::size_t index) override;
  Sequence take_sequence(std::size_t index) override;
  void accept_input(std::size_t index) override { mark(index); }
  Tensor& output(std::size_t index, DType dtype, const Shape& shape) override;
  void set_output(std::size_t index, Value value) override;
  Values run_subgraph(const Plan& body, Values inputs) override;
  void check_limits() override;
  void check_limits_uncounted() override;
  const RunOptions& options() const override { return state_.options; }
  std::uint64_t random_seed() override;

  /// Throws when the types of the inputs are not those the schema and the kernel admit.
  void check_input_types() const;
  /// Throws Error(invalid_model) where a body returned what the version does not admit.
  void check_output_types();

  /// As the function of that name, of the inputs as they are before the step runs.
  void note_forms() const;

  /// Throws RuleError instead of what the kernel has thrown, as refuse_by_rule does.
  void refuse(const Error& error) const;

  /// "tensor(float) [2,3], -, ...": the inputs as they were before the step took any.
  std::string describe_inputs() const;

  /// Throws Error(internal) when a present input was not looked at or a wanted output was not made, and what
  /// check_output_types does.
  void finish();

 private:
  /// Runs the steps of a body and tells RunOptions::observe_body of its values.
  void run_observed(const Plan& body, Values& frame);
  bool obeys_rule(std::size_t input) const;
  /// Calls use(NodeFacts) with what is known of the step's inputs.
  template <typename Use>
  void with_facts(const Use& use) const;
  /// As check_input_types, rule by rule.
  void check_rules() const;
  /// Throws RuleError for a type that the standard does not admit; "" is not judged.
  void require_types(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) const;
  bool is_tensor_of(std::size_t input, DType dtype) const {
    if (step_.inputs[input] == no_slot) return false;
    const Value& value = frame_[static_cast<std::size_t>(step_.inputs[input])];
    return value.is_tensor() && value.tensor().dtype() == dtype;
  }
  /// Whether nothing needs the value of an input any more once this step has it.
  bool is_last_use(std::size_t input) const;
  void mark(std::size_t index) {
    if (index < 64) {
      seen_ |= std::uint64_t{1} << index;
    } else if (index - 64 < seen_beyond_64_.size()) {
      seen_beyond_64_[index - 64] = true;
    }
  }
  Value& output_place(std::size_t index) {
    if (has_output(index)) return frame_[static_cast<std::size_t>(step_.outputs[index])];
    if (index >= unwanted_.size()) unwanted_.resize(index + 1);
    return unwanted_[index];
  }

  const Step& step_;
  Values& frame_;
  RunState& state_;
  std::int64_t bodies_run_ = 0;
  std::uint64_t seen_ = 0;  // inputs 0 to 63
  std::vector<bool> seen_beyond_64_;
  Values unwanted_;  // outputs that no slot waits for, by index

  // What was taken out of the frame, for messages.
  struct Taken {
    std::size_t index;
    DType dtype;  // of a tensor
    Shape shape;
    std::string text;  // describes a sequence
  };
  ScratchVector<Taken> taken_;
};

}  // namespace grurun::engine
