#include "opset/summary/model_flops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx_io/models/proto_convert.h"
#include "onnx_io/models/walk.h"
#include "opset/cells/loop_steps.h"
#include "opset/inference/check_limits.h"
#include "opset/inference/infer.h"
#include "opset/pages/graph_view.h"
#include "opset/summary/flops.h"
#include "opset/summary/inline_calls.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Graph;
using onnx_io::Node;
using Count = std::optional<std::int64_t>;
using Types = std::map<std::string, ValueType>;

// The size of the first scanned input; Scan-8, which has batches and lengths, is told by its attribute.
Count scan_steps(const Node& node, const Types& types) {
  const Attribute* scanned = node.find_attribute("num_scan_inputs");
  if (scanned == nullptr || scanned->i < 1 || static_cast<std::size_t>(scanned->i) > node.inputs.size() ||
      node.find_attribute("directions") != nullptr)
    return std::nullopt;
  const auto type = types.find(node.inputs[node.inputs.size() - static_cast<std::size_t>(scanned->i)]);
  if (type == types.end() || !type->second.shape) return std::nullopt;
  const Attribute* axes = node.find_attribute("scan_input_axes");
  const auto rank = static_cast<std::int64_t>(type->second.shape->size());
  std::int64_t axis = axes != nullptr && !axes->ints.empty() ? axes->ints[0] : 0;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return (*type->second.shape)[static_cast<std::size_t>(axis)].value;
}

class Counter {
 public:
  explicit Counter(const InferenceModel& inferred) : inferred_(&inferred) {}
  explicit Counter(Types types) : types_(std::move(types)) {}

  FlopCount count_all(const Graph& graph) {
    return count(graph, inferred_ == nullptr ? nullptr : &inferred_->proto.graph(), nullptr, 1);
  }

 private:
  // annotated: what inference made of the graph; nullptr where it did not run.
  FlopCount count(const Graph& graph, const onnx::GraphProto* annotated, const GraphView* outer,
                  Count steps) {
    const GraphView view(graph, outer);
    const Before before = enter(annotated);
    const std::vector<const onnx::NodeProto*> nodes = nodes_of(graph, annotated);
    FlopCount total;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (has_flops(node)) add(node, steps, total);
      if (onnx_io::has_body(node)) add_bodies(node, nodes[i], view, steps, total);
    }
    leave(before);
    return total;
  }

  // What the names of a graph's values meant outside of it.
  using Before = std::vector<std::pair<std::string, std::optional<ValueType>>>;

  Before enter(const onnx::GraphProto* annotated) {
    Before before;
    if (annotated == nullptr) return before;
    for (auto& [name, type] : graph_types(*annotated)) {
      const auto found = types_.find(name);
      before.emplace_back(name, found == types_.end() ? std::nullopt : std::optional(found->second));
      types_[name] = type;
    }
    return before;
  }

  void leave(const Before& before) {
    for (const auto& [name, type] : before) {
      if (type) {
        types_[name] = *type;
      } else {
        types_.erase(name);
      }
    }
  }

  // By the numbers of the nodes: inference has no node for a large constant.
  std::vector<const onnx::NodeProto*> nodes_of(const Graph& graph, const onnx::GraphProto* annotated) const {
    std::vector<const onnx::NodeProto*> nodes(graph.nodes.size(), nullptr);
    if (annotated == nullptr) return nodes;
    for (const onnx::NodeProto& node : annotated->node()) {
      const auto mention = last_node_mention(node.name(), *inferred_);
      if (mention) nodes[inferred_->nodes[mention->node].index] = &node;
    }
    return nodes;
  }

  void add(const Node& node, Count steps, FlopCount& total) const {
    const Count once = node_flops(node, types_);
    std::int64_t flops = 0;
    if (!once || !steps || __builtin_mul_overflow(*once, *steps, &flops) ||
        __builtin_add_overflow(total.flops, flops, &total.flops))
      ++total.uncounted[node.op_type];
  }

  void add_bodies(const Node& node, const onnx::NodeProto* annotated, const GraphView& view, Count steps,
                  FlopCount& total) {
    FlopCount most;
    const std::vector<const onnx::GraphProto*> inferred = bodies_of(annotated);
    std::size_t i = 0;
    onnx_io::for_each_body(node, [&](const Graph& graph, const Attribute&) {
      const onnx::GraphProto* inner = i < inferred.size() ? inferred[i] : nullptr;
      ++i;
      const FlopCount body = count(graph, inner, &view, times(steps, steps_of(node, graph, view)));
      most.flops = std::max(most.flops, body.flops);
      for (const auto& [op_type, nodes] : body.uncounted) total.uncounted[op_type] += nodes;
    });
    if (__builtin_add_overflow(total.flops, most.flops, &total.flops)) ++total.uncounted[node.op_type];
  }

  static std::vector<const onnx::GraphProto*> bodies_of(const onnx::NodeProto* node) {
    std::vector<const onnx::GraphProto*> bodies;
    if (node == nullptr) return bodies;
    for (const onnx::AttributeProto& attribute : node->attribute()) {
      if (attribute.has_g()) bodies.push_back(&attribute.g());
      for (const onnx::GraphProto& graph : attribute.graphs()) bodies.push_back(&graph);
    }
    return bodies;
  }

  static Count times(Count a, Count b) {
    std::int64_t product = 0;
    if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
    return product;
  }

  // How often a body runs when its node does.
  Count steps_of(const Node& node, const Graph& body, const GraphView& view) const {
    if (!node.domain.empty()) return std::nullopt;
    if (node.op_type == "If") return 1;
    if (node.op_type == "Scan") return scan_steps(node, types_);
    if (node.op_type == "Loop")
      return loop_steps({node, body, view, GraphView::of_loop(node, body, view)}).count();
    return std::nullopt;
  }

  const InferenceModel* inferred_ = nullptr;
  Types types_;  // of the graphs that are open
};

