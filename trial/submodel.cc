#include "trial/submodel.h"

#include <algorithm>

#include "onnx_io/models/walk.h"
#include "tensor/error.h"
#include "trial/intermediates.h"

namespace grurun::trial {

namespace {

/// A Constant node belongs to each part that reads it.
bool belongs_to_readers(const onnx_io::Node& node) {
  return is_constant(node);
}

/// Of the chosen nodes, those that the outputs need.
std::vector<bool> needed_nodes(const onnx_io::Graph& graph, const std::vector<bool>& chosen,
                               const std::set<std::string>& outputs) {
  const onnx_io::Producers producers(graph.nodes);
  std::vector<bool> needed(chosen.size());
  std::vector<std::string> wanted(outputs.begin(), outputs.end());
  while (!wanted.empty()) {
    const auto* const maker = producers.find(wanted.back());
    wanted.pop_back();
    if (maker == nullptr || !chosen[maker->index] || needed[maker->index]) continue;
    needed[maker->index] = true;
    for (const onnx_io::Read& read : onnx_io::reads_of(*maker->node)) wanted.emplace_back(read.name);
  }
  return needed;
}

ValueType type_of(const Value& value) {
  return value.type();
}

}  // namespace

Extraction::Extraction(const onnx_io::Model& model, const KnownValues& fed, const KnownValues& known)
    : model_(model), fed_(fed), known_(known), initializers_(onnx_io::index_initializers(model.graph)) {
  for (const auto& [name, value] : fed) {
    initializers_.erase(name);
    reached_.insert(name);
  }
  for (const onnx_io::ValueInfo& input : model.graph.inputs)
    if (!initializers_.contains(input.name)) reached_.insert(input.name);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const onnx_io::Node& node = model.graph.nodes[i];
    bool is_reached = false;
    for (const onnx_io::Read& read : onnx_io::reads_of(node)) {
      readers_[std::string(read.name)].push_back(i);
      is_reached = is_reached || reached_.contains(std::string(read.name));
    }
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      makers_.emplace(name, i);
      if (is_reached) reached_.insert(name);
    }
  }
  for (const onnx_io::ValueInfo& output : model.graph.outputs) returned_.insert(output.name);
}

bool Extraction::is_constant_value(const std::string& name) const {
  return !reached_.contains(name);
}

void Extraction::add_read(const std::string& name, const std::vector<bool>& keep, std::set<std::string>& done,
                          Submodel& out) const {
  if (!done.insert(name).second) return;
  const auto maker = makers_.find(name);
  if (maker != makers_.end() && belongs_to_readers(model_.graph.nodes[maker->second])) {
    out.model.graph.nodes.push_back(model_.graph.nodes[maker->second]);
    return;
  }
  if (maker != makers_.end() && keep[maker->second]) return;
  if (const auto found = initializers_.find(name); maker == makers_.end() && found != initializers_.end()) {
    out.model.graph.initializers.push_back({name, *found->second});
    return;
  }
  const auto fed = fed_.find(name);
  const auto known = fed == fed_.end() ? known_.find(name) : fed;
  const bool is_known = fed != fed_.end() || known != known_.end();
  if (is_known && maker != makers_.end() && is_constant_value(name) && known->second.is_tensor()) {
    out.model.graph.initializers.push_back({name, known->second.tensor()});
    return;
  }
  if (!is_known) ++out.unknown;
  out.inputs.push_back(is_known ? known->second : Value());
  out.model.graph.inputs.push_back({name, is_known ? type_of(known->second) : ValueType()});
}

bool Extraction::is_returned(const std::string& name, const std::vector<bool>& keep) const {
  if (returned_.contains(name)) return true;
  const auto readers = readers_.find(name);
  return readers != readers_.end() &&
         std::ranges::any_of(readers->second, [&](std::size_t i) { return !keep[i]; });
}

Submodel Extraction::take(const std::vector<bool>& chosen, const std::set<std::string>& outputs) const {
  const std::vector<bool> keep = outputs.empty() ? chosen : needed_nodes(model_.graph, chosen, outputs);
  Submodel out;
  out.model.ir_version = std::max<std::int64_t>(model_.ir_version, 4);  // initializers need be no inputs
  out.model.opset_imports = model_.opset_imports;
  out.model.functions = model_.functions;
  out.model.from_openvino_ir = model_.from_openvino_ir;
  out.model.graph.name = "graph";
  std::set<std::string> done;
  for (std::size_t i = 0; i < model_.graph.nodes.size(); ++i) {
    const onnx_io::Node& node = model_.graph.nodes[i];
    if (!keep[i] || belongs_to_readers(node)) continue;
    for (const onnx_io::Read& read : onnx_io::reads_of(node))
      add_read(std::string(read.name), keep, done, out);
    out.model.graph.nodes.push_back(node);
    for (const std::string& name : node.outputs) {
      const bool is_wanted = outputs.empty() ? is_returned(name, keep) : outputs.contains(name);
      if (name.empty() || !is_wanted) continue;
      const auto known = known_.find(name);
      const bool is_known = known != known_.end();
      out.model.graph.outputs.push_back({name, is_known ? type_of(known->second) : ValueType()});
      out.expected.push_back(is_known ? known->second : Value());
    }
  }
  drop_unused_functions(out.model);
  return out;
}

void drop_unused_functions(onnx_io::Model& model) {
  std::set<std::string> called;
  const auto key = [](const std::string& domain, const std::string& name) { return domain + "\n" + name; };
  // A function may call others.
  for (std::size_t before = called.size() + 1; before != called.size();) {
    before = called.size();
    const auto note = [&](const onnx_io::Node& node) { called.insert(key(node.domain, node.op_type)); };
    onnx_io::for_each_node(model.graph.nodes, note);
    for (const onnx_io::Function& function : model.functions)
      if (called.contains(key(function.domain, function.name))) onnx_io::for_each_node(function.nodes, note);
  }
  std::erase_if(model.functions, [&](const onnx_io::Function& function) {
    return !called.contains(key(function.domain, function.name));
  });
}

KnownValues fed_values(const onnx_io::Graph& graph, const std::vector<Value>& inputs) {
  KnownValues fed;
  for (std::size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i)
    if (!inputs[i].empty()) fed[graph.inputs[i].name] = inputs[i];
  return fed;
}

KnownValues values_of(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun) {
  KnownValues known;
  run_seeing_values(model, inputs, rerun,
                    [&](const MadeValue& made) { known.emplace(made.name, made.value); });
  return known;
}

KnownValues values_as_far(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun) {
  try {
    return values_of(model, inputs, rerun);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::limit) throw;
  }
  KnownValues known;
  const KnownValues fed = fed_values(model.graph, inputs);
  const Extraction extraction(model, fed, known);
  std::vector<bool> keep(model.graph.nodes.size());
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (belongs_to_readers(model.graph.nodes[i])) continue;
    keep[i] = true;
    std::set<std::string> made;
    for (const std::string& name : model.graph.nodes[i].outputs)
      if (!name.empty()) made.insert(name);
    Submodel alone = extraction.take(keep, made);
    keep[i] = false;
    if (alone.unknown > 0) continue;
    try {
      known.merge(values_of(alone.model, alone.inputs, rerun));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::limit) throw;
    }
  }
  return known;
}

}  // namespace grurun::trial
