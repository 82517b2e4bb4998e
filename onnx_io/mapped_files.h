// Files that are mapped, and may become shorter while they are read: the system then ends a process that
// touches what is gone (SIGBUS).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace grurun::onnx_io {

/// size bytes of an open file, read-only; nullptr where the file system cannot map it. What a file has lost
/// since reads as zeros, and require_whole_files() tells. A handler of SIGBUS is set at the first call; what
/// is no file of these goes to the handler that was there.
std::shared_ptr<const void> map_watched(int descriptor, std::size_t size, const std::string& name);

/// Throws Error(invalid_model), with the file's name, once a file was found shorter than it was mapped. To be
/// called when what was read of it has been used.
void require_whole_files();

/// What was not told yet is told no more: it is another case's.
void forget_shrunk_files();

}  // namespace grurun::onnx_io
