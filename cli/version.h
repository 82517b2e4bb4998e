#pragma once

#include <string>

namespace grurun::cli {

/// "grurun 0.1.0"
std::string version_line();

/// The version, ONNX's, the newest opset of each domain, threads and instruction set: several lines.
std::string version_details();

}  // namespace grurun::cli
