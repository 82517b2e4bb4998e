// Models whose versions are for a check to judge.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "onnx_io/models/load_to_run.h"
#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// load_model, but no ir_version (0), one that is no version, one newer than the newest known here, and opset
/// versions below 1 are kept as they are, instead of refused. mended: what a run would mend is mended, and
/// told there; nullptr: nothing is.
Model load_model_for_check(const std::string& path, std::vector<Mended>* mended = nullptr);

/// The same of parse_model.
Model parse_model_for_check(const void* data, std::size_t size, const std::string& base_folder,
                            std::vector<Mended>* mended = nullptr);

}  // namespace grurun::onnx_io
