// One model that runs many times, on several threads at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/executor.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/values/tensor_files.h"
#include "opset/findings/finding.h"
#include "trial/trial.h"

namespace grurun::python {

/// Bytes that tensors may take where a session asks for no less: what the machine or container has, without a
/// sixteenth for the interpreter and what else lives in the process.
std::size_t default_memory();

struct SessionOptions {
  int threads = 0;  // 1: runs stay on the thread that calls; others: of the pool that all sessions share
  std::uint64_t seed = 0;
  std::optional<std::size_t> max_memory;  // bytes of tensors in the process while a run goes on
  std::optional<double> max_time;         // seconds of reading the model, and of each run
  bool fusion = true;
  bool strict = false;  // forms that the standard forbids (opset/pages/forms.h) are errors
};

/// Throws Error(usage) for options out of range.
void require_valid(const SessionOptions& options);

/// The first run that feeds a set of inputs is a Trial: the model is checked and planned for it, and types of
/// values are watched. Those after it go to runners of the same plan, one for each thread that runs at a
/// time.
class Session {
 public:
  /// options: that require_valid() lets pass. Throws RuleError where they are strict and the file was mended.
  Session(onnx_io::RunnableModel file, SessionOptions options);

  const onnx_io::Model& model() const { return file_.model; }
  const std::vector<onnx_io::Mended>& mended() const { return file_.mended; }
  const SessionOptions& options() const { return options_; }

  using Poll = std::function<void()>;

  /// By graph output. inputs[i] belongs to graph.inputs[i]; warnings are added to `warnings`. poll may be
  /// empty. Throws what Trial::run and engine::Runner::run throw.
  std::vector<Value> run(std::vector<Value> inputs, const Poll& poll, std::vector<opset::Finding>& warnings);

  /// Values of the main graph by these names, or all that its nodes make: of a run without fusion, checked
  /// before. Throws Error(usage) for a name that is no value of the main graph, and what a run throws.
  std::vector<onnx_io::NamedValue> intermediates(const std::optional<std::vector<std::string>>& names,
                                                 const std::vector<Value>& inputs, const Poll& poll) const;

  /// Throws why the model cannot be planned for a run that feeds every input without an initializer.
  void require_plan() const;

 private:
  struct Planned {
    std::shared_ptr<const engine::Plan> plan;
    std::vector<std::unique_ptr<engine::Runner>> idle;
  };
  class Running;

  trial::TrialOptions trial_options(const Poll& poll) const;
  std::optional<std::chrono::steady_clock::time_point> deadline() const;
  std::vector<Value> run_first(std::vector<Value> inputs, const Poll& poll,
                               std::vector<opset::Finding>& warnings, Planned& planned);

  const onnx_io::RunnableModel file_;
  const SessionOptions options_;
  std::mutex mutex_;
  std::map<std::vector<bool>, Planned> planned_;  // by which inputs are fed
};

}  // namespace grurun::python
