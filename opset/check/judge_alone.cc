#include "opset/check/judge_alone.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/onnx_pb.h"
#include "onnx_io/models/proto_convert.h"
#include "opset/findings/rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// No rule looks at more; of those, the shape is told.
constexpr std::size_t most_bytes = 1 << 20;

onnx_io::Model model_of(const onnx_io::Node& node, int since_version, const std::vector<KnownInput>& inputs) {
  onnx_io::Graph graph;
  graph.name = "alone";
  graph.nodes.push_back(node);
  onnx_io::Node& only = graph.nodes[0];
  for (std::size_t i = 0; i < only.inputs.size(); ++i) {
    if (only.inputs[i].empty()) continue;
    only.inputs[i] = fmt::format("input_{}", i);
    const KnownInput known = i < inputs.size() ? inputs[i] : KnownInput();
    const Value* value = known.value;
    if (value != nullptr && value->is_tensor() && value->tensor().byte_size() <= most_bytes)
      graph.initializers.push_back({only.inputs[i], value->tensor()});
    else
      graph.inputs.push_back({only.inputs[i], known.type});
  }
  for (std::size_t i = 0; i < only.outputs.size(); ++i) {
    if (only.outputs[i].empty()) continue;
    only.outputs[i] = fmt::format("output_{}", i);
    graph.outputs.push_back({only.outputs[i], {}});
  }
  auto proto = std::make_shared<onnx::ModelProto>();
  constexpr int initializers_are_no_inputs = 4;
  proto->set_ir_version(std::max<int>(initializers_are_no_inputs, onnx::IR_VERSION));
  onnx::OperatorSetIdProto& import = *proto->add_opset_import();
  import.set_domain(node.domain);
  import.set_version(since_version);
  *proto->mutable_graph() = onnx_io::graph_to_proto(graph);
  return onnx_io::model_from_proto(std::move(proto), nullptr, onnx_io::Versions::kept);
}

}  // namespace

std::optional<Finding> judge_alone(const onnx_io::Node& node, int since_version,
                                   const std::vector<KnownInput>& inputs) {
  const auto has_body = [](const onnx_io::Attribute& attribute) { return !attribute.graphs.empty(); };
  if (std::ranges::any_of(node.attributes, has_body)) return std::nullopt;
  try {
    for (Finding& finding : check_model(model_of(node, since_version, inputs)).findings) {
      // ONNX's checker wants types for the outputs.
      if (finding.severity == Severity::error && finding.code != rule_info(Rule::onnx_checker).code)
        return std::move(finding);
    }
  } catch (const Error&) {  // a value that no file can hold
  }
  return std::nullopt;
}

}  // namespace grurun::opset
