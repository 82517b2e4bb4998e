#include <set>
#include <utility>

#include "onnx_io/models/rename.h"
#include "trial/pairing.h"
#include "trial/quantized.h"

namespace grurun::trial {
namespace {

using onnx_io::NameMap;

/// For names of the other model, those of the values of the model that they are paired with: each once.
NameMap names_of_partners(const onnx_io::Model& model, const onnx_io::Model& other) {
  const Pairing pairing(model.graph, other.graph);
  const Quantizations here(model.graph), there(other.graph);
  NameMap names;
  std::set<std::string> used;
  const auto pair = [&](const std::string& name) {
    const auto partner = name.empty() ? std::nullopt : pairing.partner(name);
    // Of one that is quantized the numbers are others.
    if (!partner || (here.find(name) != nullptr) != (there.find(*partner) != nullptr)) return;
    if (names.contains(*partner) || !used.insert(name).second) return;
    names.emplace(*partner, name);
  };
  for (const onnx_io::ValueInfo& input : model.graph.inputs) pair(input.name);
  for (const onnx_io::ValueInfo& output : model.graph.outputs) pair(output.name);
  for (const onnx_io::Node& node : model.graph.nodes)
    for (const std::string& name : node.outputs) pair(name);
  return names;
}

}  // namespace

onnx_io::Model with_names_of(const onnx_io::Model& model, const onnx_io::Model& other) {
  NameMap names = names_of_partners(model, other);
  std::set<std::string> taken = onnx_io::names_defined_in(model.graph);
  const std::set<std::string> own = onnx_io::names_defined_in(other.graph);
  taken.insert(own.begin(), own.end());
  std::set<std::string> made_here, given;
  for (const onnx_io::Node& node : model.graph.nodes)
    made_here.insert(node.outputs.begin(), node.outputs.end());
  for (const auto& [theirs, ours] : names) given.insert(ours);
  for (const std::string& name : own) {
    // A name that means another value here.
    if (name.empty() || names.contains(name) || (!made_here.contains(name) && !given.contains(name)))
      continue;
    std::string free = name + "/other";
    while (!taken.insert(free).second) free += "'";
    names.emplace(name, free);
  }
  onnx_io::Model out = other;
  out.proto = nullptr;
  out.graph.value_info.clear();
  for (onnx_io::ValueInfo& input : out.graph.inputs) input.name = onnx_io::renamed(input.name, names);
  for (onnx_io::Initializer& each : out.graph.initializers) each.name = onnx_io::renamed(each.name, names);
  for (onnx_io::Node& node : out.graph.nodes) node = onnx_io::renamed(std::move(node), names);
  for (onnx_io::ValueInfo& output : out.graph.outputs) output.name = onnx_io::renamed(output.name, names);
  return out;
}

}  // namespace grurun::trial
