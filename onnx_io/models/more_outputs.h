// A model's file with more outputs, for runtimes that show nothing between the nodes.
#pragma once

#include <string>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// Writes the model of a file, .onnx in any of its forms, with these outputs behind its own to `to`. Weights
/// in the file are copied without being parsed, where it is no text and not compressed; external data stays
/// where it is, so that `to` must be in the model's folder then. An output of type ValueType::Kind::unknown
/// is written without a type. Throws Error(usage) for a file that cannot be written, Error(unsupported) for
/// an OpenVINO IR.
void write_with_outputs(const std::string& model, const std::vector<ValueInfo>& outputs,
                        const std::string& to);

}  // namespace grurun::onnx_io
