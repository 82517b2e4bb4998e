// Models that may be right, but are newer than what is known here.
#pragma once

#include "onnx_io/models/model.h"
#include "opset/findings/finding.h"

namespace grurun::opset {

/// Whether the finding says that ir_version or an opset of the model is newer than the newest known here: the
/// model is not supported, not invalid.
bool is_too_new(const Finding& finding, const onnx_io::Model& model);

}  // namespace grurun::opset
