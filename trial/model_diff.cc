#include "trial/model_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "onnx_io/models/attribute_text.h"
#include "onnx_io/models/walk.h"
#include "opset/schema/registry.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/as_type.h"
#include "trial/intermediates.h"
#include "trial/pairing.h"
#include "trial/precise.h"
#include "trial/trial.h"

namespace grurun::trial {

namespace {

using onnx_io::Attribute;
using onnx_io::Graph;
using onnx_io::Model;
using onnx_io::Node;

std::string label(const Node& node) {
  const std::string op = onnx_io::qualified_name(node.domain, node.op_type);
  const std::string name = node.name.empty() ? (node.outputs.empty() ? "" : node.outputs[0]) : node.name;
  return fmt::format("node '{}' ({})", name, op);
}

std::string text_of(const Attribute& attribute) {
  const std::string text = onnx_io::attribute_text(attribute);
  if (attribute.tensors.empty()) return text;
  constexpr std::int64_t most = 4;
  const Tensor& tensor = attribute.tensors[0];
  std::string out = Value(tensor).describe();
  if (Floats::set.contains(tensor.dtype()) && tensor.size() <= most)
    out += fmt::format(" of {}", fmt::join(doubles_of(tensor), ", "));
  if (tensor.dtype() == DType::int64 && tensor.size() <= most)
    out += fmt::format(" of {}", fmt::join(tensor.span<std::int64_t>(), ", "));
  return out;
}

/// A weight, where a node reads it: behind what hands it on.
struct Weight {
  std::string name;
  const Tensor* tensor = nullptr;
  std::optional<Quantization> quantization{};
};

/// One of the two models.
class ModelSide {
 public:
  explicit ModelSide(const Model& model) : model_(model), producers_(model.graph.nodes) {
    for (const onnx_io::Initializer& each : model.graph.initializers)
      tensors_.emplace(each.name, &each.tensor);
    for (const Node& node : model.graph.nodes) {
      const Attribute* const value = is_constant(node) ? node.find_attribute("value") : nullptr;
      if (value != nullptr && !value->tensors.empty()) tensors_.emplace(node.outputs[0], &value->tensors[0]);
    }
  }

  const Model& model() const { return model_; }
  const std::map<std::string, const Tensor*>& tensors() const { return tensors_; }
  const Node* maker(const std::string& name) const { return producers_.node(name); }

  /// What a value is, seen through what only hands on or converts.
  std::string origin(const std::string& name) const {
    const Node* const node = maker(name);
    const bool hands_on = node != nullptr && !node->inputs.empty() && node->domain.empty() &&
                          (node->op_type == "Identity" || node->op_type == "Cast" ||
                           node->op_type == "DequantizeLinear" || node->op_type == "QuantizeLinear");
    return hands_on ? origin(node->inputs[0]) : name;
  }

  std::optional<Weight> weight(const std::string& name) const {
    const std::string first = origin(name);
    const auto found = tensors_.find(first);
    if (found == tensors_.end()) return std::nullopt;
    return Weight{first, found->second, quantization_of(name)};
  }

 private:
  std::optional<Quantization> quantization_of(const std::string& name) const {
    const Node* const node = maker(name);
    if (node == nullptr || node->op_type != "DequantizeLinear" || node->inputs.size() < 2)
      return std::nullopt;
    const auto scale = tensors_.find(node->inputs[1]);
    if (scale == tensors_.end()) return std::nullopt;
    Quantization out{*scale->second, std::nullopt, 1};
    if (const Attribute* const axis = node->find_attribute("axis")) out.axis = axis->i;
    if (node->inputs.size() > 2)
      if (const auto zero = tensors_.find(node->inputs[2]); zero != tensors_.end())
        out.zero_point = *zero->second;
    return out;
  }

  const Model& model_;
  const onnx_io::Producers producers_;
  std::map<std::string, const Tensor*> tensors_;
};

class Diffing {
 public:
  Diffing(const Model& a, const Model& b) : a_(a), b_(b) {}

  ModelDiff run() {
    compare_imports();
    compare_infos("input", a_.model().graph.inputs, b_.model().graph.inputs);
    compare_infos("output", a_.model().graph.outputs, b_.model().graph.outputs);
    pair_nodes();
    compare_nodes();
    pair_weights();
    return std::move(out_);
  }

