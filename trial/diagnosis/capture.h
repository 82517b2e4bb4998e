// Values inside a graph.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial::diagnosis {

using Values = std::unordered_map<std::string, Value>;

/// The values of these names of the main graph in a run of the model. Throws what a run throws.
Values capture(onnx_io::Model model, const std::vector<std::string>& names, std::vector<Value> inputs,
               const Rerun& rerun);

}  // namespace grurun::trial::diagnosis
