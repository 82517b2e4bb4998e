// How much the steps of a run have to compute and to move, to be held against the time they take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/graph/executor.h"
#include "onnx_io/models/model.h"

namespace grurun::trial {

/// Of one run: of the steps of one operator together.
struct Work {
  double flops = 0;  // as opset::node_flops counts; 0 where it does not
  double bytes = 0;  // of the tensors that the steps read and write, each once for every step
};

/// By operator ("GRU-14"), for the steps of the main graph; what is inside bodies and functions is not
/// counted. Runs the plan of `model`, and one without fused steps, to see the shapes.
std::map<std::string, Work> work_by_operator(const onnx_io::Model& model, const engine::Plan& plan,
                                             const std::vector<Value>& inputs, engine::RunOptions options);

}  // namespace grurun::trial