// Weights need not be copied to be inferred: their types will do.
void leave_out_weights(Graph& graph) {
  std::erase_if(graph.initializers, [&graph](const onnx_io::Initializer& initializer) {
    if (initializer.tensor.size() <= 1024) return false;
    graph.value_info.push_back(
        {initializer.name,
         ValueType::tensor(initializer.tensor.dtype(), symbolic_shape(initializer.tensor.shape()))});
    return true;
  });
}

// The model with its calls written out. What two functions import at different versions has the model's.
onnx::ModelProto proto_of(Graph graph, const onnx_io::Model& model) {
  leave_out_weights(graph);
  onnx_io::OpsetImports imports = model.opset_imports;
  for (const onnx_io::Function& function : model.functions)
    imports.insert(function.opset_imports.begin(), function.opset_imports.end());
  onnx::ModelProto proto;
  proto.set_ir_version(model.ir_version);
  *proto.mutable_graph() = onnx_io::graph_to_proto(graph);
  for (const auto& [domain, version] : imports) {
    auto* import = proto.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  return proto;
}

// What functions hold is named, then, as if each was called once.
FlopCount count_uninferred(const onnx_io::Model& model, const Types& types) {
  FlopCount total = Counter(types).count_all(model.graph);
  for (const onnx_io::Function& function : model.functions) {
    for (const Node& node : function.nodes) {
      if (has_flops(node)) ++total.uncounted[node.op_type];
    }
  }
  return total;
}

}  // namespace

FlopCount count_flops(const onnx_io::Model& model, const std::map<std::string, std::int64_t>& sizes,
                      const std::map<std::string, ValueType>& types) {
  const bool flat = model.functions.empty() && std::ranges::none_of(model.graph.nodes, onnx_io::has_body);
  CheckResult ignored;
  CheckReport report(ignored);
  const FunctionIndex functions(model.functions);
  if (flat || types.empty() || model.proto == nullptr ||
      !check_limits(model, functions, report).safe_to_infer)
    return count_uninferred(model, types);
  if (model.functions.empty()) {
    const Inference inference = infer_model(*model.proto, report, true, {}, sizes);
    return Counter(inference.model).count_all(model.graph);
  }
  const Graph graph = inline_calls(model, functions);
  const onnx::ModelProto proto = proto_of(graph, model);
  const Inference inference = infer_model(proto, report, true, {}, sizes);
  return Counter(inference.model).count_all(graph);
}

}  // namespace grurun::opset
