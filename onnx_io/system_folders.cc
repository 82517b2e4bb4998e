#include "onnx_io/system_folders.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

namespace fs = std::filesystem;

std::optional<dev_t> device_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_dev;
}

bool is_below(const fs::path& path, std::string_view folder) {
  const fs::path whole(folder);
  return std::ranges::mismatch(whole, path).in1 == whole.end();
}

bool leads_to_system(const std::string& path) {
  constexpr std::array<std::string_view, 3> of_system = {"/proc", "/sys", "/dev"};
  std::error_code error;
  const fs::path place = fs::canonical(path, error);
  if (error || is_below(place, "/dev/shm")) return false;
  return std::ranges::any_of(of_system, [&](std::string_view folder) { return is_below(place, folder); });
}

}  // namespace

SystemFolders::SystemFolders() {
  if (const auto root = device_of("/")) of_users_.insert(*root);
}

void SystemFolders::begin(const std::string& path) {
  if (hold(path)) fail_usage("{}: a folder of the system is not looked through", path);
}

bool SystemFolders::hold(const std::string& path) {
  const std::optional<dev_t> device = device_of(path);
  if (!device || of_users_.contains(*device)) return false;
  if (of_system_.contains(*device)) return true;
  const bool is_system = leads_to_system(path);
  (is_system ? of_system_ : of_users_).insert(*device);
  return is_system;
}

}  // namespace grurun::onnx_io
