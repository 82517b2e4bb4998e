// Values that are the same whatever a graph is given.
#pragma once

#include <string_view>
#include <unordered_set>

#include "onnx/onnx_pb.h"

namespace grurun::opset {

/// Names of the graph's values that no element of an input reaches: they come of initializers and of nodes
/// without inputs, or of shapes, whose sizes may still follow the inputs'. Initializers that a caller may
/// override are none. The names live as long as the graph.
std::unordered_set<std::string_view> input_free_values(const onnx::GraphProto& graph,
                                                       std::int64_t ir_version);

}  // namespace grurun::opset
