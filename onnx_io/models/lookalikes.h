// Files that are often taken for ONNX models.
#pragma once

#include <string_view>

namespace grurun::onnx_io {

/// What a file that begins so is, and what to do about it; nullptr where nothing is known. At least 512 bytes
/// of the beginning tell all of them apart.
const char* lookalike(std::string_view begin);

}  // namespace grurun::onnx_io
