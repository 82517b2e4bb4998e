#include "cli/new_folder.h"

#include <filesystem>

#include "tensor/error.h"

namespace grurun::cli {

namespace fs = std::filesystem;

void require_new_folder(const std::string& flag, const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  if (!fs::is_directory(path, error)) fail_usage("{} {}: it is a file; name a folder", flag, path);
  if (!fs::is_empty(path, error)) fail_usage("{} {}: the folder is not empty; name a new one", flag, path);
}

}  // namespace grurun::cli