 private:
  void compare_imports() {
    std::map<std::string, Difference> rows;
    const auto text = [](std::int64_t version) { return fmt::format("{}", version); };
    for (const auto& [domain, version] : a_.model().opset_imports) rows[domain].a = text(version);
    for (const auto& [domain, version] : b_.model().opset_imports) rows[domain].b = text(version);
    for (auto& [domain, row] : rows) {
      row.what = "opset " + onnx_io::shown_domain(domain);
      if (row.a != row.b) out_.imports.push_back(row);
    }
  }

  void compare_infos(const char* kind, const std::vector<onnx_io::ValueInfo>& a,
                     const std::vector<onnx_io::ValueInfo>& b) {
    const auto find = [](const std::vector<onnx_io::ValueInfo>& all, const std::string& name) {
      const auto found = std::ranges::find(all, name, &onnx_io::ValueInfo::name);
      return found == all.end() ? std::string() : found->type.describe();
    };
    std::vector<std::string> names;
    for (const auto* side : {&a, &b})
      for (const onnx_io::ValueInfo& info : *side)
        if (!std::ranges::count(names, info.name)) names.push_back(info.name);
    for (const std::string& name : names) {
      const Difference row{fmt::format("{} '{}'", kind, name), find(a, name), find(b, name)};
      if (row.a != row.b) out_.values.push_back(row);
    }
  }

  static bool is_seen_through(const ModelSide& side, const Node& node) {
    return is_constant(node) || node.outputs.empty() || side.origin(node.outputs[0]) != node.outputs[0];
  }

  void pair_nodes() {
    const std::vector<Node>&nodes_a = a_.model().graph.nodes, &nodes_b = b_.model().graph.nodes;
    const Pairing pairing(a_.model().graph, b_.model().graph);
    const onnx_io::Producers made_by(nodes_b);
    partners_.assign(nodes_a.size(), nullptr);
    for (std::size_t i = 0; i < nodes_a.size(); ++i) {
      for (const std::string& name : nodes_a[i].outputs) {
        const auto partner = name.empty() ? std::nullopt : pairing.partner(name);
        const auto* const maker = partner ? made_by.find(*partner) : nullptr;
        if (maker == nullptr || maker->node->op_type != nodes_a[i].op_type ||
            !taken_.insert(maker->index).second)
          continue;
        partners_[i] = maker->node;
        break;
      }
    }
  }

  void compare_nodes() {
    const auto counts = [](const ModelSide& side, const Node& node) { return !is_seen_through(side, node); };
    const std::vector<Node>&nodes_a = a_.model().graph.nodes, &nodes_b = b_.model().graph.nodes;
    for (std::size_t i = 0; i < nodes_a.size(); ++i) {
      out_.nodes_a += is_constant(nodes_a[i]) ? 0 : 1;
      out_.paired += partners_[i] != nullptr && !is_constant(nodes_a[i]) ? 1 : 0;
      if (partners_[i] != nullptr)
        compare_attributes(nodes_a[i], *partners_[i]);
      else if (counts(a_, nodes_a[i]) || !is_constant(nodes_a[i]))
        out_.only_a.push_back(label(nodes_a[i]));
    }
    for (std::size_t i = 0; i < nodes_b.size(); ++i) {
      out_.nodes_b += is_constant(nodes_b[i]) ? 0 : 1;
      if (!taken_.contains(i) && !is_constant(nodes_b[i])) out_.only_b.push_back(label(nodes_b[i]));
    }
  }

  static std::string stated(const ModelSide& side, const Node& node, const std::string& name) {
    if (const Attribute* const attribute = node.find_attribute(name)) return text_of(*attribute);
    const auto import = side.model().opset_imports.find(node.domain);
    const opset::SchemaInfo* const schema =
        import == side.model().opset_imports.end()
            ? nullptr
            : opset::find_schema(node.op_type, node.domain, import->second);
    if (schema == nullptr) return "";
    for (const opset::AttributeInfo& info : schema->attributes)
      if (info.name == name && info.default_value) return text_of(*info.default_value);
    return "";
  }

