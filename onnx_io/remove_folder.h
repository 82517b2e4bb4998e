// Folders that others may have filled.
#pragma once

#include <chrono>
#include <string>

namespace grurun::onnx_io {

/// How long the removal of a scratch folder may take where nothing else bounds it.
inline constexpr std::chrono::seconds longest_removal{10};

/// Removes the folder with all that is in it, links and not what they lead to. What is still there at the
/// deadline stays. False where something is left. Memory does not grow with what the folder holds.
bool remove_folder(const std::string& folder, std::chrono::steady_clock::time_point deadline);
bool remove_folder(const std::string& folder);  // within longest_removal

}  // namespace grurun::onnx_io
