// Runs a plan.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/plan.h"
#include "tensor/memory/run_memory.h"

namespace grurun::engine {

/// A value in a body that a node runs.
struct BodyValue {
  /// "loop/3/": the name of the node with the body, or of its first output where it has none, and how often
  /// it has run the body before. A node with several bodies (If) runs one of them once: "choice/". Nested
  /// ones follow each other.
  const std::string& path;
  const std::string& name;
  const Value& value;
  const Step* step;  // nullptr: it is an input of the body
};

struct RunOptions {
  std::uint64_t seed = 0;
  /// Error(limit) when the run passes this moment.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// Iterations in one run, all together, of what a model decides the number of: bodies of Loop and Scan,
  /// steps of recurrent layers, boxes, trees, parts of sequences. Error(limit) beyond.
  std::int64_t max_iterations = 100'000'000;
  /// Called where the deadline is looked at, on any thread of the run; what it throws ends the run. May be
  /// empty.
  std::function<void()> poll{};
  /// Called with every value a step of the main graph makes, by name (bisecting, tracing); a plan made with
  /// PlanOptions::fuse has fewer. May be empty.
  std::function<void(const Step&, std::size_t output, const Value&)> observe;
  /// Called with every value of a body, when it is there: what the body is given as inputs, what its steps
  /// make. May be empty.
  std::function<void(const BodyValue&)> observe_body{};
  /// Called after every step, those of bodies and functions included, with when it began and ended. May be
  /// empty.
  using Moment = std::chrono::steady_clock::time_point;
  std::function<void(const Step&, Moment begin, Moment end)> on_step;
};

/// inputs[i] belongs to plan.inputs[i]; an empty Value leaves an input to its initializer. Kinds, types and
/// shapes, those in sequences, optionals and maps included, are compared with what the graph declares:
/// Error(invalid_model) names the input and both sides. Returns the outputs in the graph's order. An error in
/// a node carries the node's label as context, with input types and shapes.
std::vector<Value> run_plan(const Plan& plan, std::vector<Value> inputs, const RunOptions& options = {});

/// Runs one plan many times, keeping between runs what does not change. One run at a time. Of a second
/// run with inputs of the same types and shapes it is recorded which memory it takes, and when; in the runs
/// after it, as long as types and shapes stay, values that do not live together share places in one area
/// (tensor/memory/run_memory.h).
class Runner {
 public:
  explicit Runner(std::shared_ptr<const Plan> plan);

  const Plan& plan() const { return *plan_; }

  /// As run_plan.
  void run(std::span<const Value> inputs, const RunOptions& options = {});

  /// Output i of the last run, if it did not throw. The next run writes over it where it can, but never over
  /// a copy.
  const Value& output(std::size_t i) const { return frame_[static_cast<std::size_t>(plan_->outputs[i])]; }

  /// The outputs of the last run, in the graph's order, given away: what no constant, input or other output
  /// shares is the caller's alone (Tensor::unique).
  std::vector<Value> take_outputs();

  /// Bytes of the memory laid out for the values of a run: 0 until there is any.
  std::size_t planned_bytes() const { return memory_.size(); }

 private:
  // What the runs one after the other with inputs of the same types have come to.
  enum class Stage { first, seen, recorded, laid_out, not_laid_out };
  // same_types: the inputs are of the types and shapes of the last run's.
  void prepare_memory(std::span<const Value> inputs, bool same_types);
  void give_memory_up();
  void run_recorded(const RunOptions& options);

  const std::shared_ptr<const Plan> plan_;
  Values frame_;
  std::vector<std::size_t> fed_;  // slots of inputs that are not constant
  memory::RunMemory memory_;
  Stage stage_ = Stage::first;
  std::vector<std::pair<DType, Shape>> fed_types_;  // of the last run's inputs; undefined: no tensor
  std::vector<std::size_t> made_anew_;              // slots of outputs that no run writes over
};

}  // namespace grurun::engine