  void compare_attributes(const Node& a, const Node& b) {
    if (is_constant(a)) return;  // weights
    std::set<std::string> names;
    for (const Node* node : {&a, &b})
      for (const Attribute& attribute : node->attributes) names.insert(attribute.name);
    for (const std::string& name : names) {
      const Difference row{fmt::format("{} of {}", name, label(a)), stated(a_, a, name), stated(b_, b, name)};
      if (row.a != row.b) out_.attributes.push_back(row);
    }
  }

  void note_weights(const Weight& a, const Weight& b) {
    if (!done_a_.insert(a.name).second) return;
    done_b_.insert(b.name);
    WeightRelation relation = weight_relation(*a.tensor, *b.tensor, b.quantization);
    if (relation.is_equal)
      ++out_.equal_weights;
    else
      out_.weights.push_back({a.name, b.name, std::move(relation)});
  }

  void pair_weights() {
    const std::vector<Node>& nodes_a = a_.model().graph.nodes;
    // By where they are read, which knows of quantization; then by name.
    for (std::size_t i = 0; i < nodes_a.size(); ++i) {
      if (partners_[i] == nullptr || is_seen_through(a_, nodes_a[i])) continue;
      for (std::size_t k = 0; k < nodes_a[i].inputs.size() && k < partners_[i]->inputs.size(); ++k) {
        const auto a = a_.weight(nodes_a[i].inputs[k]), b = b_.weight(partners_[i]->inputs[k]);
        if (a && b) note_weights(*a, *b);
      }
    }
    for (const auto& [name, tensor] : a_.tensors()) {
      const auto same = b_.tensors().find(name);
      if (!done_a_.contains(name) && same != b_.tensors().end())
        note_weights({name, tensor}, {name, same->second});
    }
    for (const auto& [name, tensor] : a_.tensors())
      if (!done_a_.contains(name)) out_.weights_only_a.push_back(name);
    for (const auto& [name, tensor] : b_.tensors())
      if (!done_b_.contains(name)) out_.weights_only_b.push_back(name);
  }

  const ModelSide a_, b_;
  std::vector<const Node*> partners_;
  std::set<std::size_t> taken_;
  std::set<std::string> done_a_, done_b_;
  ModelDiff out_;
};

}  // namespace

bool ModelDiff::is_empty() const {
  return imports.empty() && values.empty() && attributes.empty() && only_a.empty() && only_b.empty() &&
         weights.empty() && weights_only_a.empty() && weights_only_b.empty();
}

bool RunDiff::is_same() const {
  return failed.empty() &&
         std::ranges::all_of(outputs, [](const OutputDiff& each) { return each.comparison.ok; });
}

ModelDiff diff_models(const Model& a, const Model& b) {
  return Diffing(a, b).run();
}

RunDiff diff_runs(const Model& a, const Model& b, const std::vector<Value>& inputs,
                  const Tolerances& tolerances, std::uint64_t seed) {
  RunDiff out;
  const Rerun rerun{seed, {}};
  const std::vector<Value> given = inputs_for(b.graph, a.graph, inputs);
  std::vector<Value> expected, actual;
  const auto run = [&](const char* which, const Model& model, const std::vector<Value>& values) {
    try {
      return run_again(model, values, rerun);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::limit || error.kind() == ErrorKind::internal) throw;
      out.failed = fmt::format("{} does not run: {}", which, error.what());
      return std::vector<Value>();
    }
  };
  expected = run("A", a, inputs);
  if (out.failed.empty()) actual = run("B", b, given);
  if (!out.failed.empty()) return out;
  for (std::size_t i = 0; i < a.graph.outputs.size(); ++i) {
    const std::string& name = a.graph.outputs[i].name;
    const auto same = std::ranges::find(b.graph.outputs, name, &onnx_io::ValueInfo::name);
    const std::size_t place =
        same == b.graph.outputs.end() ? i : static_cast<std::size_t>(same - b.graph.outputs.begin());
    if (place >= actual.size()) {
      out.failed = fmt::format("B has no output '{}'", name);
      return out;
    }
    out.outputs.push_back({name, compare_cast(actual[place], expected[i], tolerances)});
  }
  return out;
}

}  // namespace grurun::trial
