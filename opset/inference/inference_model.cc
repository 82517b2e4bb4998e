#include "opset/inference/inference_model.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "opset/findings/labels.h"
#include "opset/inference/guarded_registry.h"
#include "opset/inference/inference_values.h"
#include "opset/recurrent/recurrent_form.h"
#include "opset/schema/function_calls.h"
#include "opset/schema/input_free.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

// A node's name in the copy: its number between characters that hardly occur in names.
std::string mark(std::size_t number) {
  return fmt::format("\x02{}\x03", number);
}

template <typename Imports>
onnx_io::OpsetImports copy_imports(const Imports& from,
                                   google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& to) {
  onnx_io::OpsetImports imports;
  for (const auto& import : from) {
    const std::string domain = onnx_io::canonical_domain(import.domain());
    imports[domain] = import.version();
    auto* copy = to.Add();
    copy->set_domain(domain);
    copy->set_version(import.version());
  }
  auto* opaque = to.Add();
  opaque->set_domain(opaque_domain);
  opaque->set_version(1);
  return imports;
}

// A TypeProto may be there and hold nothing.
bool says_anything(const onnx::TypeProto& type) {
  return type.value_case() != onnx::TypeProto::VALUE_NOT_SET;
}

/// What a graph or the body of a function defines: a tensor where it is a constant small enough to be read,
/// else nullptr.
class Definitions {
 public:
  explicit Definitions(const GraphProto& graph) : graph_(&graph), nodes_(graph.node()) {}
  explicit Definitions(const onnx::FunctionProto& function) : nodes_(function.node()) {}

  /// nullopt where the name is not defined here.
  std::optional<const TensorProto*> find(const std::string& name) {
    if (!gathered_) gather();
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void gather() {
    gathered_ = true;
    if (graph_ != nullptr) {
      for (const TensorProto& tensor : graph_->initializer()) add(tensor.name(), &tensor);
      for (const auto& input : graph_->input()) add(input.name(), nullptr);
    }
    for (const NodeProto& node : nodes_) {
      for (const std::string& output : node.output()) add(output, constant_of(node));
    }
  }
  void add(const std::string& name, const TensorProto* tensor) {
    tensors_.try_emplace(name, tensor != nullptr && !is_left_out(*tensor) ? tensor : nullptr);
  }
  static const TensorProto* constant_of(const NodeProto& node) {
    if (node.op_type() != "Constant" || !onnx_io::canonical_domain(node.domain()).empty()) return nullptr;
    const bool has_value = node.attribute_size() == 1 && node.attribute(0).name() == "value";
    return has_value && node.attribute(0).has_t() ? &node.attribute(0).t() : nullptr;
  }

  const GraphProto* graph_ = nullptr;
  const google::protobuf::RepeatedPtrField<NodeProto>& nodes_;
  bool gathered_ = false;  // only when a recurrent node of a body asks
  std::unordered_map<std::string_view, const TensorProto*> tensors_;
};

class Copier {
 public:
  Copier(const onnx::ModelProto& original, InferenceModel& out, const CheckReport& report, bool keep_declared,
         const ComputedProtos& computed, const WrongDeclarations& wrong)
      : out_(out),
        report_(report),
        main_(original.graph()),
        ir_version_(original.ir_version()),
        keep_declared_(keep_declared),
        computed_(computed),
        wrong_(wrong) {
    for (const onnx::FunctionProto& function : original.functions()) {
      functions_.insert(function_key(function.domain(), function.name(), function.overload()));
    }
  }

  void copy_graph(const GraphProto& from, GraphProto& to, const CheckScope& scope,
                  const onnx_io::OpsetImports& imports) {
    to.set_name(from.name());
    around_.emplace_back(from);
    copy_values(from, to, scope.parent == nullptr);
    copy_initializers(from, to, scope.parent == nullptr);
    for (int i = 0; i < from.node_size(); ++i) {
      if (scope.parent == nullptr && replace_large_constant(from.node(i), to)) continue;
      copy_node(from.node(i), static_cast<std::size_t>(i), *to.add_node(), scope, imports);
    }
    around_.pop_back();
  }

  void copy_function(const onnx::FunctionProto& from, onnx::FunctionProto& to, const CheckScope& scope,
                     const onnx_io::OpsetImports& imports) {
    is_main_ = false;
    around_.emplace_back(from);
    for (int i = 0; i < from.node_size(); ++i) {
      copy_node(from.node(i), static_cast<std::size_t>(i), *to.add_node(), scope, imports);
    }
    around_.pop_back();
  }

