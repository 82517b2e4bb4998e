// What values ought to be: where a part of a model is cut out, and made smaller, it says what the part is to
// make.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "conformance/runtime_values.h"
#include "onnx_io/models/model.h"
#include "trial/submodel.h"

namespace grurun::conformance {

/// Another runtime whose values are right.
struct RuntimeTruth {
  RuntimeRun run;                                    // without a model: it gets those that are reduced
  std::optional<std::chrono::nanoseconds> max_time;  // of a part
};

/// A part of a model, and of the other one whose values are expected the same part.
struct Candidate {
  trial::Submodel part;
  std::optional<onnx_io::Model> other;
};

class Truth {
 public:
  enum class Source : std::uint8_t {
    stored,   // values by name
    engine,   // the engine's own, of another runtime that is judged
    precise,  // the model in double
    model,    // another model's values, as they are paired with the model's (trial::Pairing)
    runtime,  // what another runtime makes of the model
  };

  explicit Truth(trial::KnownValues stored) : source_(Source::stored), stored_(std::move(stored)) {}
  explicit Truth(Source source) : source_(source) {}
  explicit Truth(onnx_io::Model other) : source_(Source::model), other_(std::move(other)) {}
  explicit Truth(RuntimeTruth runtime) : source_(Source::runtime), runtime_(std::move(runtime)) {}

  Source source() const { return source_; }
  const std::optional<onnx_io::Model>& other() const { return other_; }
  void set_other(onnx_io::Model other) { other_ = std::move(other); }

  /// Values that a run of the model on these inputs ought to make, by name. own: what the engine makes, as
  /// far as it can; a runtime is asked for these and the outputs. Throws what the runs throw.
  trial::KnownValues values(const onnx_io::Model& model, const std::vector<Value>& inputs,
                            const trial::KnownValues& own, const trial::Rerun& rerun) const;

  /// The part of the other model between the inputs and the outputs of this one, by their names; known: its
  /// values, as values() gave them. nullopt: there is no other model, or it has no such values.
  std::optional<onnx_io::Model> part_of_other(const onnx_io::Model& part,
                                              const trial::KnownValues& known) const;

  /// What a candidate's outputs ought to be, of the types that they have in it; nullopt where that cannot be
  /// computed, or not before the deadline.
  std::optional<std::vector<Value>> outputs(const Candidate& candidate, const trial::Rerun& rerun) const;

 private:
  Source source_;
  trial::KnownValues stored_;
  std::optional<onnx_io::Model> other_;
  std::optional<RuntimeTruth> runtime_;
};

}  // namespace grurun::conformance
