#include "onnx_io/remove_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

namespace grurun::onnx_io {

namespace {

struct Close {
  void operator()(DIR* open) const { ::closedir(open); }
};
using OpenFolder = std::unique_ptr<DIR, Close>;

// nullptr for what is no folder.
OpenFolder open_folder(int within, const char* name) {
  const int descriptor = ::openat(within, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  OpenFolder open(::fdopendir(descriptor));
  if (open == nullptr) ::close(descriptor);
  return open;
}

struct Level {
  OpenFolder open;
  std::string name;  // within the level before
};

}  // namespace

bool remove_folder(const std::string& folder, std::chrono::steady_clock::time_point deadline) {
  std::vector<Level> levels;
  levels.push_back({open_folder(AT_FDCWD, folder.c_str()), folder});
  if (levels.back().open == nullptr) return errno == ENOENT;
  bool is_gone = true;
  while (!levels.empty()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    const int within = ::dirfd(levels.back().open.get());
    if (const dirent* const entry = ::readdir(levels.back().open.get()); entry != nullptr) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || ::unlinkat(within, entry->d_name, 0) == 0) continue;
      if (OpenFolder inner = open_folder(within, entry->d_name))
        levels.push_back({std::move(inner), std::string(name)});
      else
        is_gone = false;
      continue;
    }
    const std::string name = std::move(levels.back().name);
    levels.pop_back();
    const int outer = levels.empty() ? AT_FDCWD : ::dirfd(levels.back().open.get());
    if (::unlinkat(outer, name.c_str(), AT_REMOVEDIR) != 0) is_gone = false;
  }
  return is_gone;
}

bool remove_folder(const std::string& folder) {
  return remove_folder(folder, std::chrono::steady_clock::now() + longest_removal);
}

}  // namespace grurun::onnx_io