 private:
  void copy_node(const NodeProto& from, std::size_t index, NodeProto& to, const CheckScope& scope,
                 const onnx_io::OpsetImports& imports) {
    const std::string domain = onnx_io::canonical_domain(from.domain());
    const auto import = imports.find(domain);
    InferenceNode entry{&scope, &from, index};
    if (import != imports.end()) entry.since_version = since_version(from.op_type(), domain, import->second);
    const bool call = is_function(from, domain);
    const bool known = import != imports.end() && (entry.since_version || call);
    if (!holders_.empty()) entry.holder = holders_.back();
    entry.faulty = report_.any_faulty() && report_.is_faulty(node_key(scope, index));
    entry.recurrent = known && !call && find_recurrent_form(from.op_type(), domain) != nullptr;
    if (entry.recurrent) entry.constants = constants_of(from);
    if (entry.recurrent && is_main_ && scope.parent == nullptr) entry.input_free = input_free_of(from);
    const bool judged = known && (!entry.faulty || entry.recurrent);
    if (!judged || entry.faulty) {
      for (const std::size_t holder : holders_) out_.nodes[holder].holds_opaque = true;
    }
    const std::size_t number = out_.nodes.size();
    out_.nodes.push_back(std::move(entry));
    to.set_name(mark(number));
    to.set_op_type(from.op_type());
    to.set_domain(judged ? domain : opaque_domain);
    to.set_overload(from.overload());
    *to.mutable_input() = from.input();
    *to.mutable_output() = from.output();
    holders_.push_back(number);
    for (const AttributeProto& attribute : from.attribute()) {
      copy_attribute(from, attribute, index, *to.add_attribute(), scope, imports);
    }
    holders_.pop_back();
  }

  std::map<std::string, const TensorProto*> constants_of(const NodeProto& node) {
    std::map<std::string, const TensorProto*> out;
    const auto add_computed = [&](const std::string& input) {
      const auto found = computed_.find(input);
      if (found != computed_.end()) out[input] = &found->second;
    };
    for (const std::string& input : node.input()) {
      if (is_main_ && around_.size() == 1) add_computed(input);
      if (around_.size() == 1 || around_.back().find(input)) continue;
      for (auto definitions = around_.rbegin() + 1; definitions != around_.rend(); ++definitions) {
        const std::optional<const TensorProto*> found = definitions->find(input);
        if (!found) continue;
        if (*found != nullptr)
          out[input] = *found;
        else if (is_main_ && definitions + 1 == around_.rend())
          add_computed(input);
        break;
      }
    }
    return out;
  }

  std::set<std::string> input_free_of(const NodeProto& node) {
    if (!input_free_) input_free_ = input_free_values(main_, ir_version_);
    std::set<std::string> out;
    for (const std::string& input : node.input()) {
      if (input_free_->contains(input)) out.insert(input);
    }
    return out;
  }

  static std::string function_key(const std::string& domain, const std::string& name,
                                  const std::string& overload) {
    return onnx_io::canonical_domain(domain) + '\n' + name + '\n' + overload;
  }

  bool is_function(const NodeProto& node, const std::string& domain) const {
    return !functions_.empty() &&
           functions_.count(function_key(domain, node.op_type(), node.overload())) != 0;
  }

  // What is declared again is compared with the first elsewhere (GRAPH006, GRAPH009). Here an output that is
  // an input has the input's type, without which a body that hands it on would seem to give something
  // untyped.
  void copy_values(const GraphProto& from, GraphProto& to, bool main) {
    std::unordered_map<std::string_view, const onnx::ValueInfoProto*> inputs;
    for (const auto& input : from.input()) {
      inputs.try_emplace(input.name(), &input);
      *to.add_input() = input;
      auto* copy = to.mutable_input(to.input_size() - 1);
      if (!main && !keep_declared_) copy->clear_type();
      if (copy->has_type()) clean(*copy->mutable_type());
      if (!says_anything(copy->type())) copy->clear_type();
    }
    std::unordered_set<std::string_view> stated;
    const auto is_used = [&](const std::string& name) {
      return stated.insert(name).second && !wrong_.contains({&from, name});
    };
    for (const auto& output : from.output()) {
      auto* copy = to.add_output();
      copy->set_name(output.name());
      const auto input = inputs.find(output.name());
      const bool typed_input = input != inputs.end() && input->second->has_type();
      const onnx::ValueInfoProto& declared = typed_input ? *input->second : output;
      if (!keep_declared_ || !says_anything(declared.type()) || !is_used(output.name())) continue;
      *copy->mutable_type() = declared.type();
      clean(*copy->mutable_type());
    }
    if (!keep_declared_) return;
    for (const auto& value : from.value_info()) {
      if (!says_anything(value.type()) || inputs.count(value.name()) != 0) continue;
      if (!is_used(value.name())) continue;
      auto* copy = to.add_value_info();
      *copy = value;
      clean(*copy->mutable_type());
    }
  }

