// A folder that is there for as long as it is needed.
#pragma once

#include <string>

namespace grurun::onnx_io {

class ScratchFolder {
 public:
  /// Makes a folder of a new name below `parent`; empty: where temporary files go. Throws Error(usage) where
  /// none can be made.
  explicit ScratchFolder(const std::string& parent = "");
  /// Removes it with all that is in it.
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace grurun::onnx_io
