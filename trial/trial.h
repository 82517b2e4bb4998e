// One model and its data sets: held against the rules, planned, run, watched and compared. What every
// command, and every other caller, does with a model goes through here, so that it means the same. Why
// outputs differ is told by explain (trial/diagnosis/explain.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"
#include "opset/findings/finding.h"
#include "tensor/value.h"
#include "trial/compare.h"
#include "trial/data_set.h"
#include "trial/model_check.h"
#include "trial/tolerance.h"

namespace grurun::trial {

/// Of which outputs it is said how far they are from those computed in double.
enum class Precise : std::uint8_t { none, differing, all };

struct TrialOptions {
  CheckDepth depth = CheckDepth::recurrent_layers;
  /// Whether steps that follow each other may become one. Results stay the same, bit by bit; types of values
  /// that no step makes any more are not watched.
  bool fuse = true;
  std::uint64_t seed = 0;                                         // of random operators
  std::optional<std::chrono::steady_clock::time_point> deadline;  // Error(limit) beyond
  std::vector<Tolerances> tolerances;  // by graph output; the last holds for those behind it
  bool diagnose = true;                // explain() says why recurrent nodes differ
  Precise precise = Precise::none;     // explain() says which side is nearer to the truth
  bool compare_random = false;         // what a random operator reaches is compared like all else
  bool keep_inputs = false;            // Outcome::inputs, whether or not explain() needs them
  /// Called with each warning when it is found: of the check (severity warning), once for the inputs that are
  /// fed; of values whose types contradict the model, after each run. May be empty.
  std::function<void(const opset::Finding&)> warn;
  /// Called after each step of a run. May be empty.
  std::function<void()> between_steps;
  std::function<void()> poll{};  // engine::RunOptions::poll
};

/// What became of one graph output.
struct Judgement {
  bool compared = false;  // false: nothing is expected of it
  bool random = false;    // a random operator reaches it: type, shape and distribution were checked instead
  Comparison comparison;

  bool differs() const { return compared && !comparison.ok; }
};

struct Outcome {
  std::vector<Value> inputs;          // by graph input; none where neither keep_inputs nor judging needs them
  std::vector<Value> expected;        // by graph output; an empty Value where nothing is expected
  std::vector<Value> outputs;         // by graph output
  std::vector<Judgement> judgements;  // by graph output

  bool differs() const;
};

class Trial {
 public:
  /// model must outlive this.
  Trial(const onnx_io::Model& model, TrialOptions options);

  /// Checks the model for runs with these inputs; a second time for the same ones does nothing. inputs[i]
  /// belongs to graph.inputs[i]; an empty Value leaves it to its initializer. Throws Error(invalid_model) or
  /// Error(unsupported) with the first error of the check.
  void check(const std::vector<Value>& inputs);

  /// The plan of every run with these inputs, checked before. Throws what check() and engine::make_plan
  /// throw.
  std::shared_ptr<const engine::Plan> plan(const std::vector<Value>& inputs);

  /// Runs the model and compares its outputs with what is expected of them. Throws what plan() and
  /// engine::run_plan throw, and Error(limit) where the deadline passed though nothing differs.
  Outcome run(DataSet set);

  /// Compares outputs that something else made of the model with what is expected of them; outputs[i] belongs
  /// to graph.outputs[i]. Nothing is checked, planned or run.
  Outcome judge(DataSet set, std::vector<Value> outputs) const;

  const onnx_io::Model& model() const { return model_; }
  const TrialOptions& options() const { return options_; }

 private:
  using Tensors = std::unordered_map<std::string, Tensor>;

  bool needs_inputs(const std::vector<Value>& expected) const;
  /// Fills in what the run makes of the deciding values.
  std::vector<Value> run_watched(std::vector<Value> inputs, Tensors& made);
  void judge(const Tensors& made, Outcome& outcome) const;
  void warn(const std::vector<opset::Finding>& findings) const;
  /// Of forms that planning and running meet, each once.
  void warn_of_form(const opset::Finding& finding);

  const onnx_io::Model& model_;
  const TrialOptions options_;
  const bool is_random_, has_recurrent_node_;
  const std::unordered_set<std::string> deciding_;  // names of values that say whether an output is random
  std::optional<std::unordered_set<std::string>> checked_;  // the inputs that were fed at the last check
  std::map<std::string, ValueType> inferred_;               // by that check
  std::shared_ptr<const engine::Plan> plan_;                // for the same inputs
  std::set<std::string> forms_;                             // that were warned of: code, node and message
};

/// What a repeated run takes from the one it explains.
struct Rerun {
  std::uint64_t seed = 0;  // that of the run, or random operators draw other values
  std::optional<std::chrono::steady_clock::time_point> deadline{};  // Error(limit) beyond
};

/// The model's outputs. An empty Value leaves an input to its initializer. Throws what planning and running
/// throw.
std::vector<Value> run_again(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun);

}  // namespace grurun::trial
