#include "onnx_io/folder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

KnownFolders* known = nullptr;

}  // namespace

KnownFolders::KnownFolders() {
  known = this;
}

KnownFolders::~KnownFolders() {
  known = nullptr;
}

const std::vector<FolderEntry>& KnownFolders::look_into(const std::string& folder) {
  static const std::vector<FolderEntry> nothing;
  int failure = 0;
  std::vector<FolderEntry> entries = entries_of(folder, &failure);
  return failure != 0 ? nothing : listings_.insert_or_assign(folder, std::move(entries)).first->second;
}

std::vector<FolderEntry> entries_of(const std::string& folder, int* failure, std::size_t most) {
  std::vector<FolderEntry> entries;
  if (known != nullptr) {
    if (const auto found = known->listings_.find(folder); found != known->listings_.end()) {
      if (failure != nullptr) *failure = 0;
      return found->second;
    }
  }
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> open(::opendir(folder.c_str()), close);
  int error = open == nullptr ? errno : 0;
  while (open != nullptr) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == most) {
      entries.clear();
      error = EOVERFLOW;
      if (failure == nullptr) fail_usage("{}: {}", folder, listing_failure(error));
      break;
    }
    bool is_link = entry->d_type == DT_LNK, is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat info {};
      const bool is_known = ::lstat((folder + "/" + entry->d_name).c_str(), &info) == 0;
      is_link = is_known && S_ISLNK(info.st_mode);
      is_folder = is_known && S_ISDIR(info.st_mode);
    }
    entries.push_back({std::string(name), is_link, is_folder});
  }
  if (failure != nullptr) *failure = error;
  return entries;
}

std::string listing_failure(int failure) {
  return failure == EOVERFLOW ? fmt::format("the folder holds more than {} entries", most_entries)
                              : std::strerror(failure);
}

void add_links_below(const std::string& folder, std::vector<std::string>& paths) {
  std::set<std::pair<dev_t, ino_t>> visited;
  std::vector<std::string> open{folder};
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    struct stat info {};
    if (::stat(at.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        !visited.emplace(info.st_dev, info.st_ino).second)
      continue;
    for (const FolderEntry& entry : entries_of(at)) {
      const std::string path = at + "/" + entry.name;
      if (entry.is_link) paths.push_back(path);
      if (entry.is_link || entry.is_folder) open.push_back(path);
    }
  }
}

}  // namespace grurun::onnx_io
