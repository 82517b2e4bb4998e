// Models whose versions are for a check to judge.
#pragma once

#include <string>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// load_model, but no ir_version (0), one that is no version, one newer than the newest known here, and opset
/// versions below 1 are kept as they are, instead of refused.
Model load_model_for_check(const std::string& path);

/// The same of parse_model.
Model parse_model_for_check(const void* data, std::size_t size, const std::string& base_folder);

}  // namespace grurun::onnx_io
