// A folder that is there for as long as it is needed.
#pragma once

#include <chrono>
#include <string>

namespace grurun::onnx_io {

class ScratchFolder {
 public:
  /// Makes a folder of a new name below `parent`; empty: where temporary files go. Throws Error(usage) where
  /// none can be made.
  explicit ScratchFolder(const std::string& parent = "");
  /// Removes it with all that is in it, as far as that is done in longest_removal (remove_folder.h).
  ~ScratchFolder();

  /// Removes it now, and leaves what is still there at the deadline. False where something is.
  bool remove_by(std::chrono::steady_clock::time_point deadline);

  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace grurun::onnx_io
