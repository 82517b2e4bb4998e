// Bodies and functions as nodes of the main graph: the same computation for the same inputs, without nesting.
#pragma once

#include <cstddef>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

struct Flattened {
  onnx_io::Model model;
  std::size_t replaced = 0;  // nodes in whose place others stand
};

/// For these inputs: calls of the model's functions become the function's nodes, an If the branch that is
/// taken, a Loop and a Scan the steps that a run goes through, 256 and 5000 nodes at most. A value inside is
/// named as a run names it, "loop/3/h". What cannot be replaced stays.
Flattened without_bodies(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun);

}  // namespace grurun::trial
