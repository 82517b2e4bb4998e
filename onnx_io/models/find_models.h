// Which files of a folder are models, going by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace grurun::onnx_io {

/// By its ending: .onnx, .onnxtxt, .onnxtext, .textproto, .pbtxt and .prototxt, compressed ones (.gz, .zst)
/// too. An OpenVINO IR is known by its .bin alone, which find_models looks for.
bool is_named_as_model(std::string_view name);

/// The models below a folder at any depth, sorted, as paths that begin with `folder`: files named as such,
/// and X.xml beside X.bin. Symbolic links are followed, and a folder is walked once; those of the system are
/// not (system_folders.h). Throws Error(usage) for a folder that cannot be read.
std::vector<std::string> find_models(const std::string& folder);

}  // namespace grurun::onnx_io
