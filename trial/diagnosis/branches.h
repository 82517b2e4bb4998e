// Recurrent layers in branches of If.
#pragma once

#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial::diagnosis {

/// The model with its functions written out (with_calls_written_out), and the branch that a run on these
/// inputs takes in the place of each If of the main graph that has a recurrent node inside, or through which
/// an output comes; nodes there are named "if/node". A model that draws random numbers keeps its branches,
/// since the order of nodes decides which seed each has. Throws what a run throws.
onnx_io::Model written_out(const onnx_io::Model& model, const std::vector<Value>& inputs, const Rerun& rerun);

}  // namespace grurun::trial::diagnosis