  // Below IR version 4 a subgraph's initializers stand for inputs that its caller leaves out.
  void copy_initializers(const GraphProto& from, GraphProto& to, bool main) {
    const bool all_needed = !main && ir_version_ < 4;
    std::unordered_multimap<std::string_view, onnx::ValueInfoProto*> declared;
    if (from.initializer_size() > 0) {
      for (auto* values : {to.mutable_input(), to.mutable_output(), to.mutable_value_info()})
        for (auto& value : *values) declared.emplace(value.name(), &value);
    }
    for (const TensorProto& tensor : from.initializer()) {
      const auto range = declared.equal_range(tensor.name());
      for (auto at = range.first; at != range.second; ++at)
        if (contradicts(at->second->type(), tensor)) at->second->clear_type();
      if (all_needed || !is_left_out(tensor)) {
        *to.add_initializer() = tensor;
        continue;
      }
      auto* value = to.add_value_info();
      value->set_name(tensor.name());
      *value->mutable_type() = type_of(tensor);
    }
    // Stored sparse, but dense where nodes take it: ONNX's inference has functions for tensors alone.
    for (const auto& sparse : from.sparse_initializer()) {
      auto* value = to.add_value_info();
      value->set_name(sparse.values().name());
      auto* type = value->mutable_type()->mutable_tensor_type();
      type->set_elem_type(sparse.values().data_type());
      for (const std::int64_t size : sparse.dims()) type->mutable_shape()->add_dim()->set_dim_value(size);
    }
  }

  bool replace_large_constant(const NodeProto& node, GraphProto& to) {
    if (node.op_type() != "Constant" || !onnx_io::canonical_domain(node.domain()).empty()) return false;
    if (node.output_size() != 1 || node.attribute_size() != 1) return false;
    const AttributeProto& value = node.attribute(0);
    if (value.name() != "value" || !value.has_t() || !is_left_out(value.t())) return false;
    auto* copy = to.add_value_info();
    copy->set_name(node.output(0));
    *copy->mutable_type() = type_of(value.t());
    return true;
  }

  void copy_attribute(const NodeProto& node, const AttributeProto& from, std::size_t index,
                      AttributeProto& to, const CheckScope& scope, const onnx_io::OpsetImports& imports) {
    if (!from.has_g() && from.graphs_size() == 0) {
      to = from;
      return;
    }
    to.set_name(from.name());
    to.set_type(from.type());
    CheckScope& inner = out_.scopes.emplace_back();
    inner.parent = &scope;
    inner.label = node_name(node.name(), node.op_type(), index) + "." + from.name();
    inner.holder = index;
    if (from.has_g()) copy_graph(from.g(), *to.mutable_g(), inner, imports);
    for (const GraphProto& graph : from.graphs()) copy_graph(graph, *to.add_graphs(), inner, imports);
  }

  InferenceModel& out_;
  const CheckReport& report_;
  const GraphProto& main_;
  const std::int64_t ir_version_;
  const bool keep_declared_;
  const ComputedProtos& computed_;
  const WrongDeclarations& wrong_;
  std::optional<std::unordered_set<std::string_view>> input_free_;  // of the main graph, once a layer asks
  bool is_main_ = true;  // else functions are copied, which come behind
  std::unordered_set<std::string> functions_;
  std::vector<Definitions> around_;   // graphs that are being copied, the main one or a function's body first
  std::vector<std::size_t> holders_;  // nodes whose subgraphs are being copied
};

}  // namespace

std::string InferenceNode::path() const {
  return scope->path() + "/" + node_name(original->name(), original->op_type(), index);
}

std::string InferenceNode::op() const {
  return op_label(onnx_io::canonical_domain(original->domain()), original->op_type(), since_version);
}

InferenceModel make_inference_model(const onnx::ModelProto& original, const CheckReport& report,
                                    bool keep_declared, const ComputedProtos& computed,
                                    const WrongDeclarations& wrong) {
  InferenceModel out;
  out.proto.set_ir_version(original.ir_version());
  onnx_io::OpsetImports imports = copy_imports(original.opset_import(), *out.proto.mutable_opset_import());
  if (original.opset_import_size() == 0) {
    imports[""] = 1;
    auto* import = out.proto.add_opset_import();
    import->set_domain("");
    import->set_version(1);
  }
  Copier copier(original, out, report, keep_declared, computed, wrong);
  out.scopes.emplace_back().label = "graph";
  copier.copy_graph(original.graph(), *out.proto.mutable_graph(), out.scopes.back(), imports);
  for (const onnx::FunctionProto& function : original.functions()) {
    auto* copy = out.proto.add_functions();
    copy->set_name(function.name());
    copy->set_domain(onnx_io::canonical_domain(function.domain()));
    copy->set_overload(function.overload());
    *copy->mutable_input() = function.input();
    *copy->mutable_output() = function.output();
    *copy->mutable_attribute() = function.attribute();
    *copy->mutable_attribute_proto() = function.attribute_proto();
    const onnx_io::OpsetImports own = copy_imports(function.opset_import(), *copy->mutable_opset_import());
    CheckScope& scope = out.scopes.emplace_back();
    scope.label =
        function_label(onnx_io::canonical_domain(function.domain()), function.name(), function.overload());
    copier.copy_function(function, *copy, scope, own);
  }
  return out;
}

std::optional<NodeMention> last_node_mention(std::string_view text, const InferenceModel& model) {
  const std::size_t end = text.rfind('\x03');
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.rfind('\x02', end);
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data() + begin + 1, text.data() + end, number);
  if (error != std::errc() || stop != text.data() + end || number >= model.nodes.size()) return std::nullopt;
  return NodeMention{number, end + 1};
}

}  // namespace grurun::opset
