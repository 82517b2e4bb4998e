// Models into files.
#pragma once

#include <string>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// The bytes of a .onnx file: what the plain types hold, every weight inside, sparse ones dense. Throws
/// Error(unsupported) where they are more than protobuf's 2 GiB.
std::string model_bytes(const Model& model);

/// Writes them, as write_file (bytes.h) does, whose errors it throws.
void write_model(const std::string& path, const Model& model);

/// The same model as a file with these bytes is read: with Model::proto, which checks look into.
Model reread(const Model& model);

}  // namespace grurun::onnx_io
