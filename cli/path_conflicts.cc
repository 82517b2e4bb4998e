#include "cli/path_conflicts.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "onnx_io/folder.h"
#include "tensor/error.h"
#include "trial/data_set.h"
#include "trial/data_set_names.h"

namespace grurun::cli {
namespace {

namespace fs = std::filesystem;

bool is_one_file(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !path.empty() && path != "-" && (!fs::exists(status) || fs::is_regular_file(status));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  // What does not exist yet would be left relative.
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path), ignored);
  };
  return fs::equivalent(a, b, ignored) || whole(a) == whole(b);
}

/// An argument, and what it names if it is NAME=FILE, where either may hold '='.
std::vector<std::string> possible_files(const std::string& argument) {
  std::vector<std::string> out{argument};
  for (std::size_t at = argument.find('='); at != std::string::npos; at = argument.find('=', at + 1))
    out.push_back(argument.substr(at + 1));
  return out;
}

[[noreturn]] void fail_over(const NamedPath& written, const std::string& read) {
  fail_usage("{} {} would write over what {} reads; name another path", written.flag, written.path, read);
}

using FileId = std::pair<dev_t, ino_t>;

/// nullopt where there is no regular file.
std::optional<FileId> id_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

/// Calls body(path) for the files of a data set in the folder whose names begin so.
template <typename Body>
void each_numbered(const std::string& folder, std::string_view prefix, const Body& body) {
  for (const onnx_io::FolderEntry& entry : onnx_io::entries_of(folder))
    if (trial::file_number(entry.name, prefix)) body((fs::path(folder) / entry.name).string());
}

/// Every file that is read, by whatever name or link, and the flag that names it.
std::map<FileId, std::string> files_read(const std::vector<NamedPath>& read) {
  std::map<FileId, std::string> files;
  for (const NamedPath& from : read) {
    const auto add = [&](const std::string& path) {
      if (const std::optional<FileId> id = id_of(path)) files.emplace(*id, from.flag);
    };
    for (const std::string& path : possible_files(from.path)) {
      add(path);
      for (const trial::Side side : {trial::Side::input, trial::Side::output})
        each_numbered(path, trial::file_prefix(side), add);
    }
  }
  return files;
}

void require_not_among(const std::map<FileId, std::string>& read, const NamedPath& written,
                       const std::string& file) {
  const std::optional<FileId> id = id_of(file);
  if (!id) return;
  if (const auto found = read.find(*id); found != read.end()) fail_over(written, found->second);
}

}  // namespace

std::vector<std::string> paths_of(const std::vector<NamedPath>& named) {
  std::vector<std::string> paths;
  for (const NamedPath& each : named) paths.push_back(each.path);
  return paths;
}

void require_format(const char* flag, const std::string& path) {
  constexpr const char* formats = ".npz, .json, .pb and .npy";
  if (path == "-")
    fail_usage("{} takes a folder or a file ({}): standard output is for what is printed", flag, formats);
  std::error_code ignored;
  const fs::path name = fs::path(path).filename();
  if (!trial::names_folder(path) || !name.has_extension() || fs::is_directory(path, ignored)) return;
  fail_usage("{} {}: '{}' is no format of values ({} are); of a new folder write the name with '/' behind it",
             flag, path, name.extension().string(), formats);
}

void require_distinct(const std::vector<NamedPath>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_one_file(paths[i].path) || !is_one_file(paths[j].path)) continue;
      if (!is_same_file(paths[i].path, paths[j].path)) continue;
      fail_usage("{} and {} both write {}; give each a file of its own", paths[j].flag, paths[i].flag,
                 paths[i].path);
    }
  }
}

void require_unread(const std::vector<NamedPath>& written, const std::vector<NamedPath>& read) {
  const std::map<FileId, std::string> files = files_read(read);
  for (const NamedPath& to : written) require_not_among(files, to, to.path);
}

std::vector<NamedPath> files_of(const onnx_io::Model& model) {
  std::vector<NamedPath> files{{"the model", model.path}};
  for (const std::string& path : model.external_files) files.push_back({"the model", path});
  return files;
}

void require_unread_folder(const NamedPath& folder, trial::Side side, const std::vector<NamedPath>& read) {
  const std::map<FileId, std::string> files = files_read(read);
  each_numbered(folder.path, trial::file_prefix(side),
                [&](const std::string& path) { require_not_among(files, folder, path); });
}

}  // namespace grurun::cli
