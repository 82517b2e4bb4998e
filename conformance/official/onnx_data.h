// The program onnx_data.py, which the build puts into a source.
#pragma once

#include <string_view>

namespace grurun::conformance {

extern const std::string_view onnx_data_script;

}  // namespace grurun::conformance
