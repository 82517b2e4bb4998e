// The smallest part of a model that fails as the whole does, found by leaving out nodes, sizes and names and
// looking whether it still fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/reduce/failure.h"
#include "conformance/reduce/truth.h"

namespace grurun::conformance {

struct ReduceOptions {
  CaseOptions each;     // how a part is judged: tolerances, seed, time, whose outputs
  std::string scratch;  // a folder for cases that are tried
  bool anonymize = false;
  bool any_message = false;     // the same verdict is the same failure, whatever it says
  std::size_t max_runs = 3000;  // of parts; then the smallest so far is the result
  std::optional<std::chrono::steady_clock::time_point> deadline;  // likewise
};

/// How large a model and its data are.
struct CaseSize {
  std::size_t nodes = 0;  // those in bodies, too
  std::size_t bytes = 0;  // of model.onnx and the data set
};

struct Reduction {
  trial::Submodel part;
  Failure whole, reduced;  // how each of them fails
  CaseSize before, after;
  std::size_t runs = 0;
  bool is_complete = true;  // false: max_runs or deadline ended it
  std::vector<std::string> notes;
};

/// nullopt: the whole model does not fail. truth: nullptr where nothing is known to be right, and the failure
/// is that the engine refuses the model. Values of the reference are converted to the model's floating types.
/// Throws Error(usage) where nothing is known of any output though the model runs, and what the truth's runs
/// throw.
std::optional<Reduction> reduce(const onnx_io::Model& model, const std::vector<Value>& inputs, Truth* truth,
                                const ReduceOptions& options);

}  // namespace grurun::conformance
