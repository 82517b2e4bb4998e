// What reports and selections tell of a case's model.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"
#include "onnx_io/models/model.h"

namespace grurun::conformance {

/// Of the model, its bodies and functions, each once, sorted: "GRU", "ai.onnx.ml.Scaler".
std::vector<std::string> operators_of(const onnx_io::Model& model);

/// What it imports, by domain.
std::vector<OpsetImport> opsets_of(const onnx_io::Model& model);

}  // namespace grurun::conformance
