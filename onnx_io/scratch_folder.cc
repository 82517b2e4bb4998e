#include "onnx_io/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

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

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace grurun::onnx_io
