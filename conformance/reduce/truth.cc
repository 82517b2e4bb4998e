#include "conformance/reduce/truth.h"

#include <algorithm>
#include <set>

#include "onnx_io/models/walk.h"
#include "tensor/error.h"
#include "trial/as_type.h"
#include "trial/precise.h"

namespace grurun::conformance {

namespace {

std::vector<Value> widened_all(const std::vector<Value>& values) {
  std::vector<Value> out;
  for (const Value& value : values) out.push_back(trial::widened(value));
  return out;
}

}  // namespace

std::vector<Value> inputs_for(const onnx_io::Graph& other, const onnx_io::Graph& graph,
                              const std::vector<Value>& inputs) {
  std::vector<Value> given;
  for (std::size_t i = 0; i < other.inputs.size(); ++i) {
    const onnx_io::ValueInfo& wanted = other.inputs[i];
    const auto same = std::ranges::find(graph.inputs, wanted.name, &onnx_io::ValueInfo::name);
    const std::size_t place =
        same == graph.inputs.end() ? i : static_cast<std::size_t>(same - graph.inputs.begin());
    given.push_back(place < inputs.size() ? trial::as_type(inputs[place], wanted.type) : Value());
  }
  return given;
}

trial::KnownValues Truth::values(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                 const trial::Rerun& rerun) const {
  switch (source_) {
    case Source::stored:
      return stored_;
    case Source::engine:
      return trial::values_of(model, inputs, rerun);
    case Source::precise:
      return trial::values_of(trial::widened(model), widened_all(inputs), rerun);
    case Source::model:
      return trial::values_of(*other_, inputs_for(other_->graph, model.graph, inputs), rerun);
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
    if (source_ == Source::precise) made = trial::run_again(trial::widened(part), widened_all(inputs), rerun);
    if (source_ == Source::model) {
      names = candidate.other->graph.outputs;
      made =
          trial::run_again(*candidate.other, inputs_for(candidate.other->graph, part.graph, inputs), rerun);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::limit) throw;
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
