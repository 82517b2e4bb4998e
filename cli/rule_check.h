// The rules of the standard at `grurun MODEL`: before the run, and the types of values while it runs.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "engine/graph/plan.h"
#include "onnx_io/models/model.h"
#include "opset/check/actual_types.h"
#include "tensor/value.h"

namespace grurun::cli {

/// Compares what values are with what the model declares and inference found. Findings become warnings on
/// stderr and change nothing.
class RuleCheck {
 public:
  /// Applies the rules of GRU, RNN and LSTM, or all rules of `grurun check`. Throws Error(invalid_model) for
  /// an error; warnings go to stderr. fed: the inputs that have a value. model must outlive this.
  RuleCheck(const onnx_io::Model& model, const std::unordered_set<std::string>& fed, bool all_rules);

  void see(const std::string& name, const Value& value) { types_.see(name, value); }
  /// Values of steps of the main graph; those of functions that were put in place of a node are not watched.
  void see(const engine::Step& step, std::size_t output, const Value& value);

  void print_warnings() const;

 private:
  opset::ActualTypes types_;
  std::unordered_set<std::string> labels_;
};

}  // namespace grurun::cli
