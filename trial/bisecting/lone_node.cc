#include "trial/bisecting/lone_node.h"

#include <algorithm>

#include "onnx_io/models/walk.h"

namespace grurun::trial {
namespace {

const Tensor* initializer_of(const onnx_io::Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.initializers, name, &onnx_io::Initializer::name);
  return found == graph.initializers.end() ? nullptr : &found->tensor;
}

}  // namespace

LoneNode::LoneNode(const onnx_io::Model& model, const Scope& scope, const onnx_io::Node& node,
                   const std::function<bool(const std::string&)>& is_known)
    : own_(scope), is_known_(is_known) {
  model_.ir_version = model.ir_version;
  model_.opset_imports = model.opset_imports;
  model_.functions = model.functions;
  model_.from_openvino_ir = model.from_openvino_ir;
  add(scope, node);
  if (!others_.empty()) others_.pop_back();
  for (const std::string& name : node.outputs) {
    if (!name.empty()) model_.graph.outputs.push_back({name, {}});
  }
}

void LoneNode::add(const Scope& scope, const onnx_io::Node& node) {
  if (!added_.insert(&node).second) return;
  for (const onnx_io::Read& read : onnx_io::reads_of(node)) resolve(scope, std::string(read.name));
  model_.graph.nodes.push_back(node);
  if (!is_constant(node)) others_.push_back(&node);
}

void LoneNode::resolve(const Scope& reader, const std::string& name) {
  if (!resolved_.insert(name).second) return;
  for (const Scope* scope = &reader; scope != nullptr; scope = scope->outer) {
    if (!defines(*scope->graph, name)) continue;
    const onnx_io::Node* maker = maker_of(*scope->graph, name);
    const Tensor* initializer = initializer_of(*scope->graph, name);
    const std::string full = scope->path + name;
    if (maker != nullptr && is_constant(*maker)) return add(*scope, *maker);
    if (is_known_(full)) {
      model_.graph.inputs.push_back({name, {}});
      needs_.push_back(full);
    } else if (maker == nullptr && initializer != nullptr) {
      model_.graph.initializers.push_back({name, *initializer});
    } else if (maker != nullptr && scope == &own_) {
      add(*scope, *maker);
    } else if (missing_.empty()) {
      missing_ = full;
    }
    return;
  }
  if (missing_.empty()) missing_ = name;
}

}  // namespace grurun::trial
