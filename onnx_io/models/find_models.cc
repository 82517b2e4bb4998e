#include "onnx_io/models/find_models.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "onnx_io/folder.h"
#include "onnx_io/system_folders.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> model_endings = {".onnx",      ".onnxtxt", ".onnxtext",
                                                           ".textproto", ".pbtxt",   ".prototxt"};

using Visited = std::set<std::pair<dev_t, ino_t>>;

void walk_folder(const fs::path& folder, SystemFolders& system, Visited& visited,
                 std::vector<std::string>& found) {
  if (system.hold(folder.string())) return;
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && !visited.emplace(status.st_dev, status.st_ino).second) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    std::error_code unknown;
    if (entry->is_directory(unknown)) {
      walk_folder(path, system, visited, found);
    } else if (is_named_as_model(name) ||
               (name.ends_with(".xml") && fs::exists(fs::path(path).replace_extension(".bin"), unknown))) {
      if (found.size() == most_entries)
        fail(ErrorKind::limit, "{}: there are more than {} models below it", folder.string(), most_entries);
      found.push_back(path.string());
    }
  }
  if (error) fail_usage("{}: the folder cannot be read: {}", folder.string(), error.message());
}

}  // namespace

bool is_named_as_model(std::string_view name) {
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (name.ends_with(compressed)) name.remove_suffix(compressed.size());
  }
  return std::ranges::any_of(model_endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::vector<std::string> find_models(const std::string& folder) {
  Visited visited;
  std::vector<std::string> found;
  SystemFolders system;
  system.begin(folder);
  walk_folder(folder, system, visited, found);
  std::ranges::sort(found);
  return found;
}

}  // namespace grurun::onnx_io
