#include "conformance/reduce/truth.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "onnx_io/models/walk.h"
#include "onnx_io/models/write_model.h"
#include "tensor/error.h"
#include "trial/as_type.h"
#include "trial/intermediates.h"
#include "trial/precise.h"

namespace grurun::conformance {

namespace {

/// A model that the runtime is given as a file.
class GivenModel {
 public:
  GivenModel(const RuntimeTruth& runtime, const onnx_io::Model& model) : run_(runtime.run) {
    run_.model = run_.scratch + "/given.onnx";
    onnx_io::write_model(run_.model, model);
  }
  ~GivenModel() {
    std::error_code ignored;
    std::filesystem::remove(run_.model, ignored);
  }
  GivenModel(const GivenModel&) = delete;
  GivenModel& operator=(const GivenModel&) = delete;

  RuntimeRun& run() { return run_; }

 private:
  RuntimeRun run_;
};

trial::KnownValues values_of(const RuntimeTruth& runtime, const onnx_io::Model& model,
                             const std::vector<Value>& inputs, const trial::KnownValues& own) {
  std::vector<WantedValue> wanted;
  for (const onnx_io::Node& node : model.graph.nodes) {
    for (const std::string& name : node.outputs) {
      const auto made = own.find(name);
      if (made != own.end() && !trial::is_constant(node)) wanted.push_back(wanted_value(name, made->second));
    }
  }
  GivenModel given(runtime, model);
  const trial::ValueStore store = values_of_runtime(given.run(), model.graph, inputs, wanted);
  trial::KnownValues values;
  for (const std::string& name : store.names()) values.emplace(name, store.read(name));
  return values;
}

}  // namespace

trial::KnownValues Truth::values(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                 const trial::KnownValues& own, const trial::Rerun& rerun) const {
  switch (source_) {
    case Source::stored:
      return stored_;
    case Source::engine:
      return trial::values_of(model, inputs, rerun);
    case Source::precise:
      return trial::values_of(trial::widened(model), trial::widened(inputs), rerun);
    case Source::model:
      return with_context([] { return std::string("the model of --against"); },
                          [&] {
                            return trial::values_of(
                                *other_, trial::inputs_for(other_->graph, model.graph, inputs), rerun);
                          });
    case Source::runtime:
      return values_of(*runtime_, model, inputs, own);
  }
  return {};
}

std::optional<onnx_io::Model> Truth::part_of_other(const onnx_io::Model& part,
                                                   const trial::KnownValues& known) const {
  if (!other_) return std::nullopt;
  const std::vector<onnx_io::Node>& nodes = other_->graph.nodes;
  const onnx_io::Producers producers(nodes);
  std::set<std::string> inputs, outputs;
  for (const onnx_io::ValueInfo& input : part.graph.inputs) inputs.insert(input.name);
  std::vector<bool> keep(nodes.size());
  std::vector<std::string> wanted;
  for (const onnx_io::ValueInfo& output : part.graph.outputs) {
    if (producers.find(output.name) == nullptr) return std::nullopt;
    outputs.insert(output.name);
    wanted.push_back(output.name);
  }
  while (!wanted.empty()) {
    const auto* const maker = producers.find(wanted.back());
    wanted.pop_back();
    if (maker == nullptr || keep[maker->index]) continue;
    keep[maker->index] = true;
    for (const onnx_io::Read& read : onnx_io::reads_of(*maker->node))
      if (!inputs.contains(std::string(read.name))) wanted.emplace_back(read.name);
  }
  trial::Submodel taken = trial::Extraction(*other_, {}, known).take(keep, outputs);
  for (const onnx_io::ValueInfo& input : taken.model.graph.inputs)
    if (!inputs.contains(input.name)) return std::nullopt;
  if (taken.model.graph.outputs.size() != outputs.size()) return std::nullopt;
  return std::move(taken.model);
}

std::optional<std::vector<Value>> Truth::outputs(const Candidate& candidate,
                                                 const trial::Rerun& rerun) const {
  if (source_ == Source::stored || (source_ == Source::model && !candidate.other)) return std::nullopt;
  const onnx_io::Model& part = candidate.part.model;
  const std::vector<Value>& inputs = candidate.part.inputs;
  std::vector<Value> made;
  std::vector<onnx_io::ValueInfo> names = part.graph.outputs;
  try {
    if (source_ == Source::engine) made = trial::run_again(part, inputs, rerun);
    if (source_ == Source::precise)
      made = trial::run_again(trial::widened(part), trial::widened(inputs), rerun);
    if (source_ == Source::model) {
      names = candidate.other->graph.outputs;
      made = trial::run_again(*candidate.other, trial::inputs_for(candidate.other->graph, part.graph, inputs),
                              rerun);
    }
    if (source_ == Source::runtime) {
      // Most of what is tried is no model: that costs no process.
      trial::run_again(part, inputs, rerun);
      GivenModel given(*runtime_, part);
      if (runtime_->max_time) given.run().deadline = std::chrono::steady_clock::now() + *runtime_->max_time;
      auto outputs = outputs_of_runtime(given.run(), part.graph, inputs);
      if (!outputs) return std::nullopt;
      made = std::move(*outputs);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    return std::nullopt;
  }
  std::vector<Value> out;
  for (const onnx_io::ValueInfo& output : part.graph.outputs) {
    const auto same = std::ranges::find(names, output.name, &onnx_io::ValueInfo::name);
    if (same == names.end()) return std::nullopt;
    out.push_back(trial::as_type(made[static_cast<std::size_t>(same - names.begin())], output.type));
  }
  return out;
}

}  // namespace grurun::conformance
