#include "onnx_io/scratch_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "onnx_io/remove_folder.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& parent) {
  std::string path =
      ((parent.empty() ? fs::temp_directory_path() : fs::path(parent)) / "grurun-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr)
    fail_usage("{}: no folder can be made there: {}", path, std::strerror(errno));
  path_ = path;
}

bool ScratchFolder::remove_by(std::chrono::steady_clock::time_point deadline) {
  const std::string path = std::exchange(path_, "");
  return remove_folder(path, deadline);
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  remove_folder(path_);
}

}  // namespace grurun::onnx_io
