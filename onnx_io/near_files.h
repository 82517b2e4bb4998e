// Files that a misspelt path may have meant.
#pragma once

#include <string>

namespace grurun::onnx_io {

/// "; did you mean 'folder/model.onnx'?": of the files and folders beside where `path` would be, or nothing.
std::string near_files(const std::string& path);

}  // namespace grurun::onnx_io
