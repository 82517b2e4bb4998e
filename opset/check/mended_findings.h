// What was mended in a model when it was read, as warnings.
#pragma once

#include <vector>

#include "onnx_io/models/load_to_run.h"
#include "opset/findings/finding.h"

namespace grurun::opset {

/// By the rules that the file breaks: they forbid it, but what runs is the mended model. Where forms are
/// refused (findings/form_watch.h), throws RuleError with the first.
std::vector<Finding> mended_findings(const std::vector<onnx_io::Mended>& mended);

}  // namespace grurun::opset
