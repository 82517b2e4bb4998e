#include "python/bindings/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <shared_mutex>
#include <unordered_set>
#include <utility>

#include "engine/kernels/machine/on_this_thread.h"
#include "engine/kernels/machine/parallel.h"
#include "opset/check/mended_findings.h"
#include "opset/findings/form_watch.h"
#include "tensor/error.h"
#include "tensor/memory/container_limits.h"
#include "tensor/memory/memory.h"

namespace grurun::python {
namespace {

using Clock = std::chrono::steady_clock;

// Threads of the pool are counted anew only while nobody runs: a kernel asks for their number more than once.
std::shared_mutex pool_mutex;

void set_pool(int threads) {
  if (threads == 1) return;
  const int wanted = threads < 1 ? kernels::usable_cpus() : threads;
  const std::unique_lock nobody_runs(pool_mutex);
  if (kernels::threads() != wanted) kernels::set_threads(wanted);
}

// The process has one limit: the least of those that sessions running now ask for.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    own_ = wanted.insert(bytes);
    apply();
  }
  ~MemoryLimit() {
    const std::lock_guard lock(mutex);
    wanted.erase(own_);
    apply();
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static void apply() {
    memory::set_limit(wanted.empty() ? default_memory() : std::min(*wanted.begin(), default_memory()));
  }

  static inline std::mutex mutex;
  static inline std::multiset<std::size_t> wanted;
  std::multiset<std::size_t>::iterator own_;
};

std::vector<bool> which_are_fed(const std::vector<Value>& inputs) {
  std::vector<bool> fed(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) fed[i] = !inputs[i].empty();
  return fed;
}

std::unordered_set<std::string> names_of_values(const onnx_io::Graph& graph) {
  std::unordered_set<std::string> names;
  for (const onnx_io::ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const onnx_io::Initializer& initializer : graph.initializers) names.insert(initializer.name);
  for (const onnx_io::Node& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  names.erase("");
  return names;
}

}  // namespace

std::size_t default_memory() {
  return usable_memory() - usable_memory() / 16;
}

// What holds while a run goes on.
class Session::Running {
 public:
  explicit Running(const SessionOptions& options) : pool_(pool_mutex), forms_(options.strict) {
    if (options.threads == 1) alone_.emplace();
    if (options.max_memory) limit_.emplace(*options.max_memory);
  }

 private:
  std::shared_lock<std::shared_mutex> pool_;
  const opset::FormsRefused forms_;
  std::optional<kernels::OnThisThread> alone_;
  std::optional<MemoryLimit> limit_;
};

void require_valid(const SessionOptions& options) {
  if (options.threads < 0 || options.threads > 1024)
    fail_usage("threads: 0 (one for each CPU that may be used) to 1024, not {}", options.threads);
  if (options.max_time && !(*options.max_time > 0 && *options.max_time < 1e9))
    fail_usage("max_time: seconds above 0 and below 1e9, not {}", *options.max_time);
  if (options.max_memory && *options.max_memory == 0)
    fail_usage("max_memory: bytes above 0; None is what the machine or the container has");
}

Session::Session(onnx_io::RunnableModel file, SessionOptions options)
    : file_(std::move(file)), options_(std::move(options)) {
  if (options_.strict) {
    const opset::FormsRefused forms(true);
    opset::mended_findings(file_.mended);
  }
  set_pool(options_.threads);
}

std::optional<Clock::time_point> Session::deadline() const {
  if (!options_.max_time) return std::nullopt;
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*options_.max_time));
}

trial::TrialOptions Session::trial_options(const Poll& poll) const {
  trial::TrialOptions options;
  options.fuse = options_.fusion;
  options.seed = options_.seed;
  options.deadline = deadline();
  options.poll = poll;
  return options;
}

std::vector<Value> Session::run(std::vector<Value> inputs, const Poll& poll,
                                std::vector<opset::Finding>& warnings) {
  inputs.resize(model().graph.inputs.size());
  const Running running(options_);
  std::unique_lock lock(mutex_);
  Planned& planned = planned_[which_are_fed(inputs)];
  if (planned.plan == nullptr) return run_first(std::move(inputs), poll, warnings, planned);
  std::unique_ptr<engine::Runner> runner;
  if (planned.idle.empty()) {
    lock.unlock();
    runner = std::make_unique<engine::Runner>(planned.plan);
  } else {
    runner = std::move(planned.idle.back());
    planned.idle.pop_back();
    lock.unlock();
  }
  engine::RunOptions options;
  options.seed = options_.seed;
  options.deadline = deadline();
  options.poll = poll;
  runner->run(inputs, options);
  std::vector<Value> outputs = runner->take_outputs();
  lock.lock();
  planned.idle.push_back(std::move(runner));
  return outputs;
}

std::vector<Value> Session::run_first(std::vector<Value> inputs, const Poll& poll,
                                      std::vector<opset::Finding>& warnings, Planned& planned) {
  trial::TrialOptions options = trial_options(poll);
  options.warn = [&](const opset::Finding& finding) { warnings.push_back(finding); };
  trial::Trial trial(model(), std::move(options));
  trial::DataSet set;
  set.inputs = inputs;
  trial::Outcome outcome = trial.run(std::move(set));
  planned.plan = trial.plan(inputs);
  return std::move(outcome.outputs);
}

void Session::require_plan() const {
  const opset::FormsRefused forms(options_.strict);
  engine::PlanOptions options;
  for (const trial::Slot& input : trial::input_slots(model().graph))
    if (!input.initialized) options.fed.insert(input.name);
  options.fuse = options_.fusion;
  engine::make_plan(model(), options);
}

std::vector<onnx_io::NamedValue> Session::intermediates(const std::optional<std::vector<std::string>>& names,
                                                        const std::vector<Value>& inputs,
                                                        const Poll& poll) const {
  const std::unordered_set<std::string> known = names_of_values(model().graph);
  std::unordered_set<std::string> wanted;
  if (names) {
    for (const std::string& name : *names) {
      if (!known.contains(name)) fail_usage("'{}' is no value of the model's main graph", name);
      wanted.insert(name);
    }
  }
  const Running running(options_);
  std::map<std::string, Value> found;
  const auto keep = [&](const std::string& name, const Value& value) {
    if (!name.empty() && (!names || wanted.contains(name))) found[name] = value;
  };
  if (names) {  // what no node makes is known without a run
    for (const onnx_io::Initializer& initializer : model().graph.initializers)
      keep(initializer.name, initializer.tensor);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i].empty()) keep(model().graph.inputs[i].name, inputs[i]);
  }
  trial::TrialOptions options = trial_options(poll);
  options.fuse = false;
  trial::Trial trial(model(), std::move(options));
  const std::shared_ptr<const engine::Plan> plan = trial.plan(inputs);
  engine::RunOptions run;
  run.seed = options_.seed;
  run.deadline = deadline();
  run.poll = poll;
  run.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
    const std::string& name = step.output_names.at(output);
    if (known.contains(name)) keep(name, value);
  };
  const std::vector<Value> outputs = engine::run_plan(*plan, inputs, run);
  for (std::size_t i = 0; i < outputs.size(); ++i) keep(model().graph.outputs[i].name, outputs[i]);
  std::vector<onnx_io::NamedValue> list;
  for (auto& [name, value] : found) list.push_back({name, std::move(value)});
  return list;
}

}  // namespace grurun::python
