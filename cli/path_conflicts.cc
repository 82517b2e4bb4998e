#include "cli/path_conflicts.h"

#include <filesystem>
#include <string_view>

#include "tensor/error.h"

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

[[noreturn]] void fail_over(const NamedPath& written, const char* read) {
  fail_usage("{} {} would write over what {} reads; name another path", written.flag, written.path, read);
}

}  // namespace

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
  for (const NamedPath& to : written) {
    for (const NamedPath& from : read) {
      for (const std::string& path : possible_files(from.path)) {
        if (is_one_file(to.path) && is_one_file(path) && is_same_file(to.path, path))
          fail_over(to, from.flag);
      }
    }
  }
}

std::vector<NamedPath> files_of(const onnx_io::Model& model) {
  std::vector<NamedPath> files{{"the model", model.path}};
  for (const std::string& path : model.external_files) files.push_back({"the model", path});
  return files;
}

void require_unread_folder(const NamedPath& folder, const std::string& prefix,
                           const std::vector<NamedPath>& read) {
  std::error_code ignored;
  if (!fs::is_directory(folder.path, ignored)) return;
  for (const NamedPath& from : read) {
    for (const std::string& path : possible_files(from.path)) {
      const fs::path file(path);
      const bool is_in_it = is_numbered(file.filename().string(), prefix) && fs::exists(file, ignored) &&
                            is_same_file(fs::absolute(file).parent_path().string(), folder.path);
      if (is_in_it || (fs::is_directory(file, ignored) && is_same_file(path, folder.path)))
        fail_over(folder, from.flag);
    }
  }
}

bool is_numbered(const std::string& name, const std::string& prefix) {
  const std::string_view ending = name.ends_with(".npy") ? ".npy" : ".pb";
  if (!name.starts_with(prefix) || !name.ends_with(ending)) return false;
  const std::string_view number =
      std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - ending.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace grurun::cli
