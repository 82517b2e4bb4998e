#include "opset/summary/model_summary.h"

#include <string_view>
#include <unordered_map>

#include "onnx_io/models/walk.h"
#include "opset/findings/check_report.h"
#include "opset/findings/labels.h"
#include "opset/inference/check_limits.h"
#include "opset/inference/infer_types.h"
#include "opset/recurrent/recurrent_attributes.h"
#include "opset/recurrent/recurrent_schema.h"
#include "opset/recurrent/recurrent_shapes.h"
#include "opset/summary/inline_calls.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

class Summary {
 public:
  Summary(const onnx_io::Model& model, ModelSummary& out)
      : model_(model), functions_(model.functions), out_(out) {}

  void walk() {
    const CheckScope main = CheckScope::of_main_graph(model_);
    walk_graph(model_.graph, main);
    for (const Function& function : model_.functions) {
      const CheckScope scope = CheckScope::of_function(function);
      walk_nodes(function.nodes, scope);
    }
    for (const auto& [name, count] : counts_) out_.operators.push_back({name, count});
  }

 private:
  using Tensors = std::unordered_map<std::string_view, const Tensor*>;

  void walk_graph(const Graph& graph, const CheckScope& scope) {
    Tensors& tensors = constants_.emplace_back();
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      tensors.try_emplace(initializer.name, &initializer.tensor);
      out_.parameters.elements += initializer.tensor.size();
      out_.parameters.bytes += bytes_of(initializer.tensor);
      ++out_.parameters.tensors;
    }
    walk_nodes(graph.nodes, scope);
    constants_.pop_back();
  }

  static std::int64_t bytes_of(const Tensor& tensor) {
    return (tensor.size() * dtype_file_bits(tensor.dtype()) + 7) / 8;
  }

  void walk_nodes(const std::vector<Node>& nodes, const CheckScope& scope) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      const bool call = functions_.find(node) != nullptr;
      const auto import = scope.imports->find(node.domain);
      NodeAt at{scope, node, i};
      if (!call && import != scope.imports->end())
        at.since_version = since_version(node.op_type, node.domain, import->second);
      ++out_.nodes;
      ++counts_[at.op()];
      const RecurrentForm* form = find_layer_form(node.op_type, node.domain);
      if (form != nullptr && at.since_version) {
        const SchemaInfo* schema = node.domain.empty()
                                       ? find_recurrent_schema(*form, *at.since_version)
                                       : find_schema(node.op_type, node.domain, *at.since_version);
        out_.layers.push_back(describe(at, *form, *schema));
      }
      onnx_io::for_each_body(node, [&](const Graph& body, const onnx_io::Attribute& attribute) {
        walk_graph(body, CheckScope::of_subgraph(at, attribute.name));
      });
    }
  }

  RecurrentLayer describe(const NodeAt& at, const RecurrentForm& form, const SchemaInfo& schema) const {
    RecurrentFindings findings;
    const RecurrentAttributes attributes =
        read_recurrent_attributes(form, schema, at.node.attributes, findings);
    std::vector<RecurrentInputInfo> inputs;
    for (std::size_t i = 0; i < at.node.inputs.size() && i < schema.inputs.size() && i <= input_P; ++i) {
      inputs.push_back(info_of(at.node.inputs[i], at.scope));
    }
    const RecurrentSizes sizes = check_recurrent_shapes(form, attributes, inputs, findings);
    RecurrentLayer layer;
    layer.node = at.path();
    layer.op = at.op();
    layer.direction = attributes.direction.value_or("");
    layer.input_size = sizes.input_size.value;
    layer.hidden_size = sizes.hidden_size.value;
    layer.layout = attributes.layout;
    layer.activations = attributes.activations;
    layer.clip = attributes.clip;
    if (form.op_type == std::string_view("GRU")) layer.linear_before_reset = attributes.linear_before_reset;
    if (form.has_cell) layer.input_forget = attributes.input_forget;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i > input_R && inputs[i].given) layer.given.emplace_back(recurrent_input_name(i));
      const bool weight = i == input_W || i == input_R || i == input_B || i == input_P;
      if (weight && inputs[i].value != nullptr) layer.parameters += inputs[i].value->size();
    }
    for (std::size_t i = 0; i < at.node.outputs.size() && i < schema.outputs.size(); ++i) {
      if (!at.node.outputs[i].empty()) layer.outputs.emplace_back(recurrent_output_name(i));
    }
    return layer;
  }

  RecurrentInputInfo info_of(const std::string& name, const CheckScope& scope) const {
    RecurrentInputInfo info;
    info.given = !name.empty();
    if (scope.function != nullptr) return info;
    for (auto tensors = constants_.rbegin(); tensors != constants_.rend() && info.value == nullptr;
         ++tensors) {
      const auto found = tensors->find(name);
      if (found != tensors->end()) info.value = found->second;
    }
    if (info.value != nullptr) {
      info.shape = symbolic_shape(info.value->shape());
    } else if (const auto found = out_.types.find(name);
               scope.parent == nullptr && found != out_.types.end()) {
      info.shape = found->second.shape;
    }
    return info;
  }

  const onnx_io::Model& model_;
  const FunctionIndex functions_;
  ModelSummary& out_;
  std::map<std::string, std::size_t> counts_;
  std::vector<Tensors> constants_;  // of the graphs that are open, outermost first
};

}  // namespace

ModelSummary summarise(const onnx_io::Model& model, const std::map<std::string, std::int64_t>& sizes) {
  CheckResult limits;
  CheckReport report(limits);
  const FunctionIndex functions(model.functions);
  const Limits safe = check_limits(model, functions, report);
  if (!safe.safe_to_recurse) fail(ErrorKind::limit, "{}", limits.findings.front().message);
  ModelSummary summary;
  summary.types = infer_types(model, sizes);
  Summary(model, summary).walk();
  const bool calls = !model.functions.empty() && safe.safe_to_infer;
  summary.cells = find_cells(calls ? inline_calls(model, functions) : model.graph, summary.types);
  summary.flops = count_flops(model, sizes, summary.types);
  return summary;
}

}  // namespace grurun::opset
