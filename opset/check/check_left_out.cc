#include <fmt/format.h>

#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"

namespace grurun::opset {

void check_left_out(const onnx_io::Model& model, const std::map<std::string, ValueType>& inferred,
                    CheckReport& report) {
  for_each_node_at(model, [&](const NodeAt& at) {
    const onnx_io::Node& node = at.node;
    const bool in_main = at.scope.parent == nullptr && at.scope.function == nullptr;
    if (node.op_type != "STFT" || !node.domain.empty() || !in_main || node.inputs.empty()) return;
    const auto signal = inferred.find(node.inputs[0]);
    if (signal == inferred.end() || !signal->second.shape || signal->second.shape->size() != 2) return;
    report.add(Rule::axis_left_out, at,
               fmt::format("signal is {}, without a last axis; it is taken for real, as ONNX Runtime does. "
                           "The standard has [batch_size,signal_length,1]",
                           to_string(*signal->second.shape)));
  });
}

}  // namespace grurun::opset
